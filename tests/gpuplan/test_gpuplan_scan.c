/* Plans of scans for a GPU, which is numbers here: launches fit, and cover every element once. */
#include <string.h>

#include "gpuplan/launch.h"
#include "gpuplan/scan/scan.h"
#include "ndreduce/operator.h"
#include "support/gpus.h"
#include "support/scans.h"
#include "support/suite.h"

static const ndr_scan_family *const families[] = {&ndr_scan_family_lines, &ndr_scan_family_columns,
                                                  &ndr_scan_family_bands, &ndr_scan_family_streams, NULL};
static const char *const names[] = {"lines", "columns", "bands", "streams"};
static const struct ndr_scan_calls calls = {families, NULL, NULL};
static const ndr_backend backend = {.name = "cuda", .scans = &calls};

static ndr_status plan_scan(ndr_scan_plan *plan, const scan_case *given, const ndr_device *device, const char *family) {
  ndr_scan_options options;
  memset(plan, 0, sizeof *plan);
  assert_ok(ndr_scan_options_read(&given->options, &options));
  const ndr_scan_call call = {&given->array.tensor, given->dim, given->op, NULL, &options};
  assert_ok(ndr_scan_problem_make(&plan->problem, &call));
  plan->device = *device;
  plan->backend = &backend;
  return ndr_scan_choose(plan, family);
}

START_TEST(no_compiler_is_the_reason) {
  rng random = {test_seed()};
  scan_case given;
  ndr_scan_plan plan;
  ndr_device device = gpus[2];
  device.compiles = 0;
  scan_random(&given, &random, 100);
  assert_fails(plan_scan(&plan, &given, &device, NULL), NDR_ERR_UNSUPPORTED, "scans need NVRTC (libnvrtc.so)");
  ndr_scan_problem_free(&plan.problem);
  assert_fails(plan_scan(&plan, &given, &device, "lines"), NDR_ERR_UNSUPPORTED, "scans need NVRTC (libnvrtc.so)");
  ndr_scan_problem_free(&plan.problem);
  scan_free(&given);
}
END_TEST

/* An H200 with NVRTC. */
static ndr_device compiling(void) {
  ndr_device device = gpus[2];
  device.compiles = 1;
  return device;
}

/* Tiles, groups of them and prefixes of the largest groups, counted one by one. */
static int64_t nodes_of(const ndr_scan_launch *l, int words) {
  int64_t group = l->columns ? 16 : words == 1 ? 256 : words <= 4 ? 128 : 32, nodes = 0;
  int64_t upper = !l->columns && words <= 4 ? 1 : 32;
  if (l->known & NDR_SCAN_ALONE || l->tiles == 1 || l->units) return 0;
  if (l->known & NDR_SCAN_CHAIN) return l->tiles;
  for (int64_t tile = 0; tile < l->tiles; tile++)
    nodes += 1 + (upper > 1 && tile % group == 0) + (tile % (group * upper) == 0);
  return nodes;
}

/* Bytes of the arrays in shared memory that kernels/scan/scan_lines.cuh and the other families' kernels declare. */
static int64_t static_bytes(const ndr_scan_launch *l, int words) {
  int64_t columns = l->columns ? l->columns : 1, units = l->block / columns, states = l->block + l->block / 4;
  if (l->units) {
    states += 2 * columns; /* carried, before_tile */
  } else if (l->known & (NDR_SCAN_WHOLE | NDR_SCAN_ALONE)) {
    states = (words * l->beside <= 8 ? 2 : 1) * states + 2 * l->columns; /* carried */
  } else {
    states += 4 * (units / 8 * columns + units / 64 * columns + 1); /* upper */
    states += 4 * columns + (l->columns ? 2 : 3) * 5 * columns;     /* wholes, tiles */
    if (!l->columns) states += 32 + 32 / 8;                         /* room */
  }
  return states * words * l->beside * 8;
}

static void check_shared(const ndr_scan_plan *plan, const ndr_device *device) {
  const ndr_scan_launch *l = ndr_scan_plan_launch(plan);
  ndr_state state = ndr_scan_gpu_state(&plan->problem);
  int64_t fixed = static_bytes(l, ndr_state_size(&state)), block = l->shared_bytes + fixed;
  ck_assert_int_le(fixed, 48 << 10);
  ck_assert_int_le(block, device->shared_bytes_per_block);
  if (l->residents > 1) ck_assert_int_le((block + 1024) * l->residents, device->shared_bytes_per_unit);
}

/* One that the family of that number may run. */
static void make_case(scan_case *given, rng *random, int family) {
  const int64_t columns = rng_between(random, 2, 256);
  if (family == 3)
    scan_in_streams(given, random, rng_between(random, 2, 1000000 / columns), columns % 24 + 1);
  else if (family == 2)
    scan_in_bands(given, random, rng_between(random, 1, 100000 / columns), columns);
  else
    scan_random(given, random, INT64_C(1) << rng_between(random, 0, 23));
}

START_TEST(blocks_have_shared_memory) {
  rng random = {test_seed() + (uint64_t)_i};
  ndr_device device = gpus[_i / 4 % GPU_COUNT];
  scan_case given;
  ndr_scan_plan plan;
  device.compiles = 1;
  make_case(&given, &random, _i % 4);
  ndr_status status = plan_scan(&plan, &given, &device, names[_i % 4]);
  if (status == NDR_OK && !ndr_scan_is_empty(&plan.problem)) check_shared(&plan, &device);
  ndr_scan_problem_free(&plan.problem);
  scan_free(&given);
}
END_TEST

/* States of 8 and 15 words. */
START_TEST(large_states_fit_or_are_refused) {
  static const char text[] = "w(x): a += x, b += x * 2, c += x * 3, d += x * 4, e += x * 5, f += x * 6, g += x * 7, n "
                             "+= 1 -> a + b + c + d + e "
                             "+ f + g + n";
  ndr_device device = gpus[_i];
  ndr_scan_plan plan;
  ndr_op op;
  device.compiles = 1;
  assert_ok(ndr_operator_create(&op, text, NULL, 0));
  for (int complex = 0; complex < 2; complex++) {
    const ndr_scan_options options = NDR_SCAN_OPTIONS_INIT;
    for (int64_t size = 100; size < 1000000; size *= 100) {
      const DLTensor array = ndr_tensor(NULL, complex ? NDR_C64 : NDR_F32, NDR_SHAPE(3, size));
      const ndr_scan_call call = {&array, 1, op, NULL, &options};
      memset(&plan, 0, sizeof plan);
      assert_ok(ndr_scan_problem_make(&plan.problem, &call));
      plan.device = device;
      plan.backend = &backend;
      if (complex && size > 256) {
        assert_fails(ndr_scan_choose(&plan, NULL), NDR_ERR_UNSUPPORTED, "states have too many words");
      } else {
        assert_ok(ndr_scan_choose(&plan, NULL));
        check_shared(&plan, &device);
      }
      ndr_scan_problem_free(&plan.problem);
    }
  }
  ndr_operator_destroy(op);
}
END_TEST

/* All tiles that blocks have in hand, and those that keepers look at, have slots of their own. */
static void check_ring(const ndr_scan_launch *l) {
  ck_assert_int_gt(l->grid, l->keepers);
  ck_assert_int_ge(1 << l->ring, (int)(l->grid - (unsigned)l->keepers) * NDR_SCAN_TURNS);
  ck_assert_int_le(l->lines * l->columns, l->keepers * (l->threads / NDR_WARP_THREADS));
  ck_assert_int_lt(l->grid * NDR_SCAN_TURNS, 1 << 16);
}

START_TEST(launches_cover_every_element) {
  rng random = {test_seed() + (uint64_t)_i};
  scan_case given;
  ndr_scan_plan plan;
  ndr_device device = compiling();
  char text[256];
  make_case(&given, &random, _i % 4);
  ndr_status status = plan_scan(&plan, &given, &device, names[_i % 4]);
  if (_i % 4 == 0 || (_i % 4 >= 2 && given.array.shape[1] > 1)) assert_ok(status);
  if (status == NDR_OK && !ndr_scan_is_empty(&plan.problem)) {
    const ndr_scan_launch *l = ndr_scan_plan_launch(&plan);
    const ndr_scan_problem *problem = &plan.problem;
    ndr_state state = ndr_scan_gpu_state(problem);
    int64_t lines = l->units     ? l->lines * l->columns
                    : l->columns ? l->lines * problem->kept[0].size
                                 : l->lines * l->beside;
    ck_assert_int_eq(lines, problem->lines);
    ck_assert_int_eq(l->nodes, nodes_of(l, ndr_state_size(&state) * l->beside));
    ck_assert_int_le(l->shared_bytes, (l->keepers ? 113 : 100) << 10); /* streams: half of a multiprocessor's */
    ck_assert_int_le((int64_t)l->shared_bytes * l->residents, gpus[2].shared_bytes_per_unit);
    ck_assert(l->grid >= 1 && l->grid <= l->items + l->keepers);
    if (l->keepers) check_ring(l);
    if (l->known & NDR_SCAN_WHOLE) {
      ck_assert(l->items * l->tile_lines >= l->lines && (l->items - 1) * l->tile_lines < l->lines);
      ck_assert_int_le(l->tile, l->block * l->elements);
    } else {
      ck_assert(l->tiles * l->tile >= problem->length && (l->tiles - 1) * l->tile < problem->length);
      const int64_t beside = l->lines * (l->columns ? l->column_tiles : 1);
      ck_assert_int_eq(l->items, l->known & NDR_SCAN_ALONE ? beside : l->tiles * beside);
      ck_assert_int_eq(l->tile % l->elements, 0);
    }
    if (l->columns) ck_assert_int_ge(l->column_tiles * l->columns * l->beside, problem->kept[0].size);
    ck_assert_uint_gt(plan.family->describe(&plan, text, sizeof text), 0);
  }
  ndr_scan_problem_free(&plan.problem);
  scan_free(&given);
}
END_TEST

/* Costs of families are asked for empty arrays, too. */
START_TEST(empty_arrays_have_plans) {
  static int64_t shapes[][3] = {{0, 100, 5}, {3, 0, 5}, {3, 100, 0}};
  const ndr_device device = compiling();
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const ndr_scan_options options = NDR_SCAN_OPTIONS_INIT;
    const DLTensor array = ndr_tensor(NULL, NDR_F32, 3, shapes[i]);
    const ndr_scan_call call = {&array, 1, NDR_SUM, NULL, &options};
    ndr_scan_plan plan;
    memset(&plan, 0, sizeof plan);
    assert_ok(ndr_scan_problem_make(&plan.problem, &call));
    plan.device = device;
    plan.backend = &backend;
    assert_ok(ndr_scan_choose(&plan, NULL));
    ndr_scan_problem_free(&plan.problem);
  }
}
END_TEST

/* Kernels number tiles by 32 bits. */
START_TEST(too_many_tiles_are_refused) {
  static const struct {
    int64_t shape[2];
    int dim;
    const char *family;
  } cases[] = {{{INT64_C(1) << 32, 1 << 10}, 1, "lines"},
               {{2, INT64_C(1) << 46}, 0, "columns"},
               {{INT64_C(1) << 46, 2}, 0, "columns"}};
  const ndr_scan_options options = NDR_SCAN_OPTIONS_INIT;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const DLTensor array = ndr_tensor(NULL, NDR_U8, NDR_SHAPE(cases[i].shape[0], cases[i].shape[1]));
    const ndr_scan_call call = {&array, cases[i].dim, NDR_MAX, NULL, &options};
    ndr_scan_plan plan = {.device = compiling(), .backend = &backend};
    assert_ok(ndr_scan_problem_make(&plan.problem, &call));
    assert_fails(ndr_scan_choose(&plan, cases[i].family), NDR_ERR_UNSUPPORTED, "there are too many tiles");
    ndr_scan_problem_free(&plan.problem);
  }
}
END_TEST

/* Many columns, at pitches that are whole sectors or not, have strips whatever their dtype. */
START_TEST(many_columns_have_strips) {
  static const ndr_dtype dtypes[] = {NDR_U8, NDR_BF16, NDR_F32, NDR_F64, NDR_C128};
  const ndr_scan_options options = NDR_SCAN_OPTIONS_INIT;
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    for (int64_t rows = 3; rows < 20000; rows *= 17)
      for (int64_t columns = 1000000; columns < 1000002; columns++) {
        const DLTensor array = ndr_tensor(NULL, dtypes[i], NDR_SHAPE(rows, columns));
        const ndr_scan_call call = {&array, 0, NDR_SUM, NULL, &options};
        ndr_scan_plan plan = {.device = compiling(), .backend = &backend};
        assert_ok(ndr_scan_problem_make(&plan.problem, &call));
        assert_ok(ndr_scan_choose(&plan, "columns"));
        ck_assert_msg(ndr_scan_plan_launch(&plan)->known & NDR_SCAN_ALONE, "%s [%lld,%lld]", ndr_dtype_name(dtypes[i]),
                      (long long)rows, (long long)columns);
        ndr_scan_problem_free(&plan.problem);
      }
}
END_TEST

/* Tiles are full, but where room is left for what they lead with. */
START_TEST(rows_fill_their_tiles) {
  static const struct {
    ndr_dtype dtype;
    int64_t length;
    int longer, lines, leads;
  } cases[] = {{NDR_U8, 255, 0, 8, 0},   {NDR_F32, 256, 0, 16, 1}, {NDR_F32, 1024, 0, 4, 1},
               {NDR_F32, 1023, 0, 3, 1}, {NDR_F32, 1024, 1, 4, 0}, {NDR_F64, 1024, 0, 2, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const ndr_scan_options given = {.size = sizeof given, .include_initial = cases[i].longer};
    const DLTensor array = ndr_tensor(NULL, cases[i].dtype, NDR_SHAPE(10000, cases[i].length));
    ndr_scan_options options;
    ndr_scan_plan plan = {.device = compiling(), .backend = &backend};
    assert_ok(ndr_scan_options_read(&given, &options));
    const ndr_scan_call call = {&array, 1, NDR_SUM, NULL, &options};
    assert_ok(ndr_scan_problem_make(&plan.problem, &call));
    assert_ok(ndr_scan_choose(&plan, "lines"));
    ck_assert_int_eq(ndr_scan_plan_launch(&plan)->tile_lines, cases[i].lines);
    ck_assert_int_eq((ndr_scan_plan_launch(&plan)->known & NDR_SCAN_LEADS) != 0, cases[i].leads);
    ndr_scan_problem_free(&plan.problem);
  }
}
END_TEST

/* Where scan_moved of kernels/scan/scan_tile.cuh puts the last byte of a warp's elements, from any boundary on. */
START_TEST(warps_have_room_for_what_they_move) {
  for (int alignment = 1; alignment <= 4; alignment *= 2) {
    for (int bytes = NDR_WARP_THREADS * alignment; bytes <= 8192; bytes += NDR_WARP_THREADS * alignment) {
      int end = bytes + (alignment < 4 ? 15 : 0), farthest = 0;
      for (int byte = 0; byte < end; byte++) {
        int at = byte ^ (byte >> 3 & 0x70);
        farthest = at > farthest ? at : farthest;
      }
      ck_assert_int_lt(farthest, NDR_SCAN_ROOM(bytes, alignment));
    }
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("plans of scans on a GPU");
  TCase *cases = tcase_create("plans");
  tcase_add_test(cases, no_compiler_is_the_reason);
  tcase_add_loop_test(cases, blocks_have_shared_memory, 0, test_case_count(300));
  tcase_add_loop_test(cases, large_states_fit_or_are_refused, 0, GPU_COUNT);
  tcase_add_test(cases, warps_have_room_for_what_they_move);
  tcase_add_test(cases, empty_arrays_have_plans);
  tcase_add_loop_test(cases, launches_cover_every_element, 0, test_case_count(200));
  tcase_add_test(cases, too_many_tiles_are_refused);
  tcase_add_test(cases, many_columns_have_strips);
  tcase_add_test(cases, rows_fill_their_tiles);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
