/* Which family the CPU gets for a problem, and that no family refuses what it is there for. */
#include <string.h>

#include "cpu/backend.h"
#include "support/cases.h"
#include "support/plan.h"
#include "support/suite.h"

/* By the rule: a wide kept fastest axis is the rows family's, a long reduced one the runs family's, a short one the
 * tile family's. The scalar reference runs what has no loop. */
static const struct {
  const char *text, *family;
} choices[] = {
    /* kept and wide */
    {"sum f32 [1000,1000] /0", "rows"},
    {"sum f32 [100000,64] /0", "rows"},
    {"sum f32 [3,100000] /0", "rows"},
    {"max u8 [1000,4096] /0", "rows"},
    {"var c128 [300,300] /0", "rows"},
    {"sum f32 [16,1000,256] /1", "rows"},
    {"sum f32 [64,1000,64,100] /0,2", "rows"},
    {"sum f32 [1000,1000:-1] /0", "rows"},
    {"sum f32 [1000:2000,1000:2] /0", "rows"},
    /* one element an output */
    {"sum f32 [100000] /", "rows"},
    {"sum f32 [100,2] /", "rows"},
    /* the same, but results lie closer together along another axis than the fastest */
    {"sum f32 [2000:1,3000:2000] /", "tile"},
    {"min f16 [2000:1,3000:2000] /", "tile"},
    /* kept, with little between outputs, which is read */
    {"min u8 [305:98944,773:128,16:8] /1", "rows"},
    /* reduced and long */
    {"sum f32 [1000,2000] /1", "runs"},
    {"sum f32 [1000,1000] /1", "tile"},
    {"sum f32 [1000000] /0", "runs"},
    {"sum f32 [3,100000] /1", "runs"},
    {"argmax f64 [100,10000] /1", "runs"},
    {"norm2 f16 [10,100000] /1", "runs"},
    {"sum f32 [100,7,5000] /0,2", "runs"},
    {"sum f32 [1000,10,64] /0,2", "runs"},
    {"mean f32 [256,16,7,7] /0,2,3", "runs"},
    {"sum f32 [1000:-2000,2000:-1] /1", "runs"},
    {"sum f32 [2000:1,1000:2000] /0", "runs"},
    {"sum f32 [1000000:3] /0", "runs"},
    {"sum f32 [1000:0,1000] /0,1", "runs"},
    /* short and kept */
    {"sum f32 [100000,3] /0", "tile"},
    {"mean u8 [480,640,3] /0,1", "tile"},
    {"sum f32 [64,10000,3] /1", "tile"},
    {"sum f32 [100000,16] /0", "tile"},
    {"sum u8 [32292:120,3,8,4] /0,1,2", "tile"},
    {"sum f32 [64,9,50,3] /0,2", "tile"},
    /* short and reduced */
    {"sum f32 [100000,3] /1", "tile"},
    {"sum u8 [100000,7] /1", "tile"},
    {"mean f64 [100000,5] /1", "tile"},
    {"argmin f32 [100000,9] /1", "tile"},
    {"sum f32 [1000,64,9] /2", "tile"},
    {"sum f32 [100000,32] /1", "tile"},
    /* every row the same */
    {"sum f32 [1000,100000:0] /0", "tile"},
    /* nothing to loop over */
    {"sum f32 [] /", "scalar"},
    {"sum f32 [1] /0", "scalar"},
    {"sum f32 [0,5] /0", "scalar"},
    {"count i64 [5,0] /1", "scalar"},
};

START_TEST(the_owner_of_the_fastest_axis_decides) {
  static ndr_plan plan;
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    assert_ok(cpu_plan(&plan, choices[i].text, NULL));
    ck_assert_msg(strcmp(plan.family->name, choices[i].family) == 0, "%s gets %s, not %s", choices[i].text,
                  plan.family->name, choices[i].family);
  }
}
END_TEST

/* Percents of random problems that a family must accept, and be chosen for: two thirds of what they are, which is 100
 * and 20, 41 and 37, 38 and 27, 36 and 15. Family labels needs a table, which only groups have. */
static const struct {
  const char *family;
  int accepts, is_chosen;
} floors[] = {{"scalar", 100, 13}, {"rows", 27, 24}, {"runs", 25, 18}, {"tile", 24, 10}, {"labels", 0, 0}};
enum { FAMILIES = sizeof floors / sizeof *floors };

static void plan_by_each(const char *text, int accepted[FAMILIES], int chosen[FAMILIES]) {
  static ndr_plan plan;
  assert_ok(cpu_plan(&plan, text, NULL));
  for (int f = 0; f < FAMILIES; f++) chosen[f] += strcmp(plan.family->name, floors[f].family) == 0;
  for (int f = 0; f < FAMILIES; f++) {
    ndr_status status = cpu_plan(&plan, text, floors[f].family);
    ck_assert_msg(status == NDR_OK || status == NDR_ERR_UNSUPPORTED, "%s by %s: %s", text, floors[f].family,
                  ndr_last_error());
    accepted[f] += status == NDR_OK;
  }
}

START_TEST(no_family_refuses_too_much) {
  enum { PROBLEMS = 4000, MOST_ELEMENTS = 3000 };
  rng random = {test_seed()};
  int accepted[FAMILIES] = {0}, chosen[FAMILIES] = {0}, families = 0;
  while (ndr_backend_cpu.families[families]) families++;
  ck_assert_int_eq(families, FAMILIES);
  for (int i = 0; i < PROBLEMS; i++) {
    ndr_problem c = NDR_PROBLEM_INIT;
    random_case(&random, MOST_ELEMENTS, &c);
    plan_by_each(case_text(&c), accepted, chosen);
  }
  for (int f = 0; f < FAMILIES; f++) {
    ck_assert_msg(accepted[f] * 100 >= floors[f].accepts * PROBLEMS, "%s accepts %d of %d random problems",
                  floors[f].family, accepted[f], PROBLEMS);
    ck_assert_msg(chosen[f] * 100 >= floors[f].is_chosen * PROBLEMS, "%s is chosen for %d of %d random problems",
                  floors[f].family, chosen[f], PROBLEMS);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cpu choice");
  suite_case(suite, "choice", 60, the_owner_of_the_fastest_axis_decides, no_family_refuses_too_much, NULL);
  return suite_run(suite);
}
