/* Parts that go on around the end of a dim: which runs of the file they are. */
#include "h5/file/seam.h"
#include "support/cases.h"
#include "support/suite.h"

/* 12 steps of a dim of 20: 13, 15, 17, 19, and behind the seam 1, 3, ... 15. */
static ndr_h5_dataset part_of_two_runs(void) {
  ndr_h5_dataset part = {.info = {.ndim = 1, .shape = {12}}, .extent = {20}, .from = {13}, .step = {2}, .turn = {-360}};
  part.seam[0] = (ndr_seam){.at = 4, .from = 1, .turn = 0};
  return part;
}

static void check_run(const ndr_run *run, int64_t begin, int64_t count, int64_t from, double turn) {
  ck_assert_int_eq(run->begin, begin);
  ck_assert_int_eq(run->count, count);
  ck_assert_int_eq(run->from, from);
  ck_assert(run->turn == turn);
}

START_TEST(elements_lie_in_one_run_or_two) {
  const ndr_h5_dataset part = part_of_two_runs();
  ndr_run runs[2];
  ck_assert_int_eq(ndr_seam_runs(&part, 0, 0, 12, runs), 2);
  check_run(&runs[0], 0, 4, 13, -360);
  check_run(&runs[1], 4, 8, 1, 0);
  ck_assert_int_eq(ndr_seam_runs(&part, 0, 1, 3, runs), 1);
  check_run(&runs[0], 1, 3, 15, -360);
  ck_assert_int_eq(ndr_seam_runs(&part, 0, 4, 2, runs), 1);
  check_run(&runs[0], 4, 2, 1, 0);
  ck_assert_int_eq(ndr_seam_runs(&part, 0, 3, 2, runs), 2);
  check_run(&runs[0], 3, 1, 19, -360);
  check_run(&runs[1], 4, 1, 1, 0);
  ck_assert_int_eq(ndr_seam_runs(&part, 0, 5, 0, runs), 1);
  check_run(&runs[0], 5, 0, 3, 0);
}
END_TEST

START_TEST(every_element_has_its_index) {
  const ndr_h5_dataset part = part_of_two_runs();
  for (int64_t k = 0; k < 12; k++) ck_assert_int_eq(ndr_seam_index(&part, 0, k), (13 + 2 * k) % 20);
}
END_TEST

START_TEST(a_part_of_a_part_has_its_elements) {
  for (int64_t begin = 0; begin < 12; begin++)
    for (int64_t count = 1; begin + count <= 12; count++) {
      ndr_h5_dataset part = part_of_two_runs();
      ndr_seam_narrow(&part, 0, begin, count);
      ck_assert_int_eq(part.info.shape[0], count);
      ck_assert(ndr_has_seam(&part, 0) == (begin < 4 && begin + count > 4));
      for (int64_t k = 0; k < count; k++) ck_assert_int_eq(ndr_seam_index(&part, 0, k), (13 + 2 * (begin + k)) % 20);
      ck_assert(part.turn[0] == (begin < 4 ? -360 : 0));
    }
}
END_TEST

/* Two dims with a seam and one without: each element of a box is on one of its four sides, once. */
START_TEST(a_box_has_a_side_for_each_pair_of_runs) {
  ndr_h5_dataset part = {
      .info = {.ndim = 3, .shape = {5, 3, 6}}, .extent = {8, 9, 7}, .from = {6, 2, 4}, .step = {1, 3, 1}};
  const int64_t begin[] = {1, 0, 1}, size[] = {3, 3, 4};
  int seen[3][3][4] = {{{0}}};
  part.seam[0] = (ndr_seam){.at = 2, .from = 0};
  part.seam[2] = (ndr_seam){.at = 3, .from = 0};
  ck_assert_int_eq(ndr_seam_sides(&part, begin, size), 4);
  for (int s = 0; s < 4; s++) {
    const ndr_side side = ndr_seam_side(&part, begin, size, s);
    for (int64_t i = 0; i < side.size[0]; i++)
      for (int64_t j = 0; j < side.size[1]; j++)
        for (int64_t k = 0; k < side.size[2]; k++) {
          const int64_t at[] = {side.begin[0] + i, side.begin[1] + j, side.begin[2] + k}, in[] = {i, j, k};
          for (int d = 0; d < 3; d++)
            ck_assert_int_eq(side.from[d] + in[d] * part.step[d], ndr_seam_index(&part, d, at[d]));
          seen[at[0] - 1][at[1]][at[2] - 1]++;
        }
  }
  for (int i = 0; i < 36; i++) ck_assert_int_eq((&seen[0][0][0])[i], 1);
  const int64_t one[] = {0, 0, 0}, small[] = {2, 3, 3};
  ck_assert_int_eq(ndr_seam_sides(&part, one, small), 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 seam");
  suite_case(suite, "runs", 10, elements_lie_in_one_run_or_two, every_element_has_its_index,
             a_part_of_a_part_has_its_elements, a_box_has_a_side_for_each_pair_of_runs, NULL);
  return suite_run(suite);
}
