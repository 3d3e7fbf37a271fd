/* Ranks: processes, on one machine or many, that do one piece of work together. The library knows them by a table of
 * two calls; ndreduce/mpi.h fills one in from an MPI communicator, and a program may fill in its own.
 *
 *   ndr_comm alone = NDR_COMM_INIT, *comm = &alone; // a comm of one rank
 *   float elements[2] = {1, 2}, sum = 0;             // this rank's two elements of [2 * ranks]
 *   int64_t size[] = {2}, offset[] = {2 * comm->rank};
 *   DLTensor part = ndr_tensor(elements, NDR_F32, 1, size), result = ndr_tensor(&sum, NDR_F32, 0, NULL);
 *   DLTensor *results[] = {&result};
 *   ndr_problem problem = NDR_PROBLEM_INIT; // all elements by NDR_SUM
 *   problem.dtype = NDR_F32, problem.ndim = 1, problem.shape[0] = 2 * comm->ranks;
 *   problem.dim_count = -1, problem.op_count = 1;
 *   ndr_status status = ndreduce_parts(comm, &problem, &part, offset, results, NULL);
 *   if (status != NDR_OK) puts(ndr_last_error());
 *   else if (comm->rank == 0) printf("%g\n", sum); // prints 3
 *
 * A call that takes a comm is collective: all ranks make it, and all make their calls in the same order. The text of a
 * call says which arguments may differ between ranks. A call that fails on one rank fails on all, and
 * ndr_last_error() has the same sentence everywhere. A comm serves one call at a time. */
#ifndef NDREDUCE_COMM_H
#define NDREDUCE_COMM_H

#include "ndreduce/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most bytes that one message has. */
enum { NDR_MESSAGE_BYTES = 16 << 20 };

/* `send` and `receive` are called by the thread that makes the collective call, never by two threads at once. If one
 * of them returns anything but NDR_OK, the call ends without using the comm again. */
typedef struct ndr_comm {
  size_t size;               /* sizeof(ndr_comm), as NDR_COMM_INIT sets it */
  int rank, ranks;           /* this process's number, from 0 on, and how many there are */
  int node_rank, node_ranks; /* the same among the processes that share this machine's cores; 0 of 1 where unknown */
  void *user;                /* passed to `send` and `receive` */
  /* Sends `count` bytes, which may be 0, to another rank. Does not wait until that rank receives them; afterwards the
   * bytes are the caller's again. */
  ndr_status (*send)(void *user, int to, const void *bytes, size_t count);
  /* Receives a message from rank *from, or from any rank if *from is -1. Messages of one rank come in the order in
   * which it sent them. *from becomes the sender, and *bytes the message, of *count bytes, to be freed with free(). If
   * no message has come, waits for one where `wait` is not 0; else *from becomes -1. */
  ndr_status (*receive)(void *user, int wait, int *from, void **bytes, size_t *count);
  /* The status on which all ranks agreed in the last collective call; the library sets it. A call that cannot begin
   * fails on this rank alone, and leaves it as it was. */
  ndr_status last;
} ndr_comm;
#define NDR_COMM_INIT                                                                                                  \
  { sizeof(ndr_comm), 0, 1, 0, 1, NULL, NULL, NULL, NDR_OK }

/* Agrees on a status: returns NDR_OK if `mine` is NDR_OK on all ranks. Else all ranks return the status of one that
 * failed, the lowest if several failed before they heard of each other, and ndr_last_error() has that rank's
 * `sentence`. Where `sentence` is NULL, it is what ndr_last_error() had on that rank.
 *
 * A rank that cannot make a collective call, because it lacks memory or a file, calls this in its place, with a status
 * other than NDR_OK. Then the call fails on the ranks that make it. */
NDR_API ndr_status ndr_comm_agree(ndr_comm *comm, ndr_status mine, const char *sentence);

/* Reduces an array that is held in parts, one on each rank.
 *   problem  of the whole array, the same on all ranks, without operands; its strides are not read
 *   part     this rank's part, on any device, with any strides; it may have no elements
 *   offset   where the part begins in the whole array: problem->ndim numbers
 *   results  on rank 0, on the device of its part: one for each of the problem's ops. Not read on other ranks
 *   options  threads, stream and the like, which may differ from rank to rank; NULL: defaults
 * Each element should be in one part. That is not checked: an element in two parts counts twice, an element in none
 * does not count. argmin and argmax give indices in the whole array.
 *
 * Partial states are merged in pairs of ranks, then pairs of pairs, in the order of the ranks. So the results' bits
 * depend on the parts and their number, but not on threads, nor on who is ready first. Each rank but 0 sends its states
 * once. They are one or a few words for each output, and each rank holds those of all outputs.
 *
 * Ranks may have parts on different GPUs, of one process (a thread for each) or of several, and on CPUs. States of GPUs
 * go from GPU to GPU within a process, and in messages between processes. Each rank's part is read on the stream of its
 * options, behind what is queued there; the stream must not be capturing. With a part on a GPU, rank 0's results are
 * written on its stream; all other work is done when the call returns.
 *
 * Fails as ndr_accumulator_create, ndr_accumulator_add and ndr_accumulator_finish do; with NDR_ERR_ARGUMENT where ranks
 * have different problems; with NDR_ERR_UNSUPPORTED for operands. A call that fails writes no results, unless a device
 * failed while it wrote them. */
NDR_API ndr_status ndreduce_parts(ndr_comm *comm, const ndr_problem *problem, const DLTensor *part,
                                  const int64_t *offset, DLTensor *const *results, const ndr_options *options);

#ifdef __cplusplus
}
#endif

#endif
