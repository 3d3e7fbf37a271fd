/* See zones_banks.h. At each step lanes are matched with banks, by augmenting paths. */
#include "gpuplan/operands/zones_banks.h"

#include <stdbool.h>
#include <string.h>

enum { NONE = -1 };

int ndr_lanes_at_once(int element_bytes) {
  return element_bytes <= 4 ? NDR_WARP_THREADS : 4 * NDR_WARP_THREADS / element_bytes;
}

int ndr_bank_of(int32_t label, int element_bytes) {
  return (int)((int64_t)label * element_bytes / (element_bytes < 4 ? 4 : element_bytes) %
               ndr_lanes_at_once(element_bytes));
}

/* The labels that are left to read. A set of lanes is a mask of bits. */
typedef struct reads {
  int lanes, banks;
  int64_t left[NDR_BANKS][NDR_WARP_THREADS]; /* labels, by bank and lane */
  int64_t load[NDR_BANKS];                   /* labels of all lanes, by bank */
  uint32_t readers[NDR_BANKS];               /* the lanes with labels in a bank */
  uint32_t idle;                             /* lanes with labels that have no bank for this step yet */
  int bank[NDR_WARP_THREADS];                /* where a lane reads at this step, or NONE */
} reads;

static int first_of(uint32_t lanes) {
  return __builtin_ctz(lanes);
}

static void read_from(reads *r, int lane, int bank) {
  r->bank[lane] = bank;
  r->idle &= ~(UINT32_C(1) << lane);
}

/* Finds a lane that reads from a bank at this step: an idle one, or one whose own bank finds another lane. `seen`: the
 * lanes that were tried. */
static bool find_lane(reads *r, int bank, uint32_t *seen) {
  uint32_t idle = r->readers[bank] & r->idle;
  if (idle) {
    read_from(r, first_of(idle), bank);
    return true;
  }
  for (uint32_t open; (open = r->readers[bank] & ~*seen) != 0;) {
    int lane = first_of(open);
    *seen |= UINT32_C(1) << lane;
    if (!find_lane(r, r->bank[lane], seen)) continue;
    read_from(r, lane, bank);
    return true;
  }
  return false;
}

/* Gives every lane a bank for this step. Banks with the most labels choose first. Each gets one lane, or two if
 * any bank has more labels than steps are left. Lanes that are still idle read from any bank where they have labels. */
static void match(reads *r, int64_t steps_left) {
  int64_t load[NDR_BANKS], most = 0;
  memcpy(load, r->load, sizeof load);
  for (int bank = 0; bank < r->banks; bank++)
    if (load[bank] > most) most = load[bank];
  int limit = most > steps_left ? 2 : 1, matched[NDR_BANKS] = {0};
  while (r->idle) {
    int next = NONE;
    for (int bank = 0; bank < r->banks; bank++)
      if (load[bank] > 0 && matched[bank] < limit && (next == NONE || load[bank] > load[next])) next = bank;
    if (next == NONE) break;
    uint32_t seen = 0;
    matched[next]++;
    load[next] = find_lane(r, next, &seen) ? load[next] - 1 : 0;
  }
  for (int bank = 0; r->idle && bank < r->banks; bank++)
    while (r->readers[bank] & r->idle) read_from(r, first_of(r->readers[bank] & r->idle), bank);
}

/* Puts what each lane reads at a step in its place. next[bank][lane]: where the lane's next label of the bank is.
 * begins[lane]: where the lane's labels begin. */
static void take_step(reads *r, const int32_t *labels, int64_t (*next)[NDR_WARP_THREADS], int64_t step,
                      const int64_t *begins, int32_t *ordered) {
  for (int lane = 0; lane < r->lanes; lane++) {
    int bank = r->bank[lane];
    if (bank == NONE) continue;
    ordered[begins[lane] + step] = labels[next[bank][lane]++];
    r->load[bank]--;
    if (--r->left[bank][lane] == 0) r->readers[bank] &= ~(UINT32_C(1) << lane);
  }
}

void ndr_order_reads(const int32_t *labels, const int64_t *counts, int lanes, int element_bytes, int32_t *ordered) {
  reads r = {.lanes = lanes, .banks = ndr_lanes_at_once(element_bytes)};
  int64_t next[NDR_BANKS][NDR_WARP_THREADS], begins[NDR_WARP_THREADS] = {0}, begin = 0;
  for (int lane = 0; lane < lanes; begin += counts[lane++]) {
    begins[lane] = begin;
    for (int64_t i = begin + counts[lane] - 1; i >= begin; i--) {
      int bank = ndr_bank_of(labels[i], element_bytes);
      next[bank][lane] = i;
      r.left[bank][lane]++;
      r.load[bank]++;
      r.readers[bank] |= UINT32_C(1) << lane;
    }
  }
  for (int64_t step = 0; step < counts[0]; step++) {
    for (int lane = 0; lane < lanes; lane++) {
      r.bank[lane] = NONE;
      if (counts[lane] > step) r.idle |= UINT32_C(1) << lane;
    }
    match(&r, counts[0] - step);
    take_step(&r, labels, next, step, begins, ordered);
  }
}
