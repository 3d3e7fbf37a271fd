/* Choices that were timed, remembered for the process under the problem and the device that they were timed on.
 *
 * The key is text: the problem in canonical form, without what does not change its speed (how results are laid out, the
 * index that arg* counts in, ddof), then the device in the numbers that planning depends on:
 *
 *   sum f32 [16384,16384] /1 on cuda 132 SMs sm_90
 *   mean,var f64 [100000,8] /0 skipnan on cpu 16 threads */
#ifndef NDR_CORE_MEASUREMENTS_H
#define NDR_CORE_MEASUREMENTS_H

#include "core/plan.h"

/* The most that are remembered; the oldest gives way. */
#define NDR_MOST_MEASUREMENTS 1024
/* Room for any key: 20 operators, 32 axes of two 63-bit numbers, a device. */
#define NDR_MEASUREMENT_KEY 2048

typedef struct ndr_measurement {
  const ndr_backend *backend;
  ndr_timings timings;
  uint64_t hash;
  char key[];
} ndr_measurement;

/* The key of a plan's problem, device and threads; key has room for NDR_MEASUREMENT_KEY bytes. */
void ndr_measurement_key(const ndr_plan *plan, char *key);

/* A copy of key and timings, to be remembered or freed; NULL when memory is short. */
ndr_measurement *ndr_measurement_make(const char *key, const ndr_backend *backend, const ndr_timings *timings);

/* Takes the measurements over, all or none of them visible to other threads; later ones replace earlier ones. */
void ndr_measurements_remember(int given, ndr_measurement *const *measurements);

/* What is remembered for the plan's key; false if nothing is, or the family cannot run this very problem. */
bool ndr_measurements_recall(const ndr_plan *plan, ndr_timings *timings);

void ndr_measurements_drop_all(void);

/* Visits all, oldest first, while no other thread changes them. */
void ndr_measurements_visit(void (*visit)(const ndr_measurement *measurement, void *context), void *context);

/* Grows whenever what would be recalled may have changed: plans made under another number may be out of date. */
unsigned ndr_measurements_generation(void);

#endif
