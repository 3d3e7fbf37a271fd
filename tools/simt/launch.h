/* Launches under emulation. A block's threads are fibres that run one at a time until they wait. Blocks run one after
 * the other, or a few of them in turns, each from a barrier to the next. So nothing happens at once, but everything may
 * happen in any order that barriers and shuffles allow. */
#ifndef SIMT_LAUNCH_H
#define SIMT_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simt_launch {
  void (*body)(const void *argument); /* what every thread runs */
  const void *argument;
  int64_t grid;  /* blocks */
  int threads;   /* a block */
  size_t shared; /* bytes of dynamic shared memory */
  void *statics; /* the module's static shared memory */
  size_t statics_bytes;
  uint64_t order; /* 0: blocks, warps and threads run in ascending order; else the seed of another one */
  bool early;     /* the launch may begin while what precedes it still runs, so that each thread calls simt_begin() */
  bool waiting;   /* blocks wait for those with smaller numbers, and so run in ascending order always */
  int resident;   /* if order is not 0: blocks that take turns, of SIMT_MOST_THREADS threads at most; 0: one */
  int abreast;    /* blocks that wait for each other, and so take turns whatever the order, of SIMT_MOST_LIVE threads at
                   * most; 0: see `resident` */
} simt_launch;

enum {
  SIMT_WARP = 32,
  SIMT_MOST_THREADS = 1024, /* of a block */
  SIMT_MOST_LIVE = 4096,    /* of all blocks that have begun */
  SIMT_POISON = 0xa5        /* each byte of shared memory before a block begins */
};

/* Returns NULL when every block has run, else what went wrong (static storage), where, and in which thread. Shared
 * memory is poisoned before each block. One launch at a time. */
const char *simt_run(const simt_launch *started);

/* Frees what launches have allocated. */
void simt_shut_down(void);

#ifdef __cplusplus
}
#endif
#endif
