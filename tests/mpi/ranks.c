/* Ranks of MPI: messages of all sizes, both ways at once; agreement; reductions, with the same bits as by ranks that
 * are threads. Run by run.sh under each MPI. If a check fails, prints it and ends all ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndreduce/mpi.h"
#include "support/threads_comm.h"

enum { COLUMNS = 5, ROWS = 1000, CROSSING = 19 /* messages of NDR_MESSAGE_BYTES: more than are kept under way */ };

static ndr_comm *comm;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (condition) break;                                                                                              \
    fprintf(stderr, "line %d, rank %d of %d: %s is false; %s\n", __LINE__, comm->rank, comm->ranks, #condition,        \
            ndr_last_error());                                                                                         \
    ndr_mpi_abort(comm, 1);                                                                                            \
  } while (0)

/* ---- messages ---- */

static unsigned char byte_of(int from, int to, size_t number, size_t at) {
  return (unsigned char)((size_t)(from * 7 + to * 3) + number * 5 + at % 251);
}

static void send_one(int to, size_t number, size_t count) {
  unsigned char *bytes = malloc(count + 1);
  for (size_t i = 0; i < count; i++) bytes[i] = byte_of(comm->rank, to, number, i);
  CHECK(comm->send(comm->user, to, bytes, count) == NDR_OK);
  memset(bytes, 0, count); /* the bytes are ours again */
  free(bytes);
}

static void receive_one(int wanted, size_t *next, const size_t *sizes) {
  int from = wanted;
  void *bytes;
  size_t count;
  CHECK(comm->receive(comm->user, 1, &from, &bytes, &count) == NDR_OK);
  CHECK(from >= 0 && from < comm->ranks && from != comm->rank && (wanted < 0 || from == wanted));
  size_t number = next[from]++;
  CHECK(count == sizes[number]);
  for (size_t i = 0; i < count; i++) CHECK(((unsigned char *)bytes)[i] == byte_of(from, comm->rank, number, i));
  free(bytes);
}

static void check_nothing_is_there(void) {
  int from = -1;
  void *bytes;
  size_t count;
  CHECK(comm->receive(comm->user, 0, &from, &bytes, &count) == NDR_OK);
  CHECK(from == -1);
}

static void exchange(const size_t *sizes, size_t count) {
  size_t *next = calloc((size_t)comm->ranks, sizeof *next);
  for (size_t i = 0; i < count; i++)
    for (int to = 0; to < comm->ranks; to++)
      if (to != comm->rank) send_one(to, i, sizes[i]);
  /* First all messages of the last rank, even if others' come earlier. */
  int last = comm->rank == comm->ranks - 1 ? 0 : comm->ranks - 1;
  for (size_t i = 0; i < count && comm->ranks > 1; i++) receive_one(last, next, sizes);
  for (size_t i = 0; i < count * (size_t)comm->ranks; i++)
    if (i % (size_t)comm->ranks != (size_t)comm->rank && i % (size_t)comm->ranks != (size_t)last)
      receive_one(-1, next, sizes);
  MPI_Barrier(MPI_COMM_WORLD); /* so that messages of the next exchange come after all of this one */
  free(next);
}

static void check_messages(void) {
  static const size_t sizes[] = {0, 1, 8, 4095, 0, 65536, 1000003, NDR_MESSAGE_BYTES};
  size_t crossing[CROSSING];
  exchange(sizes, sizeof sizes / sizeof *sizes);
  for (int i = 0; i < CROSSING; i++) crossing[i] = NDR_MESSAGE_BYTES;
  if (comm->ranks == 2) exchange(crossing, CROSSING);
}

/* ---- calls ---- */

static void check_agreement(void) {
  char expected[100] = "no file";
  for (int who = 0; who < comm->ranks; who++) {
    ndr_status mine = comm->rank == who ? NDR_ERR_FILE : NDR_OK;
    if (who > 0) snprintf(expected, sizeof expected, "no file (rank %d of %d)", who, comm->ranks);
    CHECK(ndr_comm_agree(comm, mine, "no file") == NDR_ERR_FILE);
    CHECK(strcmp(ndr_last_error(), expected) == 0);
    CHECK(ndr_comm_agree(comm, NDR_OK, NULL) == NDR_OK);
  }
}

typedef struct output {
  float sums[COLUMNS], vars[COLUMNS];
  int64_t where[COLUMNS];
} output;

/* Each rank has some of the rows; the rank `without` passes a null pointer. */
static ndr_status reduce(ndr_comm *by, output *out, int without) {
  static const char *const text = "sum,var,argmax f32 [1000,5] /0";
  int64_t first = (int64_t)ROWS * by->rank / by->ranks, end = (int64_t)ROWS * (by->rank + 1) / by->ranks;
  int64_t size[] = {end - first, COLUMNS}, offset[] = {first, 0}, outputs[] = {COLUMNS};
  float *x = malloc(sizeof *x * (size_t)(size[0] * COLUMNS));
  for (int64_t i = 0; i < size[0] * COLUMNS; i++) x[i] = (float)((first * COLUMNS + i) * 7919 % 10007) / 3.0F;
  DLTensor part = ndr_tensor(x, NDR_F32, 2, size);
  DLTensor r[] = {ndr_tensor(out->sums, NDR_F32, 1, outputs), ndr_tensor(out->vars, NDR_F32, 1, outputs),
                  ndr_tensor(out->where, NDR_I64, 1, outputs)};
  DLTensor *results[] = {&r[0], &r[1], &r[2]};
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_status status = ndr_problem_parse(text, &problem);
  if (status == NDR_OK)
    status = ndreduce_parts(by, &problem, by->rank == without ? NULL : &part, offset, results, NULL);
  free(x);
  return status;
}

static void reduce_in_thread(ndr_comm *by, void *user) {
  output unused;
  (void)reduce(by, by->rank == 0 ? user : &unused, -1);
}

static void check_reduction(void) {
  output out, expected;
  memset(&out, 0, sizeof out);
  memset(&expected, 1, sizeof expected);
  CHECK(reduce(comm, &out, -1) == NDR_OK);
  if (comm->rank == 0) {
    CHECK(threads_run(comm->ranks, 0, reduce_in_thread, &expected, NULL) == 0);
    CHECK(memcmp(&out, &expected, sizeof out) == 0);
  }
  CHECK(reduce(comm, &out, comm->ranks - 1) == NDR_ERR_ARGUMENT);
  CHECK(strstr(ndr_last_error(), "part is a null pointer") != NULL);
  CHECK(reduce(comm, &out, -1) == NDR_OK);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  ndr_comm *second;
  if (ndr_mpi_comm(NULL, MPI_COMM_WORLD) != NDR_ERR_ARGUMENT || ndr_mpi_comm(&comm, MPI_COMM_NULL) == NDR_OK) return 1;
  if (ndr_mpi_comm(&comm, MPI_COMM_WORLD) != NDR_OK || ndr_mpi_comm(&second, MPI_COMM_WORLD) != NDR_OK) return 1;
  CHECK(argc == 2 && comm->ranks == (int)strtol(argv[1], NULL, 10));
  CHECK(comm->node_ranks == comm->ranks && comm->node_rank == comm->rank); /* the test runs on one machine */
  /* A message of one comm is not for the other. */
  if (comm->rank == 0 && comm->ranks > 1) CHECK(second->send(second->user, 1, "!", 1) == NDR_OK);
  check_messages();
  check_agreement();
  check_reduction();
  check_nothing_is_there();
  if (comm->rank == 1) {
    int from = 0;
    void *bytes;
    size_t count;
    CHECK(second->receive(second->user, 1, &from, &bytes, &count) == NDR_OK && count == 1);
    free(bytes);
  }
  ndr_mpi_comm_free(second);
  ndr_mpi_comm_free(comm);
  ndr_mpi_comm_free(NULL);
  MPI_Finalize();
  return 0;
}
