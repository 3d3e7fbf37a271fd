/* What kernels under emulation see of their block. See launch.h for starting them. */
#ifndef SIMT_MACHINE_H
#define SIMT_MACHINE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simt_place {
  int thread, threads;
  long long block, blocks;
  unsigned char *shared; /* the launch's dynamic shared memory */
  int warp;              /* number of the thread's warp among those of all blocks that take turns */
} simt_place;

/* Of the thread that is running now. */
extern const simt_place *simt_here;

/* The calling thread has waited for what runs before its launch (simt_launch.early). */
void simt_begin(void);

/* Wait until every thread of the block, or of the warp, calls it from the same place in the text; anything else fails
 * the launch. */
void simt_barrier(const char *file, int line);
void simt_barrier_of(int count, const char *file, int line); /* of the block's first `count` threads */
unsigned simt_shuffle_xor(unsigned value, int mask, const char *file, int line);
unsigned simt_shuffle_from(unsigned value, int lane_number, const char *file, int line);

/* Lets other blocks go on, for which the calling thread waits. Fails the launch where they all wait, too. */
void simt_pause(const char *file, int line);

/* Fails the launch; the calling thread does not go on. */
__attribute__((noreturn)) void simt_fail(const char *file, int line, const char *reason);

#ifdef __cplusplus
}
#endif
#endif
