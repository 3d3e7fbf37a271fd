/* The lists of a table for labels along the fastest axis: that every label of a tile is in them once, and that the
 * lanes of a warp read from different banks of shared memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/groups/table.h"
#include "gpuplan/launch.h"
#include "gpuplan/operands/zones.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/suite.h"

enum { LABELS = 8760, WIDTH = 8960, LANES = 32, QUAD = 4 };

static const struct {
  ndr_dtype dtype;
  int groups, bytes, at_once; /* at_once: lanes that shared memory serves at once */
} cases[] = {{NDR_F32, 12, 4, 32}, {NDR_F32, 366, 4, 32}, {NDR_F64, 40, 8, 16}, {NDR_C128, 12, 16, 8}};

static ndr_table *scattered_table(int groups) {
  static int32_t labels[LABELS];
  rng random = {test_seed()};
  for (int i = 0; i < LABELS; i++) labels[i] = (int32_t)rng_between(&random, 0, groups - 1);
  DLTensor tensor = ndr_tensor(labels, NDR_I32, NDR_SHAPE(LABELS));
  ndr_groups *made = NULL;
  ndr_table *table = NULL;
  assert_ok(ndr_groups_create(&made, &tensor, groups));
  assert_ok(ndr_table_make(&table, made, 0, LABELS));
  ndr_groups_destroy(made);
  return table;
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
    for (int task = ints[8 + 4 * tile]; task < ints[9 + 4 * tile]; task++) {
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

int main(void) {
  Suite *suite = suite_create("gpuplan zones");
  TCase *one = tcase_create("lists");
  tcase_add_loop_test(one, lanes_read_from_different_banks, 0, (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, one);
  return suite_run(suite);
}
