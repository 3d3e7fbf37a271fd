/* Cases through the emulated GPU: arrays in its memory, plans twisted so that small problems reach what large ones do,
 * results held against the oracle. */
#ifndef SIMT_DRIVE_H
#define SIMT_DRIVE_H

#include "core/plan.h"
#include "support/cases.h"

/* An array of the host and its copy in the emulated device's memory, `past` bytes beyond a 256-byte boundary. */
typedef struct device_array {
  test_array host;
  DLTensor tensor; /* in device memory, with host's shape and strides */
  void *memory;
} device_array;

/* The copy starts out as what is in host. device_free frees both. */
void device_array_of(device_array *made, int device, size_t past);
void device_fetch(device_array *array); /* device to host */
void device_free(device_array *array);

/* How to run a plan. */
typedef struct twist {
  int device;
  size_t past;    /* of the array */
  int splits;     /* splits to cut each output's reduction in, where the kernel can; 0: as planned */
  int turned;     /* ndr_params.turned, where the kernel has it; 0 or 1: as planned */
  uint64_t order; /* see launch.h */
} twist;

/* A random twist for arrays of dtype. */
twist random_twist(rng *random, ndr_dtype dtype);
void apply_twist(ndr_plan *plan, const twist *how);

/* Lets each call of the runtime fail in its turn, while `run` runs: nothing must be left then but the workspace that is
 * kept for the stream. Some of them must make it fail. */
void fail_every_call(ndr_status (*run)(void *user), void *user);

/* What the running case is, so that a sanitizer's last words name it too. */
void announce_case(const ndr_problem *problem, const char *family, const twist *how, uint64_t seed);
const char *announced_case(void);

#endif
