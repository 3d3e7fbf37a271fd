/* See launch.h: runs the threads of a grid, a block at a time. What is counted of them is in count.c. */
#include "launch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibre.h"
#include "machine.h"

typedef enum state { READY, AT_BARRIER, AT_PART, AT_SHUFFLE, PAUSED, RETURNED, FAILED } state;
static const char *const state_names[] = {"ready",
                                          "waiting at a barrier",
                                          "waiting at a part's barrier",
                                          "waiting at a shuffle",
                                          "waiting for others",
                                          "gone",
                                          "failed"};

typedef struct lane {
  simt_place place;
  fibre *fibre;
  state state;
  const char *file; /* where it waits */
  int line;
  unsigned sent, received;
  int mask, from; /* the lane that it receives from is number from ^ mask */
  int part;       /* AT_PART: threads that wait for each other */
  bool begun;
} lane;

/* What a block that has begun runs on. */
typedef struct slot {
  lane *lanes;
  unsigned char *shared;
  unsigned char *statics; /* its static shared memory while that of another block is in place: see bring */
} slot;

/* After this many turns in a row that all end in waiting for other blocks, the launch is given up: none will go on. */
enum { MOST_IDLE_TURNS = 1 << 12 };

/* The launch that is running. */
static const simt_launch *launch;
static lane lanes[SIMT_MOST_LIVE];
static int idle_turns;
static lane *running;
static uint64_t random_state;
static char failure[512];
static char token;              /* what the thread sanitizer orders threads by */
static unsigned char *in_place; /* statics of the slot whose static shared memory kernels find now */

const simt_place *simt_here;

/* Notes what is wrong with the launch. Always false. */
#define fail(...) (snprintf(failure, sizeof failure, __VA_ARGS__), false)

static const char *base_name(const char *file) {
  const char *slash = strrchr(file, '/');
  return slash ? slash + 1 : file;
}

/* ---- on a thread's fibre ---- */

static void wait_as(state waiting, const char *file, int line) {
  lane *self = running;
  self->state = waiting;
  self->file = file;
  self->line = line;
  fibre_leave(self->fibre);
}

void simt_barrier(const char *file, int line) {
  fibre_release(&token);
  wait_as(AT_BARRIER, file, line);
  fibre_acquire(&token);
}

void simt_barrier_of(int count, const char *file, int line) {
  running->part = count;
  fibre_release(&token);
  wait_as(AT_PART, file, line);
  fibre_acquire(&token);
}

static unsigned shuffle(unsigned value, int from, int mask, const char *file, int line) {
  running->sent = value;
  running->from = from;
  running->mask = mask;
  wait_as(AT_SHUFFLE, file, line);
  return running->received;
}

unsigned simt_shuffle_xor(unsigned value, int mask, const char *file, int line) {
  return shuffle(value, running->place.thread % SIMT_WARP, mask, file, line);
}

unsigned simt_shuffle_from(unsigned value, int lane_number, const char *file, int line) {
  return shuffle(value, lane_number, 0, file, line);
}

void simt_pause(const char *file, int line) {
  if (launch->waiting) simt_fail(file, line, "waits for a word that no earlier block has posted");
  wait_as(PAUSED, file, line);
}

void simt_fail(const char *file, int line, const char *reason) {
  (void)fail("%s:%d: thread %d of block %lld: %s", base_name(file), line, running->place.thread, running->place.block,
             reason);
  wait_as(FAILED, file, line);
  abort();
}

void simt_begin(void) {
  running->begun = true;
}

static void run_thread(void) {
  for (;;) {
    fibre_acquire(&token);
    running->begun = false;
    launch->body(launch->argument);
    if (launch->early && !running->begun)
      simt_fail(__FILE__, __LINE__, "it did not wait for what runs before its launch");
    fibre_release(&token);
    wait_as(RETURNED, "", 0);
  }
}

/* ---- on the host's stack ---- */

/* Marsaglia's xorshift (2003). */
static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* A walk over 0..count-1: item i is (start + i * step) % count, with step 1 or -1 and start < count. Cheap enough to
 * draw anew for every round of every warp, and it has the two orders that matter: a writer before, and a writer after,
 * each reader. */
typedef struct turns {
  int64_t count, start;
  bool backwards;
} turns;

static turns draw_turns(int64_t count) {
  if (!random_state || count < 1) return (turns){count, 0, false};
  uint64_t drawn = next_random();
  return (turns){count, (int64_t)((drawn >> 1) % (uint64_t)count), drawn & 1};
}

static int64_t turn(turns drawn, int64_t i) {
  int64_t at = drawn.start + i;
  if (at >= drawn.count) at -= drawn.count;
  return drawn.backwards ? drawn.count - 1 - at : at;
}

static void enter(lane *entered) {
  running = entered;
  simt_here = &entered->place;
  fibre_enter(entered->fibre);
}

static bool differ(const lane *a, const lane *b) {
  return fail("block %lld: thread %d is %s (%s:%d), thread %d is %s (%s:%d)", a->place.block, a->place.thread,
              state_names[a->state], base_name(a->file), a->line, b->place.thread, state_names[b->state],
              base_name(b->file), b->line);
}

static bool same_file(const char *a, const char *b) {
  return a == b || strcmp(a, b) == 0;
}

/* Whether all wait in the same state at the same line. */
static bool together(const lane *first, int count) {
  for (int i = 1; i < count; i++)
    if (first[i].state != first->state || first[i].line != first->line || !same_file(first[i].file, first->file))
      return differ(first, first + i);
  return true;
}

static bool exchange(lane *warp) {
  if (!together(warp, SIMT_WARP)) return false;
  for (int i = 0; i < SIMT_WARP; i++) {
    int mask = warp[i].mask;
    if (mask != warp[0].mask || mask < 0 || mask >= SIMT_WARP)
      return fail("%s:%d: thread %d shuffles with mask %d, thread %d with %d", base_name(warp[i].file), warp[i].line,
                  warp[0].place.thread, warp[0].mask, warp[i].place.thread, mask);
    if (warp[i].from < 0 || warp[i].from >= SIMT_WARP)
      return fail("%s:%d: thread %d shuffles with lane %d", base_name(warp[i].file), warp[i].line, warp[i].place.thread,
                  warp[i].from);
    warp[i].received = warp[warp[i].from ^ mask].sent;
    warp[i].state = READY;
  }
  return true;
}

/* Until every thread of the warp waits for the block or has returned, or some wait for other blocks. */
static bool run_warp(lane *warp) {
  for (;;) {
    bool shuffling = false, paused = false;
    turns order = draw_turns(SIMT_WARP);
    for (int i = 0; i < SIMT_WARP; i++) {
      lane *next = warp + turn(order, i);
      if (next->state == READY) enter(next);
      if (next->state == FAILED) return false;
      shuffling = shuffling || next->state == AT_SHUFFLE;
      paused = paused || next->state == PAUSED;
    }
    if (!shuffling || paused) return true;
    if (!exchange(warp)) return false;
  }
}

/* Fills memory that has the address sanitizer's redzones between arrays: its own accesses are not checked, and volatile
 * keeps them from becoming a call of memset, which would be. */
__attribute__((no_sanitize("address"))) static void poison(void *memory, size_t bytes) {
  volatile unsigned char *at = memory;
  volatile uint64_t *words = memory;
  size_t count = (uintptr_t)memory % sizeof *words ? 0 : bytes / sizeof *words;
  for (size_t i = 0; i < count; i++) words[i] = 0x0101010101010101u * SIMT_POISON;
  for (size_t i = count * sizeof *words; i < bytes; i++) at[i] = SIMT_POISON;
}

static void begin_block(slot *s, int64_t block) {
  int threads = launch->threads;
  poison(s->shared, launch->shared);
  poison(in_place == s->statics ? launch->statics : s->statics, launch->statics_bytes);
  for (int t = 0; t < threads; t++) {
    int warp = (int)(s->lanes - lanes + t) / SIMT_WARP;
    s->lanes[t].place = (simt_place){t, threads, block, launch->grid, s->shared, warp};
    s->lanes[t].state = READY;
  }
  fibre_release(&token);
}

/* Whether threads of the block wait for other blocks. They go on at the block's next turn. */
static bool wake_paused(lane *own) {
  bool any = false;
  for (int t = 0; t < launch->threads; t++) {
    any = any || own[t].state == PAUSED;
    if (own[t].state == PAUSED) own[t].state = READY;
  }
  return any;
}

/* Whether the block's first threads, but not all, wait for each other. They go on at the block's next turn. */
static bool wake_part(lane *own) {
  if (own[0].state != AT_PART || own[0].part > launch->threads) return false;
  for (int t = 1; t < own[0].part; t++)
    if (own[t].state != AT_PART || own[t].part != own[0].part || own[t].line != own[0].line) return false;
  for (int t = 0; t < own[0].part; t++) own[t].state = READY;
  return true;
}

/* A turn: until the block's threads all wait at a barrier or have all returned, or some wait for other blocks. */
static bool run_block(lane *own, bool *returned) {
  turns order = draw_turns(launch->threads / SIMT_WARP);
  for (int w = 0; w < order.count; w++)
    if (!run_warp(own + turn(order, w) * SIMT_WARP)) return false;
  if (wake_part(own)) {
    (void)wake_paused(own);
    idle_turns = 0;
    return true;
  }
  if (wake_paused(own))
    return ++idle_turns < MOST_IDLE_TURNS || fail("block %lld waits for what no block does", own->place.block);
  if (!together(own, launch->threads)) return false;
  idle_turns = 0;
  *returned = own[0].state == RETURNED;
  for (int t = 0; t < launch->threads && !*returned; t++) own[t].state = READY;
  if (*returned) fibre_acquire(&token);
  return true;
}

/* Kernels know one place of static shared memory, so each block's comes there for its turn. A module's may be a
 * megabyte, that of all its kernels together: it stays where it is until another block has a turn. */
static void bring(const slot *s) {
  const size_t bytes = launch->statics_bytes;
  if (bytes == 0 || in_place == s->statics) return;
  memcpy(in_place, launch->statics, bytes);
  memcpy(launch->statics, s->statics, bytes);
  in_place = s->statics;
}

/* All blocks, as many at a time as there are slots. */
static bool run_blocks(slot *slots, int count) {
  turns order = draw_turns(launch->grid);
  int64_t begun = 0, turns_taken = 0;
  int live = 0;
  if (launch->waiting) order = (turns){launch->grid, 0, false};
  idle_turns = 0;
  in_place = slots[0].statics;
  while (begun < launch->grid || live > 0) {
    bool returned = false;
    while (live < count && begun < launch->grid) begin_block(&slots[live++], turn(order, begun++));
    int next = (int)((random_state ? next_random() : (uint64_t)turns_taken++) % (uint64_t)live);
    bring(&slots[next]);
    if (!run_block(slots[next].lanes, &returned)) return false;
    if (!returned) continue;
    slot done = slots[next];
    slots[next] = slots[--live];
    slots[live] = done;
  }
  return true;
}

static bool check_launch(void) {
  if (launch->grid < 1 || launch->grid > 0x7fffffff) return fail("a grid of %lld blocks", (long long)launch->grid);
  if (launch->threads < 1 || launch->threads > SIMT_MOST_THREADS || launch->threads % SIMT_WARP)
    return fail("a block of %d threads", launch->threads);
  return true;
}

/* Shared memory is exactly as long as asked for, and no better aligned than the machine promises. */
static bool make_slots(slot *slots, int count) {
  for (int i = 0; i < count; i++) {
    slots[i].lanes = lanes + (ptrdiff_t)i * launch->threads;
    if (posix_memalign((void **)&slots[i].shared, 16, launch->shared + (launch->shared == 0)))
      return fail("no memory for %zu bytes of shared memory", launch->shared);
    if (!(slots[i].statics = malloc(launch->statics_bytes + 1)))
      return fail("no memory for %zu bytes of static shared memory", launch->statics_bytes);
  }
  for (int t = 0; t < count * launch->threads; t++)
    if (!lanes[t].fibre && !(lanes[t].fibre = fibre_create(run_thread))) return fail("no memory for a stack");
  return true;
}

void simt_shut_down(void) {
  for (int t = 0; t < SIMT_MOST_LIVE; t++) {
    fibre_destroy(lanes[t].fibre);
    lanes[t].fibre = NULL;
  }
}

/* How many blocks take turns. */
static int slots_of(const simt_launch *started) {
  int wanted = 1, threads = SIMT_MOST_THREADS; /* of all these blocks */
  if (started->abreast > 0) {
    wanted = started->abreast;
    threads = SIMT_MOST_LIVE;
  } else if (started->order && started->resident > 1) {
    wanted = started->resident;
  }
  const int most = threads / started->threads, count = wanted < most ? wanted : most;
  return count < started->grid ? count : (int)started->grid;
}

const char *simt_run(const simt_launch *started) {
  slot slots[SIMT_MOST_LIVE / SIMT_WARP] = {{NULL, NULL, NULL}};
  launch = started;
  random_state = started->order;
  bool done = check_launch();
  const int count = done ? slots_of(started) : 0;
  done = done && make_slots(slots, count) && run_blocks(slots, count);
  for (int i = 0; i < count; i++) free(slots[i].shared), free(slots[i].statics);
  /* Threads that stopped half way cannot be run again. */
  if (!done) simt_shut_down();
  return done ? NULL : failure;
}
