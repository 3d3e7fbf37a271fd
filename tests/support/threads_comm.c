#include "threads_comm.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random.h"

/* Of thousands of ranks, threads have small stacks; where there are few, a rank may compile a kernel. */
enum { FEW_RANKS = 64, STACK_BYTES = 512 << 10, LARGE_STACK_BYTES = 8 << 20, LOOK_NANOSECONDS = 20000 };

bool threads_take_turns;
int64_t threads_poll_nanoseconds;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

typedef struct message {
  struct message *next;
  int from, held; /* held: how many times its receiver looks and does not see it */
  size_t count;
  void *bytes;
} message;

typedef struct mailbox {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  message *first, **end; /* in the order in which they came */
  bool *seen;            /* [rank], in `choose`: its first message has been looked at; its others come later */
} mailbox;

typedef struct world world;

typedef struct member {
  world *world;
  ndr_comm comm;
  rng random;
  threads_sent sent;
  pthread_t thread;
} member;

struct world {
  int ranks;
  bool shuffles;
  mailbox *boxes;
  member *members;
  threads_body *body;
  void *user;
};

static ndr_status send_message(void *user, int to, const void *bytes, size_t count) {
  member *self = user;
  mailbox *box = &self->world->boxes[to];
  message *made = malloc(sizeof *made);
  *made = (message){.from = self->comm.rank, .count = count, .bytes = malloc(count + 1)};
  if (count) memcpy(made->bytes, bytes, count);
  if (self->world->shuffles && rng_once_in(&self->random, 4)) made->held = (int)rng_between(&self->random, 1, 8);
  self->sent.messages++;
  self->sent.bytes += (int64_t)count;
  pthread_mutex_lock(&box->lock);
  __atomic_store_n(box->end, made, __ATOMIC_RELEASE);
  box->end = &made->next;
  pthread_cond_signal(&box->filled);
  pthread_mutex_unlock(&box->lock);
  return NDR_OK;
}

/* Chooses the next message: the first of its sender. Returns the pointer to it in the list; NULL: none can be seen. */
static message **choose(member *self, mailbox *box, int from) {
  message **chosen = NULL;
  int choices = 0;
  memset(box->seen, 0, (size_t)self->world->ranks);
  for (message **at = &box->first; *at; at = &(*at)->next) {
    message *m = *at;
    if (box->seen[m->from]) continue;
    box->seen[m->from] = true;
    if (from >= 0 && m->from != from) continue;
    if (m->held > 0) {
      m->held--;
      continue;
    }
    choices++;
    if (choices == 1 || (self->world->shuffles && rng_once_in(&self->random, choices))) chosen = at;
  }
  return chosen;
}

static void take_turn(void) {
  if (threads_take_turns) pthread_mutex_lock(&turn);
}

static void end_turn(void) {
  if (threads_take_turns) pthread_mutex_unlock(&turn);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Without the lock, which one who polls would hardly ever leave to a sender. */
static void poll_filled(mailbox *box) {
  if (threads_poll_nanoseconds == 0) return;
  pthread_mutex_unlock(&box->lock);
  for (int64_t until = now() + threads_poll_nanoseconds; !__atomic_load_n(&box->first, __ATOMIC_ACQUIRE);)
    if (now() > until) break;
  pthread_mutex_lock(&box->lock);
}

static void wait_filled(member *self, mailbox *box) {
  struct timespec until;
  if (!box->first || !self->world->shuffles) {
    pthread_cond_wait(&box->filled, &box->lock);
    return;
  }
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += LOOK_NANOSECONDS;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  pthread_cond_timedwait(&box->filled, &box->lock, &until);
}

/* Who has the turn may wait for the box, so that this one is given up first. */
static void await_message(member *self, mailbox *box) {
  end_turn();
  poll_filled(box);
  if (!box->first || threads_poll_nanoseconds == 0) wait_filled(self, box);
  pthread_mutex_unlock(&box->lock);
  take_turn();
  pthread_mutex_lock(&box->lock);
}

static ndr_status receive_message(void *user, int wait, int *from, void **bytes, size_t *count) {
  member *self = user;
  mailbox *box = &self->world->boxes[self->comm.rank];
  message **at;
  pthread_mutex_lock(&box->lock);
  while (!(at = choose(self, box, *from)) && wait) await_message(self, box);
  message *taken = at ? *at : NULL;
  if (taken) {
    *at = taken->next;
    if (!*at) box->end = at;
  }
  pthread_mutex_unlock(&box->lock);
  *from = taken ? taken->from : -1;
  if (!taken) return NDR_OK;
  *bytes = taken->bytes;
  *count = taken->count;
  free(taken);
  return NDR_OK;
}

static void *run_member(void *user) {
  member *self = user;
  take_turn();
  self->world->body(&self->comm, self->world->user);
  end_turn();
  return NULL;
}

static void start_members(world *w, uint64_t seed) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, w->ranks <= FEW_RANKS ? LARGE_STACK_BYTES : STACK_BYTES);
  for (int r = 0; r < w->ranks; r++) {
    member *self = &w->members[r];
    *self = (member){.world = w, .comm = NDR_COMM_INIT, .random = {seed + (uint64_t)r * 1000003}};
    self->comm.rank = r;
    self->comm.ranks = w->ranks;
    self->comm.node_rank = r;
    self->comm.node_ranks = w->ranks;
    self->comm.user = self;
    self->comm.send = send_message;
    self->comm.receive = receive_message;
    int failed = pthread_create(&self->thread, &attributes, run_member, self);
    if (failed) { /* the others would wait for it */
      fprintf(stderr, "thread of rank %d: %s\n", r, strerror(failed));
      abort();
    }
  }
  pthread_attr_destroy(&attributes);
}

/* Returns how many messages were left in it. */
static int64_t close_box(mailbox *box) {
  int64_t left = 0;
  for (message *m = box->first, *next; m; m = next, left++) {
    next = m->next;
    free(m->bytes);
    free(m);
  }
  free(box->seen);
  pthread_cond_destroy(&box->filled);
  pthread_mutex_destroy(&box->lock);
  return left;
}

int64_t threads_run(int ranks, uint64_t seed, threads_body *body, void *user, threads_sent *sent) {
  world w = {.ranks = ranks, .shuffles = seed != 0, .body = body, .user = user};
  int64_t left = 0;
  w.boxes = calloc((size_t)ranks, sizeof *w.boxes);
  w.members = calloc((size_t)ranks, sizeof *w.members);
  for (int r = 0; r < ranks; r++) {
    pthread_mutex_init(&w.boxes[r].lock, NULL);
    pthread_cond_init(&w.boxes[r].filled, NULL);
    w.boxes[r].end = &w.boxes[r].first;
    w.boxes[r].seen = calloc((size_t)ranks, sizeof *w.boxes[r].seen);
  }
  start_members(&w, seed);
  for (int r = 0; r < ranks; r++) pthread_join(w.members[r].thread, NULL);
  for (int r = 0; r < ranks; r++) {
    if (sent) sent[r] = w.members[r].sent;
    left += close_box(&w.boxes[r]);
  }
  free(w.boxes);
  free(w.members);
  return left;
}
