/* Starts and ends MPI for a program that does not know it: see ndreduce/mpi.h. */
#include <stdbool.h>

#include "ndreduce/mpi.h"

static bool started; /* by us */

ndr_status ndr_mpi_start(ndr_comm **comm) {
  int is, level;
  if (!comm) return NDR_ERR_ARGUMENT;
  MPI_Initialized(&is);
  if (!is) {
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    started = true;
  }
  return ndr_mpi_comm(comm, MPI_COMM_WORLD);
}

void ndr_mpi_stop(ndr_comm *comm) {
  ndr_mpi_comm_free(comm);
  if (started) MPI_Finalize();
  started = false;
}

void ndr_mpi_abort(ndr_comm *comm, int code) {
  (void)comm; /* its ranks may be some of the world's, which all have to end */
  MPI_Abort(MPI_COMM_WORLD, code);
}
