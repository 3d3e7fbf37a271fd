/* Ranks of MPI: libndreduce_mpi makes an ndr_comm (comm.h) of a communicator. It is a library of its own, as it is
 * bound to one MPI, and needs nothing of libndreduce.
 *
 *   ndr_comm *comm;
 *   MPI_Init(NULL, NULL);
 *   ndr_status status = ndr_mpi_comm(&comm, MPI_COMM_WORLD);
 *   if (status == NDR_OK && comm->rank == 0) printf("%d\n", comm->ranks); // prints 1
 *   ndr_mpi_comm_free(comm);
 *   MPI_Finalize();
 *
 * Errors of MPI end the program, as MPI's default MPI_ERRORS_ARE_FATAL has it: a message that was lost could not be
 * made good. Only memory that runs out is NDR_ERR_MEMORY. MPI must be initialised with MPI_THREAD_FUNNELED at least if
 * the program has threads of its own, and calls with a comm are then the main thread's. */
#ifndef NDREDUCE_MPI_H
#define NDREDUCE_MPI_H

#include "ndreduce/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- For programs that know no mpi.h ------------------------------------------------------------------------------
 *
 * With NDR_MPI_LOADED defined before this header it declares these three alone, and includes no mpi.h. A program may
 * then open the library by dlopen, for whichever MPI it is run under. */

/* Initialises MPI, if nobody has, and makes a comm of MPI_COMM_WORLD. On failure *comm is NULL. */
NDR_API ndr_status ndr_mpi_start(ndr_comm **comm);

/* Frees the comm, which may be NULL, and finalizes MPI if ndr_mpi_start has initialised it. Collective. */
NDR_API void ndr_mpi_stop(ndr_comm *comm);

/* Ends all ranks' processes at once, for a rank that cannot go on nor agree. Does not return. */
NDR_API void ndr_mpi_abort(ndr_comm *comm, int code);

/* ---- For programs of MPI ---------------------------------------------------------------------------------------- */

#ifndef NDR_MPI_LOADED
#ifdef __cplusplus
}
#endif
#include <mpi.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Makes a comm of the ranks of `communicator`, which it duplicates, so that messages of one are not taken for those of
 * the other. Collective. node_rank and node_ranks are of the processes that share memory. Free with ndr_mpi_comm_free.
 * On failure, NDR_ERR_MEMORY or NDR_ERR_ARGUMENT for null pointers, *comm is NULL. */
NDR_API ndr_status ndr_mpi_comm(ndr_comm **comm, MPI_Comm communicator);

/* Waits until what was sent has left, and frees the comm; NULL is allowed. Collective, before MPI_Finalize. */
NDR_API void ndr_mpi_comm_free(ndr_comm *comm);
#endif

#ifdef __cplusplus
}
#endif

#endif
