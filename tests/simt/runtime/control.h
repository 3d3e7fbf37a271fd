/* What tests may set in, and read from, the emulated CUDA runtime. */
#ifndef SIMT_CONTROL_H
#define SIMT_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum { SIMT_DEVICES = 3 };

typedef struct simt_control {
  uint64_t order;      /* of blocks, warps and threads: see launch.h */
  bool driver;         /* false: there is none */
  bool capturing;      /* what streams answer when asked; work is done at once all the same */
  int64_t memory_left; /* allocations that still succeed; -1: all */
  int64_t launches;    /* so far */
} simt_control;

extern simt_control simt_controls;

#endif
