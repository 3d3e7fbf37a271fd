/* The lists of a table for labels along the fastest axis: that every label of a tile is in them once, and that the
 * lanes of a warp read from different banks of shared memory; and tiles that share no group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/groups/table.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/zones.h"
#include "gpuplan/operands/zones_cut.h"
#include "gpuplan/operands/zones_pairs.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/suite.h"

enum { LABELS = 8760, WIDTH = 8960, LANES = 32, QUAD = 4 };

static const struct {
  ndr_dtype dtype;
  int groups, bytes, at_once; /* at_once: lanes that shared memory serves at once */
} cases[] = {{NDR_F32, 12, 4, 32}, {NDR_F32, 366, 4, 32}, {NDR_F64, 40, 8, 16}, {NDR_C128, 12, 16, 8}};

static ndr_table *table_of(int32_t *labels, int count, int groups) {
  DLTensor tensor = ndr_tensor(labels, NDR_I32, NDR_SHAPE(count));
  ndr_groups *made = NULL;
  ndr_table *table = NULL;
  assert_ok(ndr_groups_create(&made, &tensor, groups));
  assert_ok(ndr_table_make(&table, made, 0, count));
  ndr_groups_destroy(made);
  return table;
}

static ndr_table *scattered_table(int groups) {
  static int32_t labels[LABELS];
  rng random = {test_seed()};
  for (int i = 0; i < LABELS; i++) labels[i] = (int32_t)rng_between(&random, 0, groups - 1);
  return table_of(labels, LABELS, groups);
}

/* The most of the lanes served at once that read from one bank. */
static int turns_of(const int *words, int count, int bytes) {
  int used[LANES] = {0}, most = 0;
  for (int i = 0; i < count; i++)
    for (int byte = 0; byte < bytes; byte += 4) {
      int *bank = &used[(words[i] + byte / 4) % LANES];
      if (++*bank > most) most = *bank;
    }
  return most;
}

START_TEST(lanes_read_from_different_banks) {
  static int seen[LABELS];
  static ndr_canonical problem;
  static ndr_launch launch;
  ndr_param_tiles *own = &launch.params.table.tiles;
  *own = (ndr_param_tiles){
      .tiles = (LABELS + WIDTH - 1) / WIDTH, .width = WIDTH, .rows = 1, .step_rows = 1, .groups = cases[_i].groups};
  launch.operands.steps = 1;
  problem.reduced_count = 1;
  problem.reduced[0].size = LABELS;
  problem.dtype = cases[_i].dtype;
  ndr_table *table = scattered_table(cases[_i].groups);
  problem.table = table;
  int32_t *ints;
  size_t bytes;
  assert_ok(ndr_zones_write(&problem, &launch, &ints, &bytes));
  const int32_t *tasks = ints + ints[0], *lanes = ints + ints[1];
  double reads = 0, turns = 0;
  memset(seen, 0, sizeof seen);
  for (int tile = 0; tile < own->tiles; tile++)
    for (int task = ints[8 + 8 * tile]; task < ints[9 + 8 * tile]; task++) {
      const uint16_t *entries = (const uint16_t *)(const void *)(ints + ints[3] + 2 * (int64_t)tasks[task]);
      const int32_t *lane = lanes + 2 * LANES * (int64_t)task;
      for (int step = 0; step < lane[0]; step++)
        for (int first = 0; first < LANES; first += cases[_i].at_once) {
          int words[LANES], count = 0;
          for (int l = first; l < first + cases[_i].at_once; l++) {
            if (step >= lane[2 * l]) continue;
            int label = entries[(step / QUAD * LANES + l) * QUAD + step % QUAD];
            words[count++] = label * cases[_i].bytes / 4;
            ck_assert_int_lt(tile * own->width + label, LABELS);
            seen[tile * own->width + label]++;
          }
          reads += count > 0;
          turns += turns_of(words, count, cases[_i].bytes);
        }
    }
  for (int i = 0; i < LABELS; i++) ck_assert_msg(seen[i] == 1, "label %d is there %d times", i, seen[i]);
  ck_assert_msg(turns < 1.6 * reads, "%.2f turns a read", turns / reads);
  free(ints);
  ndr_table_free(table);
}
END_TEST

/* Tiles hold all labels of their groups, one after the other, and all groups are in one. */
START_TEST(rising_labels_are_cut_where_groups_end) {
  int32_t labels[500];
  rng random = {test_seed() + (uint64_t)_i};
  int groups = (int)rng_between(&random, 1, 200), label = 0;
  for (int i = 0; i < 500; i++) {
    labels[i] = rng_once_in(&random, 7) ? -1 : label;
    if (rng_once_in(&random, 4)) label += (int)rng_between(&random, 1, 3);
    if (label >= groups) label = groups - 1;
  }
  ndr_table *table = table_of(labels, 500, groups);
  int64_t width = rng_between(&random, 1, 600), limit = rng_between(&random, 1, 200), most = limit, longest = 0;
  int64_t count = ndr_zones_count_tiles(table, width, &most);
  for (int64_t g = 0, from = 0; g < groups; from = table->ends[g++])
    if (table->ends[g] > from && table->order[table->ends[g] - 1] - table->order[from] >= longest)
      longest = table->order[table->ends[g] - 1] - table->order[from] + 1;
  ck_assert_msg((count > 0) == (longest <= width), "%d groups up to %d labels, tiles of %d: %d", groups, (int)longest,
                (int)width, (int)count);
  ck_assert(!count || most <= limit);
  ndr_zones_tile tile = {0};
  for (int64_t n = 0, first = 0, end = 0; n < count; n++, first = tile.group_end, end = tile.end) {
    ck_assert(ndr_zones_next_tile(table, width, most, &tile));
    ck_assert_int_eq(tile.first, first);
    ck_assert(tile.begin >= end && tile.end - tile.begin <= width && tile.group_end - tile.first <= most);
    for (int i = 0; i < 500; i++)
      if (labels[i] >= tile.first && labels[i] < tile.group_end) ck_assert(i >= tile.begin && i < tile.end);
  }
  if (count) ck_assert_int_eq(tile.group_end, groups);
  ndr_table_free(table);
}
END_TEST

START_TEST(labels_that_fall_are_not_cut) {
  int32_t labels[] = {0, 0, 1, 1, 0, 2};
  int64_t most = 3;
  ndr_table *table = table_of(labels, 6, 3);
  ck_assert_int_eq(ndr_zones_count_tiles(table, 6, &most), 0);
  ndr_table_free(table);
}
END_TEST

/* Every label is dealt once, with its group; a group's labels to one thread, and the groups of a half warp's threads
 * lie in banks of their own. */
START_TEST(pairs_are_dealt_without_conflicts) {
  enum { GROUPS = 2000, TILE = 3000, HALF = 16 };
  static int64_t next[GROUPS];
  static int thread_of[GROUPS], dealt_labels[TILE];
  ndr_table *table = scattered_table(GROUPS);
  memset(thread_of, -1, sizeof thread_of);
  for (int g = 0; g < GROUPS; g++) next[g] = g ? table->ends[g - 1] : 0;
  for (int64_t begin = 0; begin < LABELS; begin += TILE) {
    ndr_zones_tile tile = {begin, begin + TILE < LABELS ? begin + TILE : LABELS, 0, GROUPS};
    ndr_zones_dealt dealt;
    memset(dealt_labels, 0, sizeof dealt_labels);
    memset(thread_of, -1, sizeof thread_of);
    ck_assert(ndr_zones_deal(table, &tile, cases[_i].bytes, next, &dealt));
    for (int t = 0; t < NDR_THREADS; t++)
      for (int64_t i = dealt.begin[t]; i < dealt.begin[t + 1]; i++) {
        int label = (int)(dealt.pairs[i] & 0xffff), group = (int)(dealt.pairs[i] >> 16), first = t / HALF * HALF;
        ck_assert_int_lt(label, tile.end - tile.begin);
        dealt_labels[label]++;
        ck_assert(thread_of[group] < 0 || thread_of[group] == t);
        thread_of[group] = t;
        for (int64_t k = dealt.begin[first]; k < dealt.begin[first + HALF]; k++)
          if (k < dealt.begin[t] || k >= dealt.begin[t + 1])
            ck_assert((dealt.pairs[k] >> 16) % HALF != (unsigned)group % HALF);
      }
    for (int64_t i = 0; i < tile.end - tile.begin; i++) ck_assert_int_eq(dealt_labels[i], 1);
    for (int64_t g = 0, k = 0; g < GROUPS; g++)
      for (; k < table->ends[g]; k++)
        if (table->order[k] >= begin && table->order[k] < tile.end) ck_assert_int_ge(thread_of[g], 0);
    ck_assert_int_lt(dealt.begin[NDR_THREADS] - dealt.begin[NDR_THREADS - 1], 2 * TILE / NDR_THREADS);
    free(dealt.pairs);
  }
  ndr_table_free(table);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("gpuplan zones");
  TCase *one = tcase_create("lists");
  tcase_add_loop_test(one, lanes_read_from_different_banks, 0, (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, one);
  TCase *cut = tcase_create("tiles that share no group");
  tcase_add_loop_test(cut, rising_labels_are_cut_where_groups_end, 0, 300);
  tcase_add_test(cut, labels_that_fall_are_not_cut);
  suite_add_tcase(suite, cut);
  TCase *pairs = tcase_create("labels with their groups");
  tcase_set_timeout(pairs, 120); /* under sanitizers on a busy machine */
  tcase_add_loop_test(pairs, pairs_are_dealt_without_conflicts, 0, (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, pairs);
  return suite_run(suite);
}
