/* The exponential of programs on every instruction set, against libm's: within 2 units in the last place, and with the
 * same bits on all, however many elements a call has. */
#include <math.h>
#include <string.h>

#include "cpu/fold/fold.h"
#include "support/cases.h"
#include "support/suite.h"

enum { COUNT = 1000 };

static const double special[] = {0,      -0.0,   1,    -1,      INFINITY, -INFINITY, NAN,     88.72, 88.73,
                                 89.5,   -87.4,  -103, -103.98, -104.5,   709.78,    709.79,  710.5, 1e300,
                                 -1e300, -708.4, -745, -746,    -745.14,  0x1p-60,   -0x1p-30};
enum { SPECIAL = sizeof special / sizeof *special };

static double any_exponent(rng *random, int i) {
  if (i < SPECIAL) return special[i];
  double range = rng_once_in(random, 2) ? 1 : rng_once_in(random, 2) ? 110 : 760;
  return (2 * rng_unit(random) - 1) * range;
}

/* `ulp` is the distance from what is expected to the next number. */
static void compare(const ndr_isa *isa, double x, double got, double expected, double ulp) {
  bool same = isnan(expected) ? isnan(got) : got == expected || fabs(got - expected) <= 2 * ulp;
  ck_assert_msg(same, "%s: e^%.17g is %.17g, not %.17g (seed %llu)", isa->name, x, expected, got,
                (unsigned long long)test_seed());
}

static bool is_same(const void *a, const void *b, size_t bytes, double value) {
  return isnan(value) || memcmp(a, b, bytes) == 0;
}

/* Calls for the first few elements only, and nothing is written behind these. */
static void check_parts(const ndr_isa *isa, rng *random, const double *x, const float *narrow) {
  double y[COUNT], least[COUNT];
  float out[COUNT], first[COUNT];
  const int count = (int)rng_between(random, 0, 40);
  for (int i = 0; i < COUNT; i++) y[i] = 77, out[i] = 77;
  isa->step[NDR_NODE_EXP][NDR_F64](x, NULL, NULL, y, count);
  isa->step[NDR_NODE_EXP][NDR_F32](narrow, NULL, NULL, out, count);
  ndr_isa_baseline->step[NDR_NODE_EXP][NDR_F64](x, NULL, NULL, least, COUNT);
  ndr_isa_baseline->step[NDR_NODE_EXP][NDR_F32](narrow, NULL, NULL, first, COUNT);
  for (int i = 0; i < count; i++)
    ck_assert_msg(is_same(&y[i], &least[i], sizeof *y, x[i]) && is_same(&out[i], &first[i], sizeof *out, x[i]),
                  "%s: e^%.17g has other bits (seed %llu)", isa->name, x[i], (unsigned long long)test_seed());
  for (int i = count; i < COUNT; i++) ck_assert(y[i] == 77 && out[i] == 77);
}

static void check(const ndr_isa *isa, rng *random) {
  double x[COUNT], y[COUNT];
  float narrow[COUNT], out[COUNT];
  for (int i = 0; i < COUNT; i++) narrow[i] = (float)(x[i] = any_exponent(random, i));
  check_parts(isa, random, x, narrow);
  isa->step[NDR_NODE_EXP][NDR_F64](x, NULL, NULL, y, COUNT);
  isa->step[NDR_NODE_EXP][NDR_F32](narrow, NULL, NULL, out, COUNT);
  for (int i = 0; i < COUNT; i++) {
    double expected = exp(x[i]);
    float closest = (float)exp((double)narrow[i]);
    compare(isa, x[i], y[i], expected, nextafter(expected, INFINITY) - expected);
    compare(isa, (double)narrow[i], (double)out[i], (double)closest,
            (double)nextafterf(closest, INFINITY) - (double)closest);
  }
}

START_TEST(exponentials_are_those_of_libm) {
  const ndr_isa *const all[] = {ndr_isa_baseline, ndr_isa_avx2, ndr_isa_avx512}, *widest = ndr_isa_here();
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    rng random = {test_seed()};
    for (int i = test_case_count(300); all[k] && i > 0; i--) check(all[k], &random);
    if (all[k] == widest) return; /* those that this machine has come before it */
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu exp");
  suite_case(suite, "exp", 120, exponentials_are_those_of_libm, NULL);
  return suite_run(suite);
}
