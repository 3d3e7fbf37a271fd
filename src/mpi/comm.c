/* `send` and `receive` of an ndr_comm by MPI: see ndreduce/mpi.h. Messages have tag 0 of a communicator of their own.
 *
 * `send` copies the message and does not wait for its receiver. While a rank waits, for room to send or for a message,
 * it moves whatever has come from MPI into a list, the inbox. Otherwise two ranks that send each other more than MPI
 * holds would wait for each other. */
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ndreduce/mpi.h"

enum {
  TAG = 0,
  YIELDS = 2000 /* some 1 ms of an idle core */,
  LEAST_NAP = 10000,
  LONGEST_NAP = 500000 /* nanoseconds */
};

/* If more bytes than this would be under way, `send` waits. */
#define MOST_UNDER_WAY ((size_t)256 << 20)

/* A message that is on its way, or has come. */
typedef struct message {
  struct message *next;
  MPI_Request request; /* of one on its way */
  int from;            /* of one that has come */
  size_t count;
  void *bytes;
} message;

typedef struct list {
  message *first, **end;
} list;

typedef struct ranks {
  ndr_comm comm;
  MPI_Comm communicator;
  list sent, inbox;
  size_t under_way; /* bytes of `sent` */
} ranks;

static message *make_message(size_t count) {
  message *m = calloc(1, sizeof *m);
  void *bytes = malloc(count + 1);
  if (!m || !bytes) {
    free(m);
    free(bytes);
    return NULL;
  }
  m->count = count;
  m->bytes = bytes;
  return m;
}

static void append(list *l, message *m) {
  *l->end = m;
  l->end = &m->next;
}

static void take_out(list *l, message **at) {
  message *m = *at;
  *at = m->next;
  if (!*at) l->end = at;
}

/* Frees the messages that MPI has sent. */
static void clear_sent(ranks *r) {
  for (message **at = &r->sent.first; *at;) {
    message *m = *at;
    int is_sent;
    MPI_Test(&m->request, &is_sent, MPI_STATUS_IGNORE);
    if (!is_sent) {
      at = &m->next;
      continue;
    }
    r->under_way -= m->count;
    take_out(&r->sent, at);
    free(m->bytes);
    free(m);
  }
}

/* Moves one message from MPI to the inbox, if one has come. */
static ndr_status collect(ranks *r, bool *got) {
  int come, count;
  MPI_Message handle;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, TAG, r->communicator, &come, &handle, &status);
  *got = come;
  if (!come) return NDR_OK;
  MPI_Get_count(&status, MPI_BYTE, &count);
  message *m = make_message((size_t)count);
  if (!m) return NDR_ERR_MEMORY;
  MPI_Mrecv(m->bytes, count, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
  m->from = status.MPI_SOURCE;
  append(&r->inbox, m);
  return NDR_OK;
}

/* Yields for about 1 ms, as a GPU's results often come within that; then sleeps, longer with each try, so that ranks
 * that work have the core. */
static void pause_after(int tries) {
  if (tries < YIELDS) {
    sched_yield();
    return;
  }
  long nap = (long)LEAST_NAP * (tries - YIELDS + 1);
  nanosleep(&(struct timespec){.tv_nsec = nap < LONGEST_NAP ? nap : LONGEST_NAP}, NULL);
}

static ndr_status send_message(void *user, int to, const void *bytes, size_t count) {
  ranks *r = user;
  if (count > INT_MAX) return NDR_ERR_OVERFLOW; /* nobody sends more than NDR_MESSAGE_BYTES */
  clear_sent(r);
  for (int tries = 0; r->under_way > 0 && r->under_way + count > MOST_UNDER_WAY; tries++) {
    bool got;
    ndr_status status = collect(r, &got);
    if (status != NDR_OK) return status;
    if (got) tries = 0;
    pause_after(tries);
    clear_sent(r);
  }
  message *m = make_message(count);
  if (!m) return NDR_ERR_MEMORY;
  if (count) memcpy(m->bytes, bytes, count);
  /* clear_sent and empty complete the request; the checker does not see that. */
  // NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker)
  MPI_Isend(m->bytes, (int)count, MPI_BYTE, to, TAG, r->communicator, &m->request);
  r->under_way += count;
  append(&r->sent, m);
  return NDR_OK;
  // NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)
}

/* The first message in the inbox from that rank, or from any if `from` is -1. */
static message **find(ranks *r, int from) {
  message **at = &r->inbox.first;
  while (*at && from >= 0 && (*at)->from != from) at = &(*at)->next;
  return at;
}

static ndr_status receive_message(void *user, int wait, int *from, void **bytes, size_t *count) {
  ranks *r = user;
  message **at;
  clear_sent(r);
  for (int tries = 0; !*(at = find(r, *from)); tries++) {
    bool got;
    ndr_status status = collect(r, &got);
    if (status != NDR_OK) return status;
    if (got) {
      tries = 0;
      continue;
    }
    if (!wait) break;
    pause_after(tries);
    clear_sent(r);
  }
  message *m = *at;
  *from = m ? m->from : -1;
  if (!m) return NDR_OK;
  take_out(&r->inbox, at);
  *bytes = m->bytes;
  *count = m->count;
  free(m);
  return NDR_OK;
}

/* ---- Making one ------------------------------------------------------------------------------------------------- */

static void fill_in(ranks *r, MPI_Comm communicator) {
  MPI_Comm node;
  r->comm = (ndr_comm)NDR_COMM_INIT;
  r->comm.user = r;
  r->comm.send = send_message;
  r->comm.receive = receive_message;
  r->sent.end = &r->sent.first;
  r->inbox.end = &r->inbox.first;
  MPI_Comm_dup(communicator, &r->communicator);
  MPI_Comm_set_errhandler(r->communicator, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_rank(r->communicator, &r->comm.rank);
  MPI_Comm_size(r->communicator, &r->comm.ranks);
  MPI_Comm_split_type(r->communicator, MPI_COMM_TYPE_SHARED, r->comm.rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &r->comm.node_rank);
  MPI_Comm_size(node, &r->comm.node_ranks);
  MPI_Comm_free(&node);
}

/* If one rank has no memory, none makes a comm. */
ndr_status ndr_mpi_comm(ndr_comm **comm, MPI_Comm communicator) {
  if (!comm) return NDR_ERR_ARGUMENT;
  *comm = NULL;
  if (communicator == MPI_COMM_NULL) return NDR_ERR_ARGUMENT;
  ranks *r = calloc(1, sizeof *r);
  int mine = r != NULL, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, communicator);
  if (!r || !all) {
    free(r);
    return NDR_ERR_MEMORY;
  }
  fill_in(r, communicator);
  *comm = &r->comm;
  return NDR_OK;
}

static void empty(list *l, bool wait) {
  for (message *m = l->first, *next; m; m = next) {
    next = m->next;
    if (wait) MPI_Wait(&m->request, MPI_STATUS_IGNORE); // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
    free(m->bytes);
    free(m);
  }
}

void ndr_mpi_comm_free(ndr_comm *comm) {
  if (!comm) return;
  ranks *r = comm->user;
  empty(&r->sent, true);
  empty(&r->inbox, false);
  MPI_Comm_free(&r->communicator);
  free(r);
}
