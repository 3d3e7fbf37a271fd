/* The processes that an MPI launcher has started. Each of them reads the options, then starts MPI and opens the files;
 * one of them, rank 0, has the output and prints. MPI is loaded only under a launcher, so that the program runs without
 * MPI. */
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "h5gpured/ranks.h"
#include "ndreduce/comm.h"
#include "ndreduce/device.h"
#include "ndreduce/h5.h"

static ndr_comm *comm;              /* NULL: this process is alone */
static ndr_h5_structure *structure; /* of the files that ranks open */
static bool agreed;                 /* on how the program ends */
static char sentence[1024];         /* why this rank has failed */
static ndr_comm calls;              /* the comm as MPI's library has made it */
static void (*stop)(ndr_comm *);    /* ends MPI */
static void (*abort_all)(ndr_comm *, int code);

enum { TURN_SECONDS = 5, START_SECONDS = 600 };

/* ---- The launcher ------------------------------------------------------------------------------------------------ */

/* What the launcher says in the first of its variables that is set; `otherwise` where none is. */
static long launcher_number(const char *const *names, long otherwise) {
  for (; *names; names++) {
    const char *text = getenv(*names);
    if (text) return strtol(text, NULL, 10);
  }
  return otherwise;
}

static const char *mpi_library(void) {
  const char *library = getenv("NDREDUCE_MPI_LIBRARY");
  return library && *library ? library : NDREDUCE_MPI_SONAME;
}

/* How many processes the launcher has started, by the variables of Open MPI, of MPICH and its relatives, and of Slurm.
 * 1 where each is to do the whole. */
static int launched_processes(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", NULL};
  long count = strcasecmp(mpi_library(), "none") == 0 ? 1 : launcher_number(names, 1);
  return count > 1 && count <= INT_MAX ? (int)count : 1;
}

static bool is_first(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
  return launcher_number(names, 0) == 0;
}

void ranks_take_turn(void) {
  if (launched_processes() > 1 && !is_first()) sleep(TURN_SECONDS);
}

/* MPICH is slow to pass on what a process has just printed, and drops it when all are ended. */
static void let_be_printed(void) {
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
}

/* Open MPI's launcher ends all processes when one exits with another status than 0. Hydra, MPICH's, would let them wait
 * in MPI_Init for ever, but it takes orders on a socket: those of PMI 1. */
void ranks_exit(int code) {
  const char *hydra = launched_processes() > 1 ? getenv("PMI_FD") : NULL;
  char order[40];
  int length = snprintf(order, sizeof order, "cmd=abort exitcode=%d\n", code);
  if (hydra) {
    let_be_printed();
    send((int)strtol(hydra, NULL, 10), order, (size_t)length, MSG_NOSIGNAL);
  }
  exit(code);
}

/* ---- MPI --------------------------------------------------------------------------------------------------------- */

static void end_mpi(void) {
  ndr_h5_structure_destroy(structure);
  stop(comm);
}

/* A rank that can send or receive no more cannot even say so to the others. */
static ndr_status end_all(ndr_status status) {
  if (status == NDR_OK) return status;
  fprintf(stderr, "h5gpured: out of memory for messages (rank %d of %d)\n", comm->rank, comm->ranks);
  let_be_printed();
  abort_all(comm, EXIT_INPUT);
  return status;
}

static ndr_status send_message(void *user, int to, const void *bytes, size_t count) {
  return end_all(calls.send(user, to, bytes, count));
}

static ndr_status receive_message(void *user, int wait, int *from, void **bytes, size_t *count) {
  return end_all(calls.receive(user, wait, from, bytes, count));
}

__attribute__((noreturn)) static void refuse(const char *why, const char *advice) {
  ranks_take_turn();
  complain("one of %d processes of a launcher, but %s; %s", launched_processes(), why, advice);
  ranks_exit(EXIT_INPUT);
}

__attribute__((noreturn)) static void refuse_library(const char *why) {
  refuse(
      why,
      "NDREDUCE_MPI_LIBRARY names the libndreduce_mpi of another MPI, or none, for each process to do the whole job");
}

/* For the signals that come where MPI does not start. */
static volatile sig_atomic_t first; /* is_first() */

/* Handles SIGALRM. */
static void end_late(int signal_number) {
  static const char why[] = "h5gpured: MPI has not started in ten minutes: another process of the launcher may have "
                            "ended, or have another command line\n";
  (void)signal_number;
  if (!first) sleep(TURN_SECONDS);
  (void)!write(STDERR_FILENO, why, sizeof why - 1);
  _exit(EXIT_INPUT);
}

/* Handles SIGPIPE. */
static void end_hung_up(int signal_number) {
  static const char why[] =
      "h5gpured: MPI does not start, as the launcher has hung up: only one program that it starts "
      "can use MPI, not one after the other\n";
  (void)signal_number;
  if (first) (void)!write(STDERR_FILENO, why, sizeof why - 1);
  _exit(EXIT_INPUT);
}

/* MPI waits for all processes of the launcher, and for ever for one that has ended. MPICH writes to the launcher, which
 * has hung up where an earlier program of this process, as of a shell script, has ended MPI. */
static ndr_status start_in_time(ndr_status (*start)(ndr_comm **)) {
  first = is_first();
  signal(SIGALRM, end_late);
  void (*before)(int) = signal(SIGPIPE, end_hung_up);
  alarm(START_SECONDS);
  ndr_status status = start(&comm);
  alarm(0);
  signal(SIGPIPE, before);
  return status;
}

static void start_mpi(void) {
  void *mpi = dlopen(mpi_library(), RTLD_NOW | RTLD_GLOBAL);
  if (!mpi) refuse_library(dlerror());
  ndr_status (*start)(ndr_comm **);
  *(void **)&start = dlsym(mpi, "ndr_mpi_start");
  *(void **)&stop = dlsym(mpi, "ndr_mpi_stop");
  *(void **)&abort_all = dlsym(mpi, "ndr_mpi_abort");
  if (!start || !stop || !abort_all) refuse_library(dlerror());
  if (start_in_time(start) != NDR_OK) refuse_library("MPI does not start");
  calls = *comm;
  comm->send = send_message;
  comm->receive = receive_message;
  atexit(end_mpi);
  if (comm->ranks == 1)
    refuse_library("MPI knows of this one only: the launcher is of another MPI, or srun lacks --mpi=pmix");
}

/* Deals the GPUs of a machine to the processes that the launcher has started on it, ranks or not. What is wrong with
 * the GPUs, the reduction will say. */
static int dealt_device(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", NULL};
  long place = comm ? comm->node_rank : launcher_number(names, 0);
  int count = 0;
  if (place <= 0 || ndr_device_count(kDLCUDA, &count) != NDR_OK || count == 0) return 0;
  return (int)(place % count);
}

/* What each process does by itself, launcher or not. */
static bool is_for_one(const h5gpured_options *options) {
  return options->list || options->part_count || options->state_count;
}

void ranks_start(h5gpured_options *options) {
  if (launched_processes() > 1 && !is_for_one(options)) {
    if (options->scans) refuse("--scan is for one process, and ranks reduce", "start it without the launcher");
    start_mpi();
  }
  if (options->device_id == DEALT_DEVICE) options->device_id = dealt_device();
  if (comm) ndr_h5_structure_create(&structure, comm); /* share() says it if that fails */
  if (ranks_leads()) return;
  options->explain = options->progress = false;
  options->quiet = true;
}

bool ranks_leads(void) {
  return !comm || comm->rank == 0;
}

bool ranks_keep(const char *text) {
  if (ranks_leads()) return false;
  snprintf(sentence, sizeof sentence, "%s", text);
  return true;
}

ndr_comm *ranks_comm(void) {
  return comm;
}

ndr_h5_structure *ranks_structure(void) {
  return structure;
}

static bool share(void) {
  if (comm && !structure) complain("out of memory");
  return !comm || (structure && (ndr_h5_structure_share(structure) == NDR_OK || fail()));
}

bool ranks_send_structure(void) {
  return !ranks_leads() || share();
}

bool ranks_receive_structure(void) {
  return ranks_leads() || share();
}

bool ranks_agree(bool good) {
  if (!comm || comm->last != NDR_OK || agreed) return good;
  agreed = true;
  if (ndr_comm_agree(comm, good ? NDR_OK : NDR_ERR_FILE, sentence) == NDR_OK) return true;
  return ranks_leads() && good ? fail() : false;
}
