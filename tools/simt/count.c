/* See count.h: adds up what the warps of a launch do. It runs nothing: that is launch.c. */
#include "count.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "machine.h"

typedef struct event {
  const char *file; /* place in the text: file, line, kind */
  int line;
  simt_event kind;
  int lane;
  int order; /* among the lane's */
  int nth;   /* among the lane's at this place */
  uintptr_t address;
  size_t bytes;
} event;

/* What a warp did since it waited last. */
typedef struct warp {
  event *events;
  int count, capacity;
  int arrived; /* lanes that wait again */
} warp;

enum { WARPS = SIMT_MOST_THREADS / SIMT_WARP, BANKS = 32, WORD = 4, SECTOR = 32, LINE = 128 };

static simt_counts *counts;
static warp warps[WARPS];
static bool short_of_memory;

void simt_count_into(simt_counts *to) {
  counts = to;
}

void simt_count_launch(long long blocks) {
  for (int w = 0; w < WARPS; w++) warps[w].count = warps[w].arrived = 0;
  short_of_memory = false;
  if (!counts) return;
  counts->launches++;
  counts->blocks += blocks;
}

bool simt_count_landed(void) {
  for (int w = 0; w < WARPS; w++) {
    free(warps[w].events);
    warps[w] = (warp){0};
  }
  return !short_of_memory;
}

static warp *own_warp(void) {
  return &warps[simt_here->warp];
}

void simt_count_event(simt_event kind, const void *address, size_t bytes, const char *file, int line) {
  warp *w = own_warp();
  if (!counts) return;
  if (w->count == w->capacity) {
    int capacity = w->capacity ? 2 * w->capacity : 256;
    event *more = realloc(w->events, (size_t)capacity * sizeof *more);
    if (!more) {
      short_of_memory = true;
      return;
    }
    w->events = more;
    w->capacity = capacity;
  }
  w->events[w->count] =
      (event){file, line, kind, simt_here->thread % SIMT_WARP, w->count, 0, (uintptr_t)address, bytes};
  w->count++;
}

void simt_count_atomic(bool shared) {
  if (!counts) return;
  if (shared)
    counts->shared_atomics++;
  else
    counts->global_atomics++;
}

/* ---- a warp's events, once it has all of them, become instructions ---- */

static int by_place(const event *x, const event *y) {
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  return (int)x->kind - (int)y->kind;
}

static int by_lane(const void *a, const void *b) {
  const event *x = a, *y = b;
  int place = by_place(x, y);
  return place ? place : x->lane != y->lane ? x->lane - y->lane : x->order - y->order;
}

static int by_turn(const void *a, const void *b) {
  const event *x = a, *y = b;
  int place = by_place(x, y);
  return place ? place : x->nth != y->nth ? x->nth - y->nth : x->lane - y->lane;
}

/* Different units of so many bytes among those that the lanes touch. An instruction touches few of them more than once,
 * so those already met are searched. */
static int units_touched(const event *events, int lanes, size_t unit) {
  uintptr_t met[SIMT_WARP * 2];
  int found = 0;
  for (int i = 0; i < lanes; i++)
    for (uintptr_t u = events[i].address / unit; u <= (events[i].address + events[i].bytes - 1) / unit; u++) {
      int at = 0;
      while (at < found && met[at] != u) at++;
      if (at == found && found < SIMT_WARP * 2) met[found++] = u;
    }
  return found;
}

/* The turns that lanes first..last-1 of the events take at the busiest bank. */
static int turns_of(const event *events, int lanes, int first, int last) {
  uintptr_t words[BANKS][SIMT_WARP];
  int found[BANKS] = {0}, most = 1;
  for (int i = 0; i < lanes; i++) {
    if (events[i].lane < first || events[i].lane >= last) continue;
    for (size_t b = 0; b < events[i].bytes; b += WORD) {
      uintptr_t word = (events[i].address + b) / WORD;
      int bank = (int)(word % BANKS), at = 0;
      while (at < found[bank] && words[bank][at] != word) at++;
      if (at == found[bank]) words[bank][found[bank]++] = word;
      if (found[bank] > most) most = found[bank];
    }
  }
  return most;
}

static int conflicts_of(const event *events, int lanes) {
  int parts = events->bytes <= WORD ? 1 : (int)(events->bytes / WORD), conflicts = 0, width = SIMT_WARP / parts;
  for (int part = 0; part < parts; part++) conflicts += turns_of(events, lanes, part * width, (part + 1) * width) - 1;
  return conflicts;
}

static void count_instruction(const event *events, int lanes) {
  size_t sum = 0;
  for (int i = 0; i < lanes; i++) sum += events[i].bytes;
  switch (events->kind) {
  case SIMT_GLOBAL_LOAD:
  case SIMT_GLOBAL_STORE:
    counts->accesses++;
    counts->bytes += (long long)sum;
    counts->sectors += units_touched(events, lanes, SECTOR);
    counts->lines += units_touched(events, lanes, LINE);
    break;
  case SIMT_SHARED_LOAD:
  case SIMT_SHARED_STORE:
    counts->shared_accesses++;
    counts->conflicts += conflicts_of(events, lanes);
    break;
  case SIMT_BRANCH:
    counts->branches++;
    counts->divergent += sum > 0 && sum < (size_t)lanes;
    break;
  }
}

static void count_warp(warp *w) {
  event *e = w->events;
  if (w->count) qsort(e, (size_t)w->count, sizeof *e, by_lane);
  for (int i = 1; i < w->count; i++)
    if (by_place(&e[i], &e[i - 1]) == 0 && e[i].lane == e[i - 1].lane) e[i].nth = e[i - 1].nth + 1;
  if (w->count) qsort(e, (size_t)w->count, sizeof *e, by_turn);
  for (int first = 0, last; first < w->count; first = last) {
    for (last = first + 1; last < w->count && by_place(&e[last], &e[first]) == 0 && e[last].nth == e[first].nth;)
      last++;
    count_instruction(e + first, last - first);
  }
  w->count = w->arrived = 0;
}

void simt_count_wait(simt_wait wait) {
  warp *w = own_warp();
  if (!counts) return;
  if (wait == SIMT_BARRIER && simt_here->thread == 0) counts->barriers++;
  if (wait == SIMT_WARP_WAIT && simt_here->thread % SIMT_WARP == 0) counts->shuffles++;
  if (++w->arrived == SIMT_WARP) count_warp(w);
}
