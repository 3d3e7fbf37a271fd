/* A program that knows no mpi.h opens libndreduce_mpi at run time: loaded LIBRARY RANKS [abort]. Run by run.sh. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NDR_MPI_LOADED
#include "ndreduce/mpi.h"

static void load(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
}

int main(int argc, char **argv) {
  ndr_status (*start)(ndr_comm **) = NULL;
  void (*stop)(ndr_comm *) = NULL, (*end_all)(ndr_comm *, int) = NULL;
  ndr_comm *comm;
  void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (library) {
    load(library, "ndr_mpi_start", &start);
    load(library, "ndr_mpi_stop", &stop);
    load(library, "ndr_mpi_abort", &end_all);
  }
  if (!start || !stop || !end_all) {
    fprintf(stderr, "%s is not libndreduce_mpi: %s\n", argc > 1 ? argv[1] : "?", dlerror());
    return 1;
  }
  if (start(NULL) != NDR_ERR_ARGUMENT || start(&comm) != NDR_OK || comm->ranks != (int)strtol(argv[2], NULL, 10))
    return 1;
  ndr_status mine = comm->rank == comm->ranks - 1 ? NDR_ERR_FILE : NDR_OK;
  if (ndr_comm_agree(comm, mine, "no file") != NDR_ERR_FILE || ndr_comm_agree(comm, NDR_OK, NULL) != NDR_OK) return 1;
  if (argc > 3 && comm->rank == comm->ranks - 1) end_all(comm, 7);
  if (argc > 3) sleep(300);
  stop(comm);
  return 0;
}
