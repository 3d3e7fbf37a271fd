/* Starts and ends MPI for a program without mpi.h: see ndreduce/mpi.h. */
#include <stdbool.h>

#include "ndreduce/mpi.h"

static bool started; /* ndr_mpi_start has initialised MPI */

ndr_status ndr_mpi_start(ndr_comm **comm) {
  int initialized, level;
  if (!comm) return NDR_ERR_ARGUMENT;
  MPI_Initialized(&initialized);
  if (!initialized) {
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
  (void)comm; /* all processes must end, also those that are not its ranks */
  MPI_Abort(MPI_COMM_WORLD, code);
}
