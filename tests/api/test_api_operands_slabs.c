/* Accumulators with arrays beside the slabs. */
#include <math.h>

#include "ndreduce/operator.h"
#include "ndreduce/plan.h"
#include "support/cases.h"
#include "support/small.h"
#include "support/suite.h"

static const DLDevice cpu = {kDLCPU, 0};

enum { ROWS = 7, COLUMNS = 5 };

typedef struct whole {
  double x[ROWS][COLUMNS], y[ROWS][COLUMNS];
  uint8_t where[ROWS][COLUMNS];
  ndr_problem problem;
  double expected[6][COLUMNS];
} whole;

static const char problem_text[] =
    "sum,mean,{at(x, y): s += x * y + index(0) * 10 + index(1) -> s},{n(x): m max= x -> m * 2 + n},max,var "
    "f64 [7,5] /0 where=bool[5,1] with=f64[5,1]";

static void fill(whole *w, rng *random) {
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    w->x[i / COLUMNS][i % COLUMNS] = (double)rng_between(random, -9, 9);
    w->y[i / COLUMNS][i % COLUMNS] = (double)rng_between(random, -9, 9);
    w->where[i / COLUMNS][i % COLUMNS] = rng_between(random, 0, 2) > 0;
  }
  assert_ok(ndr_problem_parse(problem_text, &w->problem));
}

static void reduce_whole(whole *w) {
  ndr_plan *plan;
  void *results[6];
  for (int i = 0; i < 6; i++) results[i] = w->expected[i];
  assert_ok(ndr_plan_create(&plan, &w->problem, cpu, NULL, NULL));
  assert_ok(ndr_plan_execute_operands(plan, (const void *[]){w->x, w->where, w->y}, results, NULL, 0, NULL));
  ndr_plan_destroy(plan);
}

static DLTensor part_of(void *data, ndr_dtype dtype, int64_t *shape) {
  static int64_t strides[] = {COLUMNS, 1};
  DLTensor tensor = ndr_tensor(data, dtype, 2, shape);
  tensor.strides = strides;
  return tensor;
}

static void add_part(ndr_accumulator *a, whole *w, int64_t row, int64_t column, int64_t height, int64_t width) {
  int64_t shape[] = {height, width}, offset[] = {row, column};
  if (height == 0 || width == 0) row = column = 0; /* an address in the array, for a slab of no elements */
  DLTensor slab = part_of(&w->x[row][column], NDR_F64, shape), where = part_of(&w->where[row][column], NDR_BOOL, shape),
           with = part_of(&w->y[row][column], NDR_F64, shape);
  assert_ok(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&where, &with}, offset));
}

static void assert_finished(const ndr_accumulator *a, const whole *w) {
  double got[6][COLUMNS];
  int64_t shape[] = {COLUMNS};
  DLTensor results[6];
  DLTensor *pointers[6];
  for (int i = 0; i < 6; i++) {
    results[i] = ndr_tensor(got[i], NDR_F64, 1, shape);
    pointers[i] = &results[i];
  }
  assert_ok(ndr_accumulator_finish(a, pointers));
  for (int i = 0; i < 6; i++)
    for (int c = 0; c < COLUMNS; c++)
      ck_assert_msg(got[i][c] == w->expected[i][c] || (isnan(got[i][c]) && isnan(w->expected[i][c])) ||
                        fabs(got[i][c] - w->expected[i][c]) <= 1e-12 * fabs(got[i][c]),
                    "operator %d, column %d: %g, expected %g", i, c, got[i][c], w->expected[i][c]);
}

START_TEST(slabs_come_in_any_order) {
  rng random = {test_seed()};
  for (int round = 0; round < test_case_count(50); round++) {
    whole w = {.problem = NDR_PROBLEM_INIT};
    fill(&w, &random);
    reduce_whole(&w);
    ndr_accumulator *a, *b;
    int64_t row = rng_between(&random, 0, ROWS), column = rng_between(&random, 0, COLUMNS);
    assert_ok(ndr_accumulator_create(&a, &w.problem, cpu, NULL));
    assert_ok(ndr_accumulator_create(&b, &w.problem, cpu, NULL));
    ndr_operator_destroy(w.problem.ops[2]); /* accumulators outlive them */
    ndr_operator_destroy(w.problem.ops[3]);
    add_part(b, &w, row, column, ROWS - row, COLUMNS - column);
    add_part(a, &w, 0, column, row, COLUMNS - column);
    add_part(a, &w, row, 0, ROWS - row, column);
    add_part(b, &w, 0, 0, row, column);
    assert_ok(ndr_accumulator_merge(a, b));
    assert_finished(a, &w);
    ck_assert_uint_gt(ndr_accumulator_bytes(a), 0);
    ndr_accumulator_destroy(a);
    ndr_accumulator_destroy(b);
  }
}
END_TEST

START_TEST(operands_of_slabs_broadcast) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_accumulator *a;
  double sum[2];
  int64_t shape[] = {2};
  DLTensor slab = small_array(), weight = small_weights(), result = ndr_tensor(sum, NDR_F32, 1, shape);
  float got[2];
  result.data = got;
  assert_ok(ndr_problem_parse("sum f32 [4,3] /1 weights=f64[0,1]", &problem));
  assert_ok(ndr_accumulator_create(&a, &problem, cpu, NULL));
  assert_ok(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&weight}, (int64_t[]){2, 0}));
  float all[4];
  shape[0] = 4;
  result.data = all;
  assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  ck_assert(all[0] == 0 && all[2] == 8.5f && all[3] == 19);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(initial_counts_once) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_accumulator *a;
  int64_t out[1] = {0}, values[4] = {1, 2, 3, 4}, two[] = {2};
  DLTensor result = ndr_tensor(out, NDR_I64, 0, NULL);
  assert_ok(ndr_problem_parse("sum i64 [4] /0 initial=100", &problem));
  assert_ok(ndr_accumulator_create(&a, &problem, cpu, NULL));
  for (int64_t at = 0; at < 4; at += 2) {
    DLTensor slab = ndr_tensor(values + at, NDR_I64, 1, two);
    assert_ok(ndr_accumulator_add(a, &slab, &at));
    assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  }
  ck_assert_int_eq(out[0], 110);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(accumulators_refuse) {
  ndr_problem problem = NDR_PROBLEM_INIT, other = NDR_PROBLEM_INIT;
  ndr_accumulator *a, *b;
  const int64_t offset[] = {0, 0};
  DLTensor slab = small_array(), where = small_mask(), weight = small_weights(), far = small_mask();
  far.device = (DLDevice){kDLCUDA, 0};
  assert_ok(ndr_problem_parse("sum f32 [2,3] /1 where=bool[3,1]", &problem));
  assert_ok(ndr_problem_parse("sum f32 [2,3] /1 where=bool[3,1] initial=1", &other));
  assert_ok(ndr_accumulator_create(&a, &problem, cpu, NULL));
  assert_ok(ndr_accumulator_create(&b, &other, cpu, NULL));
  assert_fails(ndr_accumulator_add(a, &slab, offset), NDR_ERR_ARGUMENT, "ndr_accumulator_add_operands");
  assert_fails(ndr_accumulator_add_operands(a, &slab, NULL, offset), NDR_ERR_ARGUMENT, "operands is a null pointer");
  assert_fails(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){NULL}, offset), NDR_ERR_ARGUMENT, "'where'");
  assert_fails(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&weight}, offset), NDR_ERR_ARGUMENT, "f64");
  assert_fails(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&far}, offset), NDR_ERR_ARGUMENT, "cuda:0");
  where.shape = (int64_t[]){3, 2};
  assert_fails(ndr_accumulator_add_operands(a, &slab, (const DLTensor *[]){&where}, offset), NDR_ERR_ARGUMENT,
               "does not broadcast");
  assert_fails(ndr_accumulator_merge(a, b), NDR_ERR_ARGUMENT, "alike");
  ndr_accumulator_destroy(a);
  ndr_accumulator_destroy(b);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("operands of slabs");
  suite_case(suite, "accumulators", 60, slabs_come_in_any_order, operands_of_slabs_broadcast, initial_counts_once,
             accumulators_refuse, NULL);
  return suite_run(suite);
}
