/* Every kernel of every instruction set folds the same tiles into the same bits, whatever a tile's shape: rows of
 * outputs, runs of one output or of several, dense or with gaps, with room before and after. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/fold/fold.h"
#include "support/array.h"
#include "support/cases.h"
#include "support/suite.h"

enum { MOST_ROWS = 40, PITCH = NDR_LANES };

static const ndr_isa *known[3];
static int known_count;

/* Those that this machine has: the widest one has all that come before it. */
static void find_known(void) {
  const ndr_isa *const all[] = {ndr_isa_baseline, ndr_isa_avx2, ndr_isa_avx512}, *widest = ndr_isa_here();
  known_count = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i]) known[known_count++] = all[i];
    if (all[i] == widest) return;
  }
}

/* Lanes around the widths of registers, and those that have loops of their own. */
static int64_t any_lanes(rng *random) {
  static const int64_t usual[] = {8, 16, 32, 64, 128, 256, 512, 1024};
  int64_t lanes = usual[rng_between(random, 0, sizeof usual / sizeof *usual - 1)];
  if (rng_once_in(random, 2)) lanes += rng_between(random, -2, 2);
  if (rng_once_in(random, 3)) lanes = rng_between(random, 1, 70);
  return lanes > NDR_LANES ? NDR_LANES : lanes;
}

/* Makes a tile a run, whose elements follow each other in memory and mostly in index. */
static void make_run(rng *random, ndr_tile *tile) {
  tile->lanes = rng_once_in(random, 2) ? 32 : 64;
  tile->period = 1;
  tile->row_stride = tile->lanes;
  tile->index_lane = rng_between(random, 1, 3);
  if (!rng_once_in(random, 4)) tile->index_row = tile->lanes * tile->index_lane;
}

static ndr_tile any_tile(rng *random) {
  ndr_tile tile = {.lanes = any_lanes(random), .rows = rng_between(random, 1, MOST_ROWS), .lane_stride = 1};
  tile.period = rng_once_in(random, 2) ? tile.lanes : 1;
  if (rng_once_in(random, 4))
    for (tile.period = rng_between(random, 1, tile.lanes); tile.lanes % tile.period != 0;) tile.period--;
  tile.row_stride = tile.lanes + (rng_once_in(random, 2) ? rng_between(random, 1, 20) : 0);
  tile.index = rng_between(random, 0, 1000);
  tile.index_row = rng_between(random, 0, 3000);
  tile.index_lane = rng_between(random, -3, 3);
  if (rng_once_in(random, 4)) make_run(random, &tile);
  if (rng_once_in(random, 8)) { /* all but a run: the last lanes are missing */
    tile.period = 1;
    tile.row_stride = rng_once_in(random, 2) ? 32 : 16;
    tile.lanes = tile.row_stride - rng_between(random, 1, 4);
  }
  tile.cached = rng_once_in(random, 4);
  tile.in_f64 = rng_once_in(random, 4);
  tile.fresh = rng_once_in(random, 2);
  return tile;
}

/* The states of a first tile, to which `tile` is added unless it is fresh. */
static void fold(ndr_fold *kernel, const ndr_tile *tile, uint64_t *states) {
  ndr_tile first = *tile;
  for (int64_t w = 0; w < NDR_MAX_WORDS; w++) memset(states + w * PITCH, 0, (size_t)tile->period * sizeof *states);
  first.fresh = true;
  if (!tile->fresh) kernel(&first, states, PITCH);
  kernel(tile, states, PITCH);
}

static bool same(uint64_t a, uint64_t b) {
  double x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  return a == b || (isnan(x) && isnan(y));
}

/* The first word that differs, or -1. */
static int64_t differs(const ndr_tile *tile, const uint64_t *a, const uint64_t *b) {
  for (int64_t word = 0; word < NDR_MAX_WORDS; word++)
    for (int64_t i = word * PITCH; i < word * PITCH + tile->period; i++)
      if (!same(a[i], b[i])) return i;
  return -1;
}

static void check(const ndr_tile *tile, bool skip, ndr_dtype dtype, ndr_op op) {
  static uint64_t expected[NDR_MAX_WORDS * PITCH], got[NDR_MAX_WORDS * PITCH];
  ndr_tile without_spare = *tile;
  if (!known[0]->fold[skip][dtype][op]) return;
  without_spare.spare = 0;
  fold(known[0]->fold[skip][dtype][op], &without_spare, expected);
  for (int i = tile->spare ? 0 : 1; i < known_count; i++) { /* 0: with and without spare elements */
    fold(known[i]->fold[skip][dtype][op], tile, got);
    int64_t w = differs(tile, expected, got);
    ck_assert_msg(
        w < 0,
        "%s of %s%s, %s: %lld lanes x %lld rows, pitch %lld, period %lld, %lld spare: word %lld of output %lld differs "
        "(seed %llu)",
        ndr_op_name(op), ndr_dtype_name(dtype), skip ? " without NaN" : "", known[i]->name, (long long)tile->lanes,
        (long long)tile->rows, (long long)tile->row_stride, (long long)tile->period, (long long)tile->spare,
        (long long)(w / PITCH), (long long)(w % PITCH), (unsigned long long)test_seed());
  }
}

/* Memory that ends where the tile's spare elements do, and begins some elements before it. */
static void check_dtype(rng *random, ndr_dtype dtype) {
  ndr_tile tile = any_tile(random);
  ndr_problem c = NDR_PROBLEM_INIT;
  test_array memory;
  int64_t shift = rng_between(random, 0, 15), size = shift + (tile.rows - 1) * tile.row_stride + tile.lanes;
  c.dtype = dtype;
  c.op_count = 1;
  tile.spare = rng_once_in(random, 2) ? rng_between(random, 1, 70) : 0;
  size += tile.spare;
  array_make(&memory, dtype, 1, &size, NULL);
  array_fill(&memory, random, random_filling_of(random, &c));
  tile.data = (const char *)memory.tensor.data + memory.tensor.byte_offset + (size_t)shift * ndr_dtype_bytes(dtype);
  for (int skip = 0; skip < 2; skip++)
    for (int op = 0; op < NDR_OP_COUNT; op++) check(&tile, skip != 0, dtype, (ndr_op)op);
  array_free(&memory);
}

/* ---- kernels with factors ---- */

/* The kernels of an instruction set for a dtype: those with weights, by their dtype and without and with NaN left out;
 * masked ones, sums of products and of squared differences, and counts of comparisons. */
enum { WEIGHTED_GROUPS = 4, MASKED_GROUP = WEIGHTED_GROUPS };
enum { FACTORS_KERNELS = (MASKED_GROUP + 1) * NDR_FACTORS_COUNT + 2 + NDR_COMPARE_COUNT };
static ndr_fold *factors_kernel(const ndr_isa *isa, ndr_dtype dtype, int number) {
  int group = number / NDR_FACTORS_COUNT, what = number % NDR_FACTORS_COUNT;
  if (group < WEIGHTED_GROUPS) {
    ndr_weight_dtypes dtypes = dtype == NDR_F64 ? NDR_WEIGHT_F64_F64
                               : group % 2      ? NDR_WEIGHT_F32_F64
                                                : NDR_WEIGHT_F32_F32;
    return isa->weighted[group / 2][dtypes][what];
  }
  if (group == MASKED_GROUP) return isa->masked[dtype][what];
  number -= (MASKED_GROUP + 1) * NDR_FACTORS_COUNT;
  return number == 0   ? isa->product[dtype]
         : number == 1 ? isa->squared_difference[dtype]
                       : isa->count_compared[dtype][number - 2];
}

static void check_factors(rng *random, ndr_dtype dtype) {
  static uint64_t expected[NDR_MAX_WORDS * PITCH], got[NDR_MAX_WORDS * PITCH];
  ndr_tile tile = any_tile(random);
  int64_t size = tile.rows * tile.row_stride;
  test_array elements, weights, wide, mask;
  array_make(&elements, dtype, 1, &size, NULL);
  array_make(&weights, dtype, 1, &size, NULL);
  array_make(&wide, NDR_F64, 1, &size, NULL);
  array_make(&mask, NDR_BOOL, 1, &size, NULL);
  array_fill(&elements, random, rng_once_in(random, 2) ? FILL_SMALL : FILL_WIDE);
  for (int64_t i = rng_between(random, 0, 200); i < size; i += rng_between(random, 1, 200))
    element_store(dtype, (char *)elements.memory + i * (int64_t)ndr_dtype_bytes(dtype), (element){(long double)NAN, 0});
  array_fill(&weights, random, FILL_SMALL);
  array_fill(&wide, random, FILL_SMALL);
  array_fill(&mask, random, FILL_SMALL);
  tile.data = (const char *)elements.tensor.data + elements.tensor.byte_offset;
  tile.factors_stride = rng_once_in(random, 3) ? 0 : tile.row_stride;
  for (int k = 0; k < FACTORS_KERNELS; k++) {
    int group = k / NDR_FACTORS_COUNT;
    const test_array *factors = group == MASKED_GROUP ? &mask : group < WEIGHTED_GROUPS && group % 2 ? &wide : &weights;
    tile.row_factors = group < WEIGHTED_GROUPS && rng_once_in(random, 2);
    tile.factors = (const char *)factors->tensor.data + factors->tensor.byte_offset;
    fold(factors_kernel(known[0], dtype, k), &tile, expected);
    for (int i = 1; i < known_count; i++) {
      fold(factors_kernel(known[i], dtype, k), &tile, got);
      int64_t w = differs(&tile, expected, got);
      ck_assert_msg(w < 0, "kernel %d of %s, %s: %lld lanes x %lld rows, period %lld: word %lld differs (seed %llu)", k,
                    ndr_dtype_name(dtype), known[i]->name, (long long)tile.lanes, (long long)tile.rows,
                    (long long)tile.period, (long long)w, (unsigned long long)test_seed());
    }
  }
  array_free(&elements);
  array_free(&weights);
  array_free(&wide);
  array_free(&mask);
}

START_TEST(kernels_with_weights_or_a_mask_give_the_same_bits) {
  rng random = {test_seed()};
  find_known();
  for (int i = test_case_count(300); i > 0; i--) {
    check_factors(&random, NDR_F32);
    check_factors(&random, NDR_F64);
  }
}
END_TEST

START_TEST(instruction_sets_give_the_same_bits) {
  rng random = {test_seed()};
  find_known();
  for (int i = test_case_count(300); i > 0; i--)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) check_dtype(&random, (ndr_dtype)dtype);
}
END_TEST

static double sum_of_run(const ndr_isa *isa, ndr_dtype dtype, const uint16_t *elements, int64_t rows) {
  const ndr_tile tile = {.data = elements, .lanes = 64, .rows = rows, .row_stride = 64, .period = 1, .fresh = true};
  uint64_t word;
  double sum;
  isa->fold[0][dtype][NDR_SUM](&tile, &word, 1);
  memcpy(&sum, &word, sizeof sum);
  return sum;
}

/* Small integers have exact sums, whatever is added to what. A few rows of the largest bf16 overflow an f32. */
START_TEST(runs_of_halves_have_all_rows) {
  static uint16_t elements[64 * NDR_ROWS];
  find_known();
  for (int i = 0; i < known_count; i++) {
    double sum = 0;
    for (int64_t rows = 1; rows <= NDR_ROWS; rows++) {
      for (int64_t e = (rows - 1) * 64; e < rows * 64; e++) {
        elements[e] = ndr_f16_from_double((double)(e % 61));
        sum += (double)(e % 61);
      }
      ck_assert_msg(sum_of_run(known[i], NDR_F16, elements, rows) == sum, "%s, %lld rows", known[i]->name,
                    (long long)rows);
    }
    elements[100] = 0x7c00;
    ck_assert(isinf(sum_of_run(known[i], NDR_F16, elements, 16)));
    for (int64_t e = 0; e < 64 * NDR_ROWS; e++) elements[e] = 0x7f7f;
    ck_assert(sum_of_run(known[i], NDR_BF16, elements, 100) == 6400 * (double)ndr_bf16_to_float(0x7f7f));
  }
}
END_TEST

/* Whether what a run comes to does not depend on the order of its elements. */
static bool is_exact(ndr_dtype dtype, ndr_op op) {
  const bool floats = ndr_dtype_is_float(dtype) || ndr_dtype_is_complex(dtype);
  const bool wide = ndr_dtype_bytes(dtype) > 2, real = ndr_op_is_real(op);
  if (ndr_op_is_truth(op) || op == NDR_MIN || op == NDR_MAX || op == NDR_PTP || ndr_op_is_index(op)) return true;
  return !floats && op != NDR_LOGSUMEXP && !(wide && real);
}

/* Zeros of both signs are one. */
static bool equal(uint64_t a, uint64_t b) {
  return same(a, b) || ((a | b) << 1) == 0;
}

/* The same elements, with other elements between the rows, are folded as rows of lanes. */
static void check_run(rng *random, ndr_dtype dtype, const ndr_isa *isa) {
  static uint64_t expected[NDR_MAX_WORDS * PITCH], got[NDR_MAX_WORDS * PITCH];
  enum { GAP = 3 };
  const int64_t bytes = (int64_t)ndr_dtype_bytes(dtype);
  ndr_tile tile = {.lanes = rng_between(random, 1, 300), .rows = rng_between(random, 1, MOST_ROWS), .period = 1};
  ndr_problem c = NDR_PROBLEM_INIT;
  c.dtype = dtype;
  c.op_count = 1;
  tile.row_stride = tile.lanes + GAP;
  tile.index = rng_between(random, 0, 1000);
  tile.index_lane = rng_between(random, 1, 3);
  tile.index_row = tile.index_lane * tile.lanes;
  tile.fresh = rng_once_in(random, 2);
  const int64_t size = tile.rows * tile.row_stride;
  test_array memory;
  array_make(&memory, dtype, 1, &size, NULL);
  array_fill(&memory, random, random_filling_of(random, &c));
  ndr_tile run = tile;
  char *rows = (char *)memory.tensor.data + memory.tensor.byte_offset, *dense = malloc((size_t)(size * bytes));
  for (int64_t r = 0; r < tile.rows; r++)
    memcpy(dense + r * tile.lanes * bytes, rows + r * tile.row_stride * bytes, (size_t)(tile.lanes * bytes));
  tile.data = rows;
  run.data = dense;
  run.row_stride = run.lanes;
  for (int o = 0; o < 2 * NDR_OP_COUNT; o++) {
    const ndr_op op = (ndr_op)(o / 2);
    ndr_fold *kernel = isa->fold[o % 2][dtype][op];
    if (!kernel || !is_exact(dtype, op)) continue;
    fold(kernel, &tile, expected);
    fold(kernel, &run, got);
    for (int w = 0; w < NDR_MAX_WORDS; w++)
      ck_assert_msg(equal(expected[w * PITCH], got[w * PITCH]),
                    "%s of %s%s, %s: %lld lanes x %lld rows: word %d differs (seed %llu)", ndr_op_name(op),
                    ndr_dtype_name(dtype), o % 2 ? " without NaN" : "", isa->name, (long long)run.lanes,
                    (long long)run.rows, w, (unsigned long long)test_seed());
  }
  free(dense);
  array_free(&memory);
}

/* A tile whose lanes have contiguous elements, in memory that ends with it. */
static ndr_tile any_lane_tile(rng *random, ndr_dtype dtype, test_array *memory) {
  ndr_tile tile = {.lanes = rng_between(random, 1, 20), .rows = rng_between(random, 1, 3000), .row_stride = 1};
  ndr_problem c = NDR_PROBLEM_INIT;
  c.dtype = dtype;
  c.op_count = 1;
  if (rng_once_in(random, 2)) tile.rows = rng_between(random, 1, 40);
  tile.period = tile.lanes;
  tile.lane_stride = tile.rows + (rng_once_in(random, 2) ? rng_between(random, 1, 30) : 0);
  tile.index = rng_between(random, 0, 1000);
  tile.index_row = rng_between(random, 1, 3);
  tile.fresh = rng_once_in(random, 2);
  const int64_t size = (tile.lanes - 1) * tile.lane_stride + tile.rows;
  array_make(memory, dtype, 1, &size, NULL);
  array_fill(memory, random, random_filling_of(random, &c));
  tile.data = (char *)memory->tensor.data + memory->tensor.byte_offset;
  return tile;
}

/* The state of a lane, whose elements the plain kernel folds a few at a time, as rows of a table: those are no run. */
static void fold_lane(ndr_fold *kernel, const ndr_tile *tile, int64_t lane, int64_t bytes, uint64_t *states) {
  enum { FEW = 8 };
  static const int32_t places[FEW] = {0, 1, 2, 3, 4, 5, 6, 7};
  const char *from = (const char *)tile->data + lane * tile->lane_stride * bytes;
  for (int pass = tile->fresh; pass < 2; pass++)
    for (int64_t row = 0; row < tile->rows; row += FEW) {
      const int64_t some = tile->rows - row < FEW ? tile->rows - row : FEW;
      const ndr_tile part = {.data = from + row * bytes,
                             .lanes = 1,
                             .rows = some,
                             .row_stride = 1,
                             .rows_at = places,
                             .period = 1,
                             .index = tile->index + row * tile->index_row,
                             .index_row = tile->index_row,
                             .cached = true,
                             .fresh = row == 0 && pass == tile->fresh};
      kernel(&part, states, PITCH);
    }
}

static void check_along(const ndr_tile *tile, ndr_dtype dtype, ndr_op op, const ndr_isa *isa) {
  static uint64_t expected[NDR_MAX_WORDS * PITCH], got[NDR_MAX_WORDS * PITCH];
  const bool moments = op == NDR_VAR || op == NDR_STD; /* joined otherwise, and rounded */
  if (!isa->along[dtype][op]) return;
  fold(isa->along[dtype][op], tile, got);
  for (int64_t l = 0; l < tile->lanes; l++) {
    memset(expected, 0, sizeof expected);
    fold_lane(isa->fold[0][dtype][op], tile, l, (int64_t)ndr_dtype_bytes(dtype), expected);
    for (int w = 0; w < NDR_MAX_WORDS; w++) {
      double x, y;
      memcpy(&x, &expected[w * PITCH], sizeof x);
      memcpy(&y, &got[w * PITCH + l], sizeof y);
      const bool near = moments && fabs(x - y) <= 1e-10 * (1 + fabs(x));
      ck_assert_msg(near || equal(expected[w * PITCH], got[w * PITCH + l]),
                    "%s of %s, %s: lane %lld of %lld elements: word %d differs (seed %llu)", ndr_op_name(op),
                    ndr_dtype_name(dtype), isa->name, (long long)l, (long long)tile->rows, w,
                    (unsigned long long)test_seed());
    }
  }
}

/* What kernels of `across` give does not depend on the instruction set. */
static void check_across(const ndr_tile *tile, ndr_dtype dtype, ndr_op op, const ndr_isa *isa) {
  static uint64_t expected[NDR_MAX_WORDS * PITCH], got[NDR_MAX_WORDS * PITCH];
  if (!known[0]->across[dtype][op] || !isa->across[dtype][op]) return;
  fold(known[0]->across[dtype][op], tile, expected);
  fold(isa->across[dtype][op], tile, got);
  const int64_t w = differs(tile, expected, got);
  ck_assert_msg(w < 0, "%s of %s, %s: %lld lanes of %lld elements: word %lld differs (seed %llu)", ndr_op_name(op),
                ndr_dtype_name(dtype), isa->name, (long long)tile->lanes, (long long)tile->rows, (long long)w,
                (unsigned long long)test_seed());
}

START_TEST(lanes_are_folded_as_they_lie) {
  rng random = {test_seed()};
  find_known();
  for (int i = test_case_count(100); i > 0; i--)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
      test_array memory;
      const ndr_tile tile = any_lane_tile(&random, (ndr_dtype)dtype, &memory);
      for (int k = 0; k < known_count; k++)
        for (int op = 0; op < NDR_OP_COUNT; op++) {
          check_along(&tile, (ndr_dtype)dtype, (ndr_op)op, known[k]);
          check_across(&tile, (ndr_dtype)dtype, (ndr_op)op, known[k]);
        }
      array_free(&memory);
    }
}
END_TEST

START_TEST(runs_are_what_their_rows_are) {
  rng random = {test_seed()};
  find_known();
  for (int i = test_case_count(100); i > 0; i--)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++)
      for (int k = 0; k < known_count; k++) check_run(&random, (ndr_dtype)dtype, known[k]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu kernels");
  suite_case(suite, "kernels", 120, instruction_sets_give_the_same_bits,
             kernels_with_weights_or_a_mask_give_the_same_bits, runs_of_halves_have_all_rows,
             runs_are_what_their_rows_are, lanes_are_folded_as_they_lie, NULL);
  return suite_run(suite);
}
