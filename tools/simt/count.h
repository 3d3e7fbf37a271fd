/* Facts about a launch under emulation that time on a GPU follows from, counted.
 *
 * What a warp does at once cannot be seen, as its threads run one after the other. But between two places where they
 * wait for each other (a barrier, a shuffle, the end) each thread passes the places of the text that touch memory or
 * branch in its own order; the k-th time that each of the 32 passes one is taken for one instruction of the warp. That
 * is exact while the threads pass each place equally often, or some stop earlier, as in all loops that the ladder has.
 *
 * Of an access to global memory the 32-byte sectors and 128-byte lines that its lanes touch are counted, as sent to the
 * caches: that a line is still there from before is not known. Shared memory has 32 banks of 4-byte words; lanes that
 * touch different words of one bank go one after the other, and each turn beyond the first is a conflict. Accesses of 8
 * bytes a lane are made by half a warp at a time, of 16 by a quarter. A branch is divergent if some lanes take it and
 * some do not. Atomics are counted by lane and not as accesses. */
#ifndef SIMT_COUNT_H
#define SIMT_COUNT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simt_counts {
  long long launches, blocks;
  long long accesses, sectors, lines, bytes; /* of global memory: instructions of warps; what lanes asked for */
  long long shared_accesses, conflicts;      /* of shared memory, likewise */
  long long branches, divergent;             /* of warps, likewise */
  long long barriers;                        /* of blocks */
  long long shuffles;                        /* of warps: shuffles and warp barriers */
  long long global_atomics, shared_atomics;  /* of threads */
} simt_counts;

typedef enum simt_event {
  SIMT_GLOBAL_LOAD,
  SIMT_GLOBAL_STORE,
  SIMT_SHARED_LOAD,
  SIMT_SHARED_STORE,
  SIMT_BRANCH
} simt_event;

/* Everything counted from here on, for the launches that follow, goes to *to; NULL: nothing is. */
void simt_count_into(simt_counts *to);

/* Before and after a launch of so many blocks; false: memory ran out during it. */
void simt_count_launch(long long blocks);
bool simt_count_landed(void);

/* On a thread: it touches memory (bytes at an address), or branches (bytes is 1 if taken, 0 if not). */
void simt_count_event(simt_event kind, const void *address, size_t bytes, const char *file, int line);
void simt_count_atomic(bool shared);

/* On a thread: before it waits at a barrier or for its warp, and before it ends. */
typedef enum simt_wait { SIMT_BARRIER, SIMT_WARP_WAIT, SIMT_END } simt_wait;
void simt_count_wait(simt_wait wait);

#ifdef __cplusplus
}
#endif
#endif
