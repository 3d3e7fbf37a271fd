/* The processes that an MPI launcher has started. Each of them reads the options and opens the files; one of them, rank
 * 0, has the output and prints. MPI is loaded only under a launcher, so that the program runs without MPI. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "h5gpured/h5gpured.h"
#include "ndreduce/comm.h"
#include "ndreduce/device.h"

static ndr_comm *comm;           /* NULL: this process is alone */
static bool agreed;              /* on how the program ends */
static int kept_stderr = -1;     /* while stderr is closed */
static char sentence[1024];      /* why this rank has failed */
static ndr_comm calls;           /* the comm as MPI's library has made it */
static void (*stop)(ndr_comm *); /* ends MPI */
static void (*abort_all)(ndr_comm *, int code);

/* What the launcher says in the first of its variables that is set; `otherwise` where none is. */
static long launcher_number(const char *const *names, long otherwise) {
  for (; *names; names++) {
    const char *text = getenv(*names);
    if (text) return strtol(text, NULL, 10);
  }
  return otherwise;
}

/* How many processes the launcher has started, by the variables of Open MPI, of MPICH and its relatives, and of Slurm.
 */
static int launched_processes(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", NULL};
  long count = launcher_number(names, 1);
  return count > 1 && count <= INT_MAX ? (int)count : 1;
}

/* Who ends before it has agreed, as with a wrong command line, tells those who wait for it. */
static void end_mpi(void) {
  const char *why = *sentence ? sentence : "has ended before the others: its command line may be another one";
  if (!agreed && comm->last == NDR_OK) (void)ndr_comm_agree(comm, NDR_ERR_ARGUMENT, why);
  stop(comm);
}

static void to_null(int descriptor) {
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC); // NOLINT(cppcoreguidelines-pro-type-vararg): how POSIX has it
  if (null >= 0) dup2(null, descriptor);
  if (null >= 0) close(null);
}

/* Mistakes in the options are the same on all ranks, so only rank 0 prints them. */
static void be_silent(void) {
  to_null(STDOUT_FILENO);
  kept_stderr = dup(STDERR_FILENO);
  if (kept_stderr >= 0) to_null(STDERR_FILENO);
}

static void speak(void) {
  if (kept_stderr < 0) return;
  dup2(kept_stderr, STDERR_FILENO);
  close(kept_stderr);
  kept_stderr = -1;
}

/* A rank that can send or receive no more cannot even say so to the others. */
static ndr_status end_all(ndr_status status) {
  if (status == NDR_OK) return status;
  speak();
  fprintf(stderr, "h5gpured: out of memory for messages (rank %d of %d)\n", comm->rank, comm->ranks);
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL); /* MPICH may drop what a rank says just before */
  abort_all(comm, EXIT_INPUT);
  return status;
}

static ndr_status send_message(void *user, int to, const void *bytes, size_t count) {
  return end_all(calls.send(user, to, bytes, count));
}

static ndr_status receive_message(void *user, int wait, int *from, void **bytes, size_t *count) {
  return end_all(calls.receive(user, wait, from, bytes, count));
}

/* Without MPI, too, one process is the first, as the launcher has it. */
static bool is_first(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
  return launcher_number(names, 0) == 0;
}

static void refuse(int count, const char *why) {
  if (is_first())
    complain(
        "one of %d processes of a launcher, but %s; NDREDUCE_MPI_LIBRARY names the libndreduce_mpi of another MPI, "
        "or none, for each process to do the whole",
        count, why);
  exit(EXIT_INPUT);
}

/* What each process does by itself, launcher or not. */
static bool is_for_one(int argc, char **argv) {
  static const char *const words[] = {"--part", "--merge", "--list", "--help", "--version"};
  for (int i = 1; i < argc; i++)
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
      size_t length = strlen(words[w]);
      if (strncmp(argv[i], words[w], length) == 0 && (argv[i][length] == 0 || argv[i][length] == '=')) return true;
    }
  return false;
}

void ranks_start(int argc, char **argv) {
  const char *library = getenv("NDREDUCE_MPI_LIBRARY");
  int count = launched_processes();
  if (count <= 1 || (library && strcasecmp(library, "none") == 0) || is_for_one(argc, argv)) return;
  void *mpi = dlopen(library && *library ? library : NDREDUCE_MPI_SONAME, RTLD_NOW | RTLD_GLOBAL);
  if (!mpi) refuse(count, dlerror());
  ndr_status (*start)(ndr_comm **);
  *(void **)&start = dlsym(mpi, "ndr_mpi_start");
  *(void **)&stop = dlsym(mpi, "ndr_mpi_stop");
  *(void **)&abort_all = dlsym(mpi, "ndr_mpi_abort");
  if (!start || !stop || !abort_all) refuse(count, dlerror());
  if (start(&comm) != NDR_OK) refuse(count, "MPI does not start");
  calls = *comm;
  comm->send = send_message;
  comm->receive = receive_message;
  atexit(end_mpi);
  if (comm->ranks == 1 && count > 1)
    refuse(count, "MPI knows of this one only: the launcher is of another MPI, or srun lacks --mpi=pmix");
  if (comm->rank > 0) be_silent();
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

void ranks_speak(h5gpured_options *options) {
  if (options->device_id == DEALT_DEVICE) options->device_id = dealt_device();
  if (comm && options->scans) {
    complain("--scan is for one process: ranks of a launcher reduce");
    exit(EXIT_INPUT);
  }
  if (ranks_leads()) return;
  speak();
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

bool ranks_agree(bool good) {
  if (!comm || comm->last != NDR_OK || agreed) return good;
  agreed = true;
  if (ndr_comm_agree(comm, good ? NDR_OK : NDR_ERR_FILE, sentence) == NDR_OK) return true;
  return ranks_leads() && good ? fail() : false;
}
