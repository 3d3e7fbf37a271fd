/* Choices that were timed. The process remembers them by problem and device.
 *
 * The key is text. It has the problem in canonical form, without members that do not change its speed (the layout of
 * results, the index of argmin and argmax, ddof), and then the numbers of the device that planning depends on:
 *
 *   sum f32 [16384,16384] /1 on cuda 132 SMs sm_90
 *   mean,var f64 [100000,8] /0 skipnan on cpu 16 threads */
#ifndef NDR_CORE_MEASUREMENTS_H
#define NDR_CORE_MEASUREMENTS_H

#include "core/plan.h"

/* The most choices that are remembered; a new one replaces the oldest. */
#define NDR_MOST_MEASUREMENTS 1024
/* Room for any key of built-in operators: 20 of them, 32 axes of two 63-bit numbers and one for each operand, a device;
 * and for all but very long operators of one's own. */
#define NDR_MEASUREMENT_KEY 8192

typedef struct ndr_measurement {
  const ndr_backend *backend;
  ndr_timings timings;
  uint64_t hash;
  char key[];
} ndr_measurement;

/* Writes the key of a plan's problem, device and threads; key has room for NDR_MEASUREMENT_KEY bytes. False: the
 * problem is not remembered, as an operator uses indices, which the canonical form does not keep, has been destroyed or
 * is too long. */
bool ndr_measurement_key(const ndr_plan *plan, char *key);

/* A copy of key and timings, to be remembered or freed; NULL when memory is short. */
ndr_measurement *ndr_measurement_make(const char *key, const ndr_backend *backend, const ndr_timings *timings);

/* Remembers the measurements and becomes their owner. Other threads see all of them or none; a later one replaces an
 * earlier one of the same key. */
void ndr_measurements_remember(int given, ndr_measurement *const *measurements);

/* Sets *timings to what is remembered for the plan's key. Returns false if nothing is, or if the remembered family
 * cannot run the plan's problem. */
bool ndr_measurements_recall(const ndr_plan *plan, ndr_timings *timings);

void ndr_measurements_drop_all(void);

/* Visits all, oldest first, while no other thread changes them. */
void ndr_measurements_visit(void (*visit)(const ndr_measurement *measurement, void *context), void *context);

/* A number that grows whenever a recalled choice may have changed. Plans made under another number may be stale. */
unsigned ndr_measurements_generation(void);

#endif
