/* Random scans against their definitions, by every family; and laws: the number of threads and the layout change no
 * bit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ndreduce/operator.h"
#include "support/scans.h"
#include "support/suite.h"

static const char *const families[] = {NULL, "lines", "lanes", "scalar"};

static ndr_status run(scan_case *given, const char *family, int threads, test_array *result, rng *random) {
  ndr_scan_options options = given->options;
  options.force_family = family;
  options.threads = threads;
  assert_ok(scan_result(given, result, random));
  return ndr_scan(&given->array.tensor, given->dim, given->op, &result->tensor, &options);
}

static void check_family(scan_case *given, const char *family, rng *random) {
  test_array result;
  char text[512];
  ndr_status status = run(given, family, given->options.threads, &result, random);
  if (!(family && status == NDR_ERR_UNSUPPORTED)) {
    ck_assert_msg(status == NDR_OK, "%s: %s", given->text, ndr_last_error());
    ck_assert_msg(scan_accepts(given, &result.tensor, text, sizeof text), "%s by %s: %s", given->text,
                  family ? family : "choice", text);
    ck_assert_msg(array_gaps_untouched(&result), "%s by %s: wrote between its elements", given->text,
                  family ? family : "choice");
  }
  array_free(&result);
}

START_TEST(scans_follow_their_definitions) {
  rng random = {test_seed() + (uint64_t)_i};
  for (int n = test_case_count(500); n > 0; n--) {
    scan_case given;
    scan_random(&given, &random, _i == 0 ? 40000 : 3000);
    check_family(&given, families[_i], &random);
    scan_free(&given);
  }
}
END_TEST

/* Elements lie where they are written, in the same layout. */
START_TEST(scans_work_in_place) {
  rng random = {test_seed()};
  for (int n = test_case_count(300), done = 0; done < n;) {
    scan_case given;
    test_array apart, copy;
    scan_random(&given, &random, 6000);
    bool fits = array_count(&given.array.tensor) > 0 && !given.options.include_initial;
    for (int d = 0; d < given.array.tensor.ndim; d++) fits = fits && given.array.strides[d] != 0;
    assert_ok(scan_result(&given, &apart, NULL));
    if (fits && apart.dtype == given.array.dtype) {
      done++;
      assert_ok(ndr_scan(&given.array.tensor, given.dim, given.op, &apart.tensor, &given.options));
      array_make(&copy, given.array.dtype, given.array.tensor.ndim, given.array.shape, given.array.strides);
      memcpy(copy.memory, given.array.memory, copy.bytes);
      assert_ok(ndr_scan(&copy.tensor, given.dim, given.op, &copy.tensor, &given.options));
      if (given.dim == NDR_SCAN_ALL) {
        apart.tensor.ndim = copy.tensor.ndim;
        apart.tensor.shape = copy.tensor.shape;
        apart.tensor.strides = NULL;
      }
      ck_assert_msg(scan_same(&apart.tensor, &copy.tensor), "%s in place", given.text);
      array_free(&copy);
    }
    array_free(&apart);
    scan_free(&given);
  }
}
END_TEST

/* Also of lines and lanes, which associate alike. */
START_TEST(threads_and_layouts_change_no_bit) {
  static const int counts[] = {1, 2, 7};
  rng random = {test_seed()};
  for (int n = test_case_count(60); n > 0; n--) {
    scan_case given;
    test_array first, other;
    scan_random(&given, &random, 150000);
    assert_ok(run(&given, "lines", 1, &first, NULL));
    for (int i = 0; i < 6; i++) {
      ndr_status status = run(&given, i < 3 ? "lines" : "lanes", counts[i % 3], &other, i ? &random : NULL);
      if (other.tensor.ndim != first.tensor.ndim) other.tensor = first.tensor; /* of the array's shape */
      if (status != NDR_ERR_UNSUPPORTED) {
        ck_assert_msg(status == NDR_OK, "%s: %s", given.text, ndr_last_error());
        ck_assert_msg(scan_same(&first.tensor, &other.tensor), "%s: other bits with %d threads by %s", given.text,
                      counts[i % 3], i < 3 ? "lines" : "lanes");
      }
      array_free(&other);
    }
    array_free(&first);
    scan_free(&given);
  }
}
END_TEST

static const struct {
  const char *text;
  bool ordered, second;
} operators[] = {{"mean(x): s += x, n += 1 -> s / n", false, false},
                 {"range(x): a min= x, b max= x -> b - a", true, false},
                 {"product(x): p *= x, z += 1 -> p * z", false, false},
                 {"truth(x): a |= x, b &= x, n += x != 0 -> a ? n : b", false, false},
                 {"only(x): s += x -> s", false, false},
                 {"dot(x, y): s += x * y -> s", false, true},
                 {"where(x, y): s += y > 0 ? index(0) : 0, t += abs(x) -> s + t", true, true}};

static void check_own(scan_case *given, rng *random) {
  int number;
  do number = (int)rng_between(random, 0, sizeof operators / sizeof *operators - 1);
  while (operators[number].ordered && is_complex(given->array.dtype));
  if (given->array.tensor.ndim == 0) return;
  test_array other, definition, result;
  int64_t shape[NDR_MAX_DIMS];
  int ndim = given->array.tensor.ndim;
  for (int d = 0; d < ndim; d++) shape[d] = rng_once_in(random, 3) ? 1 : given->array.shape[d];
  array_make(&other, NDR_F32, ndim, shape, NULL);
  array_fill(&other, random, FILL_SMALL);
  const DLTensor *with[] = {&other.tensor};
  given->options.with = with;
  given->options.with_count = operators[number].second;
  given->options.initial = NULL;
  assert_ok(ndr_operator_create(&given->op, operators[number].text, NULL, 0));
  assert_ok(run(given, "scalar", 1, &definition, NULL));
  assert_ok(scan_result(given, &result, NULL));
  ndr_scan_options options = given->options;
  options.force_family = "programs";
  assert_ok(ndr_scan(&given->array.tensor, given->dim, given->op, &result.tensor, &options));
  ck_assert_msg(scan_same(&definition.tensor, &result.tensor), "%s: %s", operators[number].text, given->text);
  ndr_operator_destroy(given->op);
  array_free(&other);
  array_free(&definition);
  array_free(&result);
}

/* Both add one element after the other. */
START_TEST(programs_give_what_the_definition_gives) {
  rng random = {test_seed()};
  for (int n = test_case_count(300); n > 0; n--) {
    scan_case given;
    scan_random(&given, &random, 2000);
    check_own(&given, &random);
    scan_free(&given);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("property scans");
  TCase *each = tcase_create("definitions");
  tcase_set_timeout(each, 300);
  tcase_add_loop_test(each, scans_follow_their_definitions, 0, sizeof families / sizeof *families);
  suite_add_tcase(suite, each);
  suite_case(suite, "laws", 300, scans_work_in_place, threads_and_layouts_change_no_bit,
             programs_give_what_the_definition_gives, NULL);
  return suite_run(suite);
}
