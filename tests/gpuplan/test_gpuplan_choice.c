/* Which kernel family a GPU gets for a problem, and how the plan puts it, on devices that are not there. */
#include <stdio.h>
#include <stdlib.h>

#include "gpuplan/listed.h"
#include "support/gpus.h"
#include "support/suite.h"

static const char *const names[] = {"tree", "thread", "tile"};
enum { FAMILIES = sizeof names / sizeof *names };

static void plan_or_fail(ndr_plan *plan, const char *text, int gpu, const char *force) {
  ndr_status status = gpu_plan(plan, text, &gpus[gpu], force);
  ck_assert_msg(status == NDR_OK, "%s on %s: %s", text, gpu_names[gpu], ndr_last_error());
}

START_TEST(the_owner_of_the_fastest_axis_decides) {
  static ndr_plan plan;
  int cases = 0;
  for (const gpu_case *c = gpu_cases; c->text; c++, cases++) {
    for (int g = 0; g < GPU_COUNT; g++) {
      plan_or_fail(&plan, c->text, g, NULL);
      ck_assert_msg(!c->family || strcmp(plan.family->name, c->family) == 0, "%s on %s gets %s, not %s", c->text,
                    gpu_names[g], plan.family->name, c->family ? c->family : "any");
    }
  }
  ck_assert_int_ge(cases, 40);
}
END_TEST

START_TEST(every_dtype_follows_the_rule) {
  static const struct {
    const char *layout, *family;
  } rules[] = {{"[20000,20000] /1", "tree"}, {"[20000,20000] /0", "thread"}, {"[20000000,3] /0", "tile"}};
  static ndr_plan plan;
  char text[64];
  for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
      for (int g = 0; g < GPU_COUNT; g++) {
        /* Few elements in a vector: columns read one by one are about as fast. */
        bool either = ndr_dtype_bytes((ndr_dtype)dtype) >= 8 && strcmp(rules[r].family, "tile") == 0;
        snprintf(text, sizeof text, "sum %s %s", ndr_dtype_name((ndr_dtype)dtype), rules[r].layout);
        plan_or_fail(&plan, text, g, NULL);
        ck_assert_msg(either || strcmp(plan.family->name, rules[r].family) == 0, "%s on %s gets %s", text, gpu_names[g],
                      plan.family->name);
      }
    }
  }
}
END_TEST

/* The line of text that starts with the word; copied into line. */
static bool find_line(const char *text, const char *word, char *line, size_t capacity) {
  size_t length = strlen(word);
  for (; text; text = strchr(text, '\n')) {
    text += *text == '\n';
    if (strncmp(text, word, length) != 0 || text[length] != ' ') continue;
    snprintf(line, capacity, "%.*s", (int)strcspn(text, "\n"), text);
    return true;
  }
  return false;
}

static void check_text(const ndr_plan *plan, const char *problem) {
  char text[4096], line[512];
  ck_assert_uint_lt(ndr_plan_describe(plan, text, sizeof text), sizeof text);
  const char *second = strchr(text, '\n') + 1;
  ck_assert_msg(strncmp(second, plan->family->name, strlen(plan->family->name)) == 0, "%s:\n%s", problem, text);
  for (int f = 0; f < FAMILIES; f++) {
    ck_assert_msg(find_line(text, names[f], line, sizeof line), "no line on %s for %s:\n%s", names[f], problem, text);
    if (strcmp(names[f], plan->family->name) == 0) continue;
    ck_assert_msg(strstr(line, "rejected: ") || strstr(line, "slower: predicted "), "%s: %s", problem, line);
    ck_assert_msg(strlen(line) > strlen("thread  rejected: ") + 5, "no reason is given for %s: %s", problem, line);
  }
}

START_TEST(a_plan_says_why_the_others_lost) {
  static ndr_plan plan;
  for (const gpu_case *c = gpu_cases; c->text; c++) {
    for (int g = 0; g < GPU_COUNT; g++) {
      plan_or_fail(&plan, c->text, g, NULL);
      check_text(&plan, c->text);
    }
  }
}
END_TEST

START_TEST(a_forced_family_runs_it_or_says_why_not) {
  static ndr_plan plan, chosen;
  char reason[160];
  for (const gpu_case *c = gpu_cases; c->text; c++) {
    plan_or_fail(&chosen, c->text, GPU_COUNT - 1, NULL);
    for (int f = 0; f < FAMILIES; f++) {
      const ndr_family *family = chosen.backend->families[f];
      ck_assert_str_eq(family->name, names[f]);
      const char *why = family->reject(&chosen.problem, &chosen.device, reason);
      ndr_status status = gpu_plan(&plan, c->text, &gpus[GPU_COUNT - 1], names[f]);
      ck_assert_msg(status == (why ? NDR_ERR_UNSUPPORTED : NDR_OK), "%s by %s: %s", c->text, names[f],
                    ndr_status_name(status));
      if (why)
        ck_assert_msg(strstr(ndr_last_error(), why) != NULL, "'%s' does not say '%s'", ndr_last_error(), why);
      else
        ck_assert(plan.forced && plan.family == family);
    }
  }
}
END_TEST

/* Slabs of a large array have indices far apart, however small they are. */
START_TEST(lists_hold_what_an_int_holds) {
  static ndr_plan plan;
  plan_or_fail(&plan, "argmax u8 [10000:40,3:9,7:1] /1,2", GPU_COUNT - 1, "tree");
  ck_assert(ndr_listed_suits(&plan.problem, &plan.device));
  plan.problem.reduced[1].index = INT64_C(1) << 30; /* twice that is one too many */
  ck_assert(!ndr_listed_suits(&plan.problem, &plan.device));
  plan_or_fail(&plan, "sum u8 [10000:40,3:1073741824,7:1] /1,2", GPU_COUNT - 1, "tree");
  ck_assert(!ndr_listed_suits(&plan.problem, &plan.device));
}
END_TEST

/* Results of neighbouring outputs lie apart where `turned` is more than 1; results of so many blocks, at most, fill a
 * cache line. */
START_TEST(tiles_are_numbered_along_results) {
  static const struct {
    const char *text;
    int turned;
  } cases[] = {{"min i16 [468812:4,128:3750496,4:1,2:1875248] /2,3", 64},
               {"sum i16 [84243:5,38:842430,2:421215] /2", 16},
               {"sum f32 [84243:5,9:842430,2:421215] /2", 9},
               {"sum f32 [84243:5,7:842430,3:5897010,2:421215] /3", 21},
               {"max,min i16 [84243:5,38:842430,2:421215] /2", 38},
               {"max,min i16 [84243:5,7:842430,3:5897010,2:421215] /3", 1}, /* kept axes must keep their order */
               {"sum i16 [38:842430,84243:5,2:421215] /2", 1},
               {"sum i16 [843:5,38:842430,2:421215] /2", 1},
               {"sum f16 [8:3,5960990:24,1:24] /2", 1}};
  static ndr_plan plan;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    plan_or_fail(&plan, cases[i].text, GPU_COUNT - 1, "tree");
    const ndr_launch *launch = ndr_plan_launch(&plan, NULL);
    ck_assert_msg(launch->params.turned == cases[i].turned, "%s: along %d others, not %d", cases[i].text,
                  launch->params.turned, cases[i].turned);
    if (cases[i].turned > 1) ck_assert_int_eq(launch->params.axes[1].result_stride, 1);
  }
}
END_TEST

static void assert_described(const char *problem, int gpu, const char *force, const char *const *parts) {
  static ndr_plan plan;
  char text[4096];
  plan_or_fail(&plan, problem, gpu, force);
  ndr_plan_describe(&plan, text, sizeof text);
  for (; *parts; parts++) ck_assert_msg(strstr(text, *parts) != NULL, "'%s' is not in:\n%s", *parts, text);
}

START_TEST(a_description_can_be_read) {
  assert_described("sum f32 [16384,16384] /1", 2, NULL,
                   (const char *[]){"sum f32 [16384,16384] /1 on cuda:0 (132 SMs)\n",
                                    "\ntree    16384 outputs x 16384, ",
                                    "\n        tree_block, 16-byte loads, grid 16384 x 256 threads", "split 1",
                                    "workspace 0 B", "reads 1.07 GB", "writes 65.5 KB", "predicted ",
                                    "\ntile    rejected: rows of 65536 bytes", "\nthread  slower: predicted ", NULL});
  assert_described("sum f64 [1000003] /0", 1, NULL,
                   (const char *[]){"\ntree    1 outputs x 1000003, ", "split ", "reads 8 MB", "writes 8 B",
                                    "\nthread  rejected: no axis is kept", "\ntile    rejected: no axis is kept",
                                    NULL});
  assert_described("mean,var u8 [100,1000] /0", 0, "tree",
                   (const char *[]){"mean,var u8 [100,1000] /0 on cuda:0 (14 SMs)\n", "1-byte loads", "reads 100 KB",
                                    "writes 16 KB", "(forced)\n", "\nthread  not forced: predicted ", NULL});
  assert_described("sum f32 [1000,4096] /0", 2, NULL,
                   (const char *[]){"thread_vectors, 16-byte loads, ", "reads 16.4 MB", NULL});
  assert_described("sum f32 [100,20,48] /0,2", 2, "tile", (const char *[]){"tile_run_vectors, 16-byte loads, ", NULL});
}
END_TEST

int main(void) {
  Suite *suite = suite_create("family choice");
  suite_case(suite, "choice", 60, the_owner_of_the_fastest_axis_decides, every_dtype_follows_the_rule,
             a_forced_family_runs_it_or_says_why_not, lists_hold_what_an_int_holds, tiles_are_numbered_along_results,
             NULL);
  suite_case(suite, "text", 60, a_plan_says_why_the_others_lost, a_description_can_be_read, NULL);
  return suite_run(suite);
}
