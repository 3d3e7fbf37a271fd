/* Ranks of MPI: libndreduce_mpi makes an ndr_comm (comm.h) of a communicator. It is a library of its own because it is
 * bound to one MPI. It links nothing of libndreduce.
 *
 *   ndr_comm *comm;
 *   MPI_Init(NULL, NULL);
 *   ndr_status status = ndr_mpi_comm(&comm, MPI_COMM_WORLD);
 *   if (status == NDR_OK && comm->rank == 0) printf("%d\n", comm->ranks); // prints 1
 *   ndr_mpi_comm_free(comm);
 *   MPI_Finalize();
 *
 *   $ mpicc program.c $(pkg-config --cflags --libs ndreduce_mpi) && mpirun -n 4 ./a.out
 *
 * The library and the program must be of the same MPI: one of another is linked all the same, and fails when it runs.
 *
 * Errors of MPI end the program (MPI_ERRORS_ARE_FATAL), because nothing can replace a lost message. Only memory that
 * runs out is reported, by NDR_ERR_MEMORY. A program with threads of its own initialises MPI with MPI_THREAD_FUNNELED
 * at least, and makes all calls with a comm in its main thread. */
#ifndef NDREDUCE_MPI_H
#define NDREDUCE_MPI_H

#include "ndreduce/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- For programs that know no mpi.h ------------------------------------------------------------------------------
 *
 * If NDR_MPI_LOADED is defined before this header, it declares only these three, and includes no mpi.h. The program can
 * then open the library of the MPI that it is run under by dlopen. */

/* Initialises MPI unless that has been done, and makes a comm of MPI_COMM_WORLD. Collective. On failure *comm is NULL.
 */
NDR_API ndr_status ndr_mpi_start(ndr_comm **comm);

/* Frees the comm, which may be NULL, and finalizes MPI if ndr_mpi_start initialised it. Collective. */
NDR_API void ndr_mpi_stop(ndr_comm *comm);

/* Ends the processes of MPI_COMM_WORLD at once, for a rank that can neither go on nor agree. Does not return. */
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

/* Makes a comm of the ranks of `communicator`. The comm has a duplicate of it, so that their messages are not confused.
 * node_rank and node_ranks count the processes that share memory. Collective. Free with ndr_mpi_comm_free. Fails with
 * NDR_ERR_MEMORY on all ranks, or with NDR_ERR_ARGUMENT on this one for a null pointer or MPI_COMM_NULL; then *comm is
 * NULL. */
NDR_API ndr_status ndr_mpi_comm(ndr_comm **comm, MPI_Comm communicator);

/* Waits until what was sent has left, and frees the comm; NULL is allowed. Collective, before MPI_Finalize. */
NDR_API void ndr_mpi_comm_free(ndr_comm *comm);
#endif

#ifdef __cplusplus
}
#endif

#endif
