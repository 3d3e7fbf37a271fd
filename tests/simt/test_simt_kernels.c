/* Every kernel of one dtype, named on the command line, under emulation: each operator in each family, over random
 * problems around the widths of vectors, warps, tiles and blocks. A second word and a seed repeat one case:
 *   test_simt_kernels f32 [sum tree 1234] */
#include <stdio.h>
#include <stdlib.h>

#include "forced.h"
#include "support/gpus.h"
#include "support/suite.h"

static const char *const families[] = {"tree", "thread", "tile"};
enum { FAMILIES = sizeof families / sizeof *families, MOST_ELEMENTS = 6000 };

static ndr_dtype dtype;

/* What plans are for; NULL: the array's device. */
static const ndr_device *planned_for;

/* Each dtype has problems of its own, so that all together try more than one does. */
static uint64_t first_seed(void) {
  return test_seed() + (uint64_t)dtype * 10000019;
}

static outcome run_seed(ndr_op op, const char *family, uint64_t seed) {
  rng random = {seed};
  ndr_problem problem = NDR_PROBLEM_INIT;
  directed_case(&random, dtype, op, family, MOST_ELEMENTS, &problem);
  twist how = random_twist(&random, dtype);
  announce_case(&problem, family, &how, seed);
  return run_forced(&problem, family, planned_for, &how, &random);
}

START_TEST(test_operator) {
  ndr_op op = (ndr_op)_i;
  int cases = test_case_count(5);
  if (!op_defined(op, dtype)) return;
  for (int f = 0; f < FAMILIES; f++) {
    int ran = 0;
    for (int i = 0; i < cases; i++) {
      outcome came = run_seed(op, families[f], first_seed() + (uint64_t)((f * NDR_OP_COUNT + _i) * 100000 + i));
      ck_assert_msg(!came.why[0], "%s\n  %s", announced_case(), came.why);
      ran += came.ran;
    }
    ck_assert_msg(ran * 3 > cases || test_share() > 1, "%s ran %d of %d cases", families[f], ran, cases);
  }
}
END_TEST

/* Rows of which a vector holds several, from every place in a vector on, in numbers that leave ends over. */
START_TEST(test_rows_in_vectors) {
  static const int counts[] = {1, 5, 1021, 4099};
  static const ndr_op ops[] = {NDR_SUM, NDR_MEAN, NDR_COUNT, NDR_NORMINF};
  rng random = {first_seed()};
  for (int bytes = 1; bytes <= 16; bytes++) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      ndr_problem problem = NDR_PROBLEM_INIT;
      char text[64];
      ndr_op op = ops[rng_between(&random, 0, 3)];
      twist how = {.past = (size_t)(bytes % 16) / ndr_dtype_alignment(dtype) * ndr_dtype_alignment(dtype)};
      snprintf(text, sizeof text, "%s %s [%d,%d] /1", ndr_op_name(op), ndr_dtype_name(dtype), counts[i], 1 << _i);
      assert_ok(ndr_problem_parse(text, &problem));
      announce_case(&problem, "tile", &how, first_seed());
      outcome came = run_forced(&problem, "tile", planned_for, &how, &random);
      ck_assert_msg(!came.why[0], "%s\n  %s", announced_case(), came.why);
    }
  }
}
END_TEST

/* Short runs, many of them: groups of one output and of several, dense or with gaps, wider than a block, walked along
 * one axis and along two, whose indices are not in the order of memory. */
START_TEST(test_short_runs) {
  static const char *const shapes[] = {"[16:1,100:512,32:16] /0,1",
                                       "[40,3,4] /0,2",
                                       "[37,2,16] /0,2",
                                       "[18,5,7,3] /0,2",
                                       "[16,2,30,10] /0,2",
                                       "[20,2,250] /0,2",
                                       "[19,6:23,7] /0,2",
                                       "[3:512,17:20,4:5,5] /1,3",
                                       "[6,3,7,8] /0,1,3",
                                       "[2:40,9:80,2:20,4:3,3] /0,1,3"};
  static const ndr_op ops[] = {NDR_SUM, NDR_VAR, NDR_ARGMIN, NDR_ARGMAX, NDR_COUNT};
  rng random = {first_seed()};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    if (!op_defined(ops[i], dtype)) continue;
    for (int round = test_case_count(5); round > 0; round--) {
      ndr_problem problem = NDR_PROBLEM_INIT;
      char text[64];
      twist how = random_twist(&random, dtype);
      snprintf(text, sizeof text, "%s %s %s", ndr_op_name(ops[i]), ndr_dtype_name(dtype), shapes[_i]);
      assert_ok(ndr_problem_parse(text, &problem));
      announce_case(&problem, "tile", &how, first_seed());
      outcome came = run_forced(&problem, "tile", planned_for, &how, &random);
      ck_assert_msg(!came.why[0], "%s\n  %s", announced_case(), came.why);
      ck_assert_msg(came.ran || ndr_dtype_bytes(dtype) > 4, "rejected: %s", text); /* the widest runs of 8 bytes are */
    }
  }
}
END_TEST

/* So many outputs that tiles are numbered along their results, which lie along the second kept axis or the third. */
START_TEST(test_turned_lists) {
  static const char *const texts[] = {"max f16 [70000:4,20:280000,2:1] /2",
                                      "max f16 [70000:4,10:280000,2:2800000,2:1] /3"};
  rng random = {first_seed()};
  ndr_problem problem = NDR_PROBLEM_INIT;
  twist how = {0};
  if (dtype != NDR_F16) return;
  assert_ok(ndr_problem_parse(texts[_i], &problem));
  announce_case(&problem, "tree", &how, first_seed());
  outcome came = run_forced(&problem, "tree", planned_for, &how, &random);
  ck_assert_msg(!came.why[0] && came.ran, "%s\n  %s", announced_case(), came.why);
}
END_TEST

/* Bytes from the start of a vector to an element that may lie there, around byte `place`. */
static int offset_at(int place) {
  int alignment = (int)ndr_dtype_alignment(dtype);
  return place / alignment * alignment;
}

/* Bytes between the places that are tried. 4 at most: places between two multiples of the alignment are the same. */
static int place_step(void) {
  int alignment = (int)ndr_dtype_alignment(dtype);
  return alignment < 4 ? alignment : 4;
}

enum { PLACES = 4 };

/* Test number i begins in quarter i of a vector: for elements of less than 4 bytes at a place in it that the seed
 * moves. All four together try every place between two multiples of 4. */
static int place_of(int i) {
  return 4 * i + (int)((first_seed() + 1 + (uint64_t)i) % (uint64_t)(4 / place_step())) * place_step();
}

/* Complex numbers off their size are read with steps. */
static bool is_odd(int place) {
  return offset_at(place) % (int)ndr_dtype_bytes(dtype) != 0;
}

/* Writes a random problem with the named operator that a kernel is for. */
typedef void problem_writer(rng *random, const char *op, char *text, size_t capacity);

static int vector_elements(void) {
  return 16 / (int)ndr_dtype_bytes(dtype);
}

/* Random problems from the element that holds byte `place` of a vector on. The last element ends the array, so that
 * whatever is read behind it is noticed. The kernel must have run some of them. Returns how many had turned results. */
static int check_place(int place, const char *family, ndr_kernel kernel, problem_writer *write, int cases) {
  static const ndr_op ops[] = {NDR_SUM, NDR_VAR, NDR_MIN, NDR_ARGMAX, NDR_COUNT, NDR_MEAN};
  rng random = {first_seed() + (uint64_t)place};
  int ran = 0, turned = 0;
  for (int i = test_case_count(cases); i > 0; i--) {
    ndr_problem problem = NDR_PROBLEM_INIT;
    char text[128];
    ndr_op op = ops[rng_between(&random, 0, 5)];
    if (!op_defined(op, dtype)) op = NDR_SUM;
    twist how = random_twist(&random, dtype);
    how.device = 0;
    how.past = (size_t)offset_at(place);
    write(&random, ndr_op_name(op), text, sizeof text);
    assert_ok(ndr_problem_parse(text, &problem));
    announce_case(&problem, family, &how, first_seed());
    outcome came = run_forced(&problem, family, planned_for, &how, &random);
    ck_assert_msg(!came.why[0], "%s\n  %s", announced_case(), came.why);
    ran += came.kernel == kernel;
    turned += came.turned;
  }
  ck_assert_msg(ran > 0 || is_odd(place) || test_share() > 1, "%s ran none", ndr_kernel_name(kernel));
  return turned;
}

/* Rows of `width` columns, `pitch` apart, which are summed; as an axis of their own, or in the middle of an array. */
static void write_rows(rng *random, const char *op, int outer, int count, int pitch, int width, char *text,
                       size_t capacity) {
  const char *type = ndr_dtype_name(dtype);
  if (rng_once_in(random, 3))
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:1] /1", op, type, outer,
             pitch * count + (int)rng_between(random, 0, 3), count, pitch, width);
  else
    snprintf(text, capacity, "%s %s [%d:%d,%d:1] /0", op, type, count, pitch, width);
}

static int random_gap(rng *random) {
  return rng_once_in(random, 2) ? 0 : (int)rng_between(random, 1, 20);
}

/* Columns that lie side by side in rows that begin anywhere: of a pitch that is no multiple of a vector, narrower than
 * a vector and around the widths of teams, in fewer rows than a thread loads at a time and in many. */
static void write_shifted(rng *random, const char *op, char *text, size_t capacity) {
  static const int rows[] = {1, 2, 3, 4, 5, 7, 9, 31, 64, 129};
  int team = vector_elements() << rng_between(random, 0, 8), count = rows[rng_between(random, 0, 9)];
  int width = rng_once_in(random, 2) ? (int)rng_between(random, 1, 70) : team + (int)rng_between(random, -2, 2);
  if (width < 1) width = 1;
  if (width * count > 40000) count = 40000 / width;
  write_rows(random, op, 3, count, width + random_gap(random), width, text, capacity);
}

/* Rows of whole vectors are never shifted. */
static ndr_kernel shifting_kernel(void) {
  return vector_elements() == 1 ? NDR_KERNEL_THREAD_VECTORS : NDR_KERNEL_THREAD_SHIFTED;
}

START_TEST(test_shifted_rows) {
  check_place(place_of(_i), "thread", shifting_kernel(), write_shifted, 40);
}
END_TEST

/* Rows that begin anywhere and are many: of all phases, along one axis or two, in one tile or several. */
static void write_phased(rng *random, const char *op, char *text, size_t capacity) {
  const char *type = ndr_dtype_name(dtype);
  int width = (int)rng_between(random, vector_elements(), rng_once_in(random, 2) ? 70 : 400), gap = random_gap(random);
  int pitch = width + gap, count = (int)rng_between(random, 40000 / width / 2, 40000 / width), outer = 3;
  int step =
      rng_once_in(random, 2) ? vector_elements() * (int)rng_between(random, 1, 3) : (int)rng_between(random, 1, 9);
  if (rng_once_in(random, 2))
    write_rows(random, op, outer, count, pitch, width, text, capacity);
  else
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:1] /0,1", op, type, outer, pitch * count + step, count, pitch,
             width);
}

START_TEST(test_phased_rows) {
  if (vector_elements() > 1) check_place(place_of(_i), "thread", NDR_KERNEL_THREAD_PHASED, write_phased, 40);
}
END_TEST

/* Results that lie across the columns: few columns and many, over few others and many, whose results are neighbours. */
static void write_turned(rng *random, const char *op, char *text, size_t capacity) {
  int width = (int)rng_between(random, 1, rng_once_in(random, 2) ? 70 : 400), gap = random_gap(random);
  int rows = rng_once_in(random, 2) ? 1 : (int)rng_between(random, 2, 40), pitch = width + gap;
  int most = 20000 / (width * rows) + 2, others = (int)rng_between(random, 2, most < 200 ? most : 200);
  int step = rng_once_in(random, 4) ? 2 : 1;
  snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:%d] /1", op, ndr_dtype_name(dtype), width, step, rows, pitch * step,
           others, pitch * step * rows);
}

START_TEST(test_turned_results) {
  int place = place_of(_i), turned = check_place(place, "thread", shifting_kernel(), write_turned, 40);
  ck_assert(turned > 0 || is_odd(place) || test_share() > 1);
}
END_TEST

/* Columns of two axes that merge in the array but not in the result: narrow and wide, in one tile or several. */
static void write_mapped(rng *random, const char *op, char *text, size_t capacity) {
  int first = (int)rng_between(random, 2, rng_once_in(random, 2) ? 9 : 31),
      second = (int)rng_between(random, 2, 300 / first);
  int width = first * second, rows = (int)rng_between(random, 64, 64 + 10000 / width);
  snprintf(text, capacity, "%s %s [%d:1,%d:%d,%d:%d] /1", op, ndr_dtype_name(dtype), first, rows,
           width + random_gap(random), second, first);
}

START_TEST(test_mapped_columns) {
  check_place(place_of(_i), "thread", shifting_kernel(), write_mapped, 40);
}
END_TEST

/* Dense rows of short runs: of one output and of several, in one tile or in several, wider than a block. */
static void write_dense(rng *random, const char *op, char *text, size_t capacity) {
  const char *type = ndr_dtype_name(dtype);
  int run = (int)rng_between(random, 2, 20), side = (int)rng_between(random, 2, rng_once_in(random, 2) ? 9 : 300);
  int outputs = rng_once_in(random, 2) ? 1 : (int)rng_between(random, 2, 9), width = run * outputs * side;
  int rows = (int)rng_between(random, 4, 4 + 10000 / width), pitch = width + random_gap(random);
  if (outputs == 1)
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:1] /0,2", op, type, rows, pitch, side, run, run);
  else
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:%d,%d:1] /0,2", op, type, rows, pitch, side, run * outputs, run,
             outputs, outputs);
}

START_TEST(test_dense_runs) {
  if (vector_elements() > 1) check_place(place_of(_i), "tile", NDR_KERNEL_TILE_RUN_DENSE, write_dense, 40);
}
END_TEST

/* Few rows, of enough columns that a small device gets thread_few: widths around those of a team's parts, as one long
 * row or as many. */
static void write_few(rng *random, const char *op, char *text, size_t capacity) {
  int bytes = 16 / vector_elements(),
      count = (int)rng_between(random, 2, rng_once_in(random, 2) ? NDR_FEW_LOADS(bytes) : NDR_FEW_ROWS);
  int parts = NDR_FEW_PARTS(count, bytes), team = vector_elements() << rng_between(random, 3, 8);
  int enough = 2100 * vector_elements() * parts; /* the planner wants two waves of four blocks of 256 threads */
  int width = team * (int)rng_between(random, 1, parts) + (int)rng_between(random, -2, 2 * vector_elements());
  int gap = random_gap(random), pitch = width + gap;
  if (rng_once_in(random, 2))
    snprintf(text, capacity, "%s %s [%d:%d,%d:1] /0", op, ndr_dtype_name(dtype), count, width + enough + gap,
             width + enough);
  else
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:1] /1", op, ndr_dtype_name(dtype), enough / width + 1,
             pitch * count + (int)rng_between(random, 0, 3), count, pitch, width);
}

/* As check_place, planned for a device of one multiprocessor, to which little is much. */
static void check_small(int place, const char *family, ndr_kernel kernel, problem_writer *write, int cases) {
  ndr_device small = gpus[0];
  small.units = 1;
  planned_for = &small;
  check_place(place, family, kernel, write, cases);
  planned_for = NULL;
}

START_TEST(test_few_rows) {
  check_small(place_of(_i), "thread", NDR_KERNEL_THREAD_FEW, write_few, 6);
}
END_TEST

/* Many outputs of a few elements: in several runs, or apart. */
static void write_listed(rng *random, const char *op, char *text, size_t capacity) {
  int width = (int)rng_between(random, 1, 40), runs = (int)rng_between(random, 1, 12),
      step = rng_once_in(random, 2) ? 1 : (int)rng_between(random, 2, 9), pitch = width * step + random_gap(random);
  snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:%d] /1,2", op, ndr_dtype_name(dtype),
           (int)rng_between(random, 64, 300), runs * pitch + random_gap(random), runs, pitch, width, step);
}

START_TEST(test_lists) {
  check_small(place_of(_i), "tree", NDR_KERNEL_TREE_LISTED, write_listed, 40);
}
END_TEST

/* Dense rows of 1 to 300 elements, with and without gaps. */
static void write_dense_rows(rng *random, const char *op, char *text, size_t capacity) {
  int width = (int)rng_between(random, 1, rng_once_in(random, 3) ? 300 : 70), pitch = width + random_gap(random);
  snprintf(text, capacity, "%s %s [%d:%d,%d:1] /1", op, ndr_dtype_name(dtype),
           (int)rng_between(random, 1, 6000 / width + 1), pitch, width);
}

START_TEST(test_dense_rows) {
  check_place(place_of(_i), "tile", NDR_KERNEL_TILE_ROWS, write_dense_rows, 40);
}
END_TEST

/* Outputs that lie close together: rows and columns of 1 to 70 elements, with steps and gaps, of one run or several. */
static void write_staged(rng *random, const char *op, char *text, size_t capacity) {
  const char *type = ndr_dtype_name(dtype);
  int step = rng_once_in(random, 2) ? 1 : (int)rng_between(random, 2, 8), width = (int)rng_between(random, 1, 70);
  int gap = rng_once_in(random, 2) ? 0 : (int)rng_between(random, 1, 5), pitch = width * step + gap;
  int rows = (int)rng_between(random, 1, 4000 / width + 1), columns = (int)rng_between(random, 2, 40);
  switch (rng_between(random, 0, 3)) {
  case 0: snprintf(text, capacity, "%s %s [%d:%d,%d:%d] /1", op, type, rows, pitch, width, step); break;
  case 1:
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:%d] /0,2", op, type, (int)rng_between(random, 2, 9), rows * pitch,
             rows, pitch, width, step);
    break;
  case 2:
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:%d] /1", op, type, rows / columns + 1, width * columns * step + gap,
             width, columns * step, columns, step);
    break;
  default: snprintf(text, capacity, "%s %s [%d:%d] /0", op, type, (int)rng_between(random, 500, 40000), step + 1);
  }
}

START_TEST(test_stages) {
  check_place(place_of(_i), "tile", NDR_KERNEL_TILE_STAGED, write_staged, 40);
}
END_TEST

/* Runs of one output that begin anywhere, with gaps and without, around whole vectors and the threads of a block: of
 * all outputs together, of outputs between them and of outputs around them. */
static void write_runs(rng *random, const char *op, char *text, size_t capacity) {
  const char *type = ndr_dtype_name(dtype);
  int most = rng_once_in(random, 2) ? 40 : 191; /* vectors: a run of more than 3 KiB is not for this kernel */
  int width = vector_elements() * (int)rng_between(random, 1, most) + (int)rng_between(random, 0, vector_elements());
  int gap = random_gap(random), pitch = width + gap, runs = (int)rng_between(random, 16, 20000 / width + 16);
  int others = (int)rng_between(random, 2, 9);
  switch (rng_between(random, 0, 2)) {
  case 0: snprintf(text, capacity, "%s %s [%d:%d,%d:1] /0,1", op, type, runs, pitch, width); break;
  case 1:
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:1] /0,2", op, type, runs, pitch * others, others, pitch, width);
    break;
  default:
    snprintf(text, capacity, "%s %s [%d:%d,%d:%d,%d:1] /1,2", op, type, others, pitch * runs + gap, runs, pitch, width);
  }
}

START_TEST(test_runs) {
  check_place(place_of(_i), "tile", NDR_KERNEL_TILE_RUN_VECTORS, write_runs, 40);
}
END_TEST

/* The case to repeat. */
static struct {
  ndr_op op;
  const char *family;
  uint64_t seed;
} asked;

/* A test like the others, because assertions work in tests only. */
START_TEST(test_asked) {
  outcome came = run_seed(asked.op, asked.family, asked.seed);
  printf("%s\n  %s\n", announced_case(), came.why[0] ? came.why : came.ran ? "right" : "not for this family");
  ck_assert(!came.why[0]);
}
END_TEST

static bool read_asked(char **words) {
  asked.family = words[1];
  asked.seed = strtoull(words[2], NULL, 10);
  if (ndr_op_parse(words[0], &asked.op) == NDR_OK) return true;
  fprintf(stderr, "%s\n", ndr_last_error());
  return false;
}

int main(int argc, char **argv) {
  if ((argc != 2 && argc != 5) || ndr_dtype_parse(argv[1], &dtype) != NDR_OK) {
    fprintf(stderr, "usage: test_simt_kernels DTYPE [OP FAMILY SEED]\n");
    return 2;
  }
  if (argc == 5 && !read_asked(argv + 2)) return 2;
  Suite *suite = suite_create(argv[1]);
  TCase *operators = tcase_create("kernels");
  tcase_set_timeout(operators, 600);
  if (argc == 5)
    tcase_add_test(operators, test_asked);
  else
    tcase_add_loop_test(operators, test_operator, 0, NDR_OP_COUNT);
  if (argc == 2) tcase_add_loop_test(operators, test_rows_in_vectors, 0, 4);
  if (argc == 2) tcase_add_loop_test(operators, test_short_runs, 0, 10);
  if (argc == 2) tcase_add_loop_test(operators, test_turned_lists, 0, 2);
  suite_add_tcase(suite, operators);
  TCase *places = tcase_create("places");
  tcase_set_timeout(places, 600);
  if (argc == 2) tcase_add_loop_test(places, test_shifted_rows, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_phased_rows, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_turned_results, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_mapped_columns, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_dense_runs, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_few_rows, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_lists, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_dense_rows, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_stages, 0, PLACES);
  if (argc == 2) tcase_add_loop_test(places, test_runs, 0, PLACES);
  suite_add_tcase(suite, places);
  return suite_run(suite);
}
