/* Ranks: processes, on one machine or many, that do one piece of work together. The library knows them by a table of
 * two calls; ndreduce/mpi.h fills one in from an MPI communicator, and a program may fill in its own.
 *
 *   ndr_comm alone = NDR_COMM_INIT, *comm = &alone; // a comm of one rank
 *   float elements[2] = {1, 2}, sum = 0;             // each rank has two elements of twice as many as there are ranks
 *   int64_t size[] = {2}, offset[] = {2 * comm->rank};
 *   DLTensor part = ndr_tensor(elements, NDR_F32, 1, size), result = ndr_tensor(&sum, NDR_F32, 0, NULL);
 *   DLTensor *results[] = {&result};
 *   ndr_problem problem = NDR_PROBLEM_INIT; // all dims of [2 * ranks] by NDR_SUM
 *   problem.dtype = NDR_F32, problem.ndim = 1, problem.shape[0] = 2 * comm->ranks;
 *   problem.dim_count = -1, problem.op_count = 1;
 *   ndr_status status = ndreduce_parts(comm, &problem, &part, offset, results, NULL);
 *   if (status != NDR_OK) puts(ndr_last_error());
 *   else if (comm->rank == 0) printf("%g\n", sum); // prints 3
 *
 * A call that takes a comm is collective: all ranks make it, in the same order, with the same arguments but for what
 * its text says. It fails on all ranks if it fails on one, and ndr_last_error() has the same sentence everywhere. A
 * comm serves one call at a time. */
#ifndef NDREDUCE_COMM_H
#define NDREDUCE_COMM_H

#include "ndreduce/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is sent at once: at most so many bytes. */
enum { NDR_MESSAGE_BYTES = 16 << 20 };

/* Both functions are called in the thread that makes the collective call, and not from several at once. They return
 * NDR_OK or another status, after which the comm is not used any more. */
typedef struct ndr_comm {
  size_t size;               /* sizeof(ndr_comm), as NDR_COMM_INIT sets it */
  int rank, ranks;           /* of this process, from 0 on, and of how many */
  int node_rank, node_ranks; /* the same among the processes that share this machine's cores; 0 of 1 where unknown */
  void *user;                /* passed to both */
  /* Sends `count` bytes, which may be 0, to another rank. Does not wait until that rank receives them; afterwards the
   * bytes are the caller's again. */
  ndr_status (*send)(void *user, int to, const void *bytes, size_t count);
  /* Receives a message from rank *from, or from any rank where that is -1; those from one rank come in the order in
   * which they were sent. *from becomes the rank that it is from, and *bytes its `*count` bytes, to be freed with
   * free(). Where there is none: under `wait` waits for one, else *from becomes -1. */
  ndr_status (*receive)(void *user, int wait, int *from, void **bytes, size_t *count);
  /* What the last collective call came to, on all ranks; the library sets it. A call that fails without having begun,
   * on this rank alone, leaves it as it was. */
  ndr_status last;
} ndr_comm;
#define NDR_COMM_INIT                                                                                                  \
  { sizeof(ndr_comm), 0, 1, 0, 1, NULL, NULL, NULL, NDR_OK }

/* Agrees on a status: returns NDR_OK if `mine` is that on all ranks. Else all ranks fail as one that failed did, the
 * lowest if several had failed by then, with its sentence: `sentence`, or, where that is NULL, its ndr_last_error().
 *
 * A rank that cannot make a collective call which the others make, as it has no memory or no file, calls this in its
 * place, with a status other than NDR_OK: then that call fails everywhere. */
NDR_API ndr_status ndr_comm_agree(ndr_comm *comm, ndr_status mine, const char *sentence);

/* Reduces an array of which each rank holds a part.
 *   problem  of the whole array, the same on all ranks; its strides do not count. It has no operands
 *   part     this rank's part, on any device, with any strides; it may have no elements
 *   offset   where the part begins in the whole array: problem->ndim numbers
 *   results  on rank 0, on the device of its part: one for each of the problem's ops. Not read on other ranks
 *   options  threads, stream and the like, which may differ from rank to rank; NULL: defaults
 * Each element should be in one part, which is not checked: one that is in two counts twice, one in none not at all.
 * argmin and argmax give indices in the whole array.
 *
 * Partial states are merged in pairs of ranks, then pairs of pairs, in their order. So bits depend on the parts and
 * their number, and not on threads, nor on who is ready first. Each rank but 0 sends its states once: one or a few
 * words for each output; each holds those of all outputs. With parts on a GPU, results are written on the stream of
 * rank 0's options, and all else is done when the call returns.
 *
 * Fails as ndr_accumulator_create, ndr_accumulator_add and ndr_accumulator_finish do, where a problem is not that of
 * the other ranks with NDR_ERR_ARGUMENT, and with NDR_ERR_UNSUPPORTED for operands. Then results are not written,
 * unless it was a device that failed. */
NDR_API ndr_status ndreduce_parts(ndr_comm *comm, const ndr_problem *problem, const DLTensor *part,
                                  const int64_t *offset, DLTensor *const *results, const ndr_options *options);

#ifdef __cplusplus
}
#endif

#endif
