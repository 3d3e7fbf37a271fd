/* The registry of operators of one's own: their numbers, values and names, from one thread and from many. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lang/braced.h"
#include "lang/emit.h"
#include "ndreduce/operator.h"
#include "support/suite.h"

static ndr_op create(const char *text) {
  ndr_op op;
  assert_ok(ndr_operator_create(&op, text, NULL, 0));
  return op;
}

static const int arrays[NDR_MOST_ARRAYS] = {0, 1, 2, 3, 4};
static const ndr_dtype singles[NDR_MOST_ARRAYS] = {NDR_F32, NDR_F32, NDR_F32, NDR_F32, NDR_F32};

static double parameter(ndr_op op, int number) {
  ndr_program program;
  assert_ok(ndr_emit_program(op, singles, arrays, false, &program));
  return program.parameters[number];
}

START_TEST(an_operator_says_what_it_reads) {
  ndr_op op = create("f(x, y; t, c[3], u): s += t * x + poly(y, c) + u -> s");
  int count = 0;
  ck_assert_int_ge(op, NDR_OWN_OPS);
  ck_assert_int_eq(ndr_operator_arrays(op), 2);
  ck_assert_int_eq(ndr_operator_parameters(op), 5);
  ck_assert_int_eq(ndr_operator_parameter(op, "t", &count), 0);
  ck_assert_int_eq(count, 1);
  ck_assert_int_eq(ndr_operator_parameter(op, "c", &count), 1);
  ck_assert_int_eq(count, 3);
  ck_assert_int_eq(ndr_operator_parameter(op, "u", NULL), 4);
  ck_assert_int_eq(ndr_operator_parameter(op, "x", &count), -1);
  ck_assert_int_eq(ndr_operator_parameter(op, "", &count), -1);
  ck_assert_int_eq(ndr_operator_parameter(op, NULL, &count), -1);
  ck_assert_str_eq(ndr_op_name(op), "f");
  ck_assert_ptr_nonnull(ndr_op_help(op));
  ck_assert_int_eq(ndr_op_is_weighted(op), 0);
  ndr_operator_destroy(op);
  op = create("f(x, y, z; t): a += y, b += t -> a + b");
  ck_assert_int_eq(ndr_operator_array(op, "x"), 0);
  ck_assert_int_eq(ndr_operator_array(op, "z"), 2);
  ck_assert_int_eq(ndr_operator_array(op, "t"), -1);
  ck_assert_int_eq(ndr_operator_array(op, NULL), -1);
  ck_assert_int_eq(ndr_operator_reads(op, 0), 0);
  ck_assert_int_eq(ndr_operator_reads(op, 1), 1);
  ck_assert_int_eq(ndr_operator_reads(op, 2), 0); /* it only has a name */
  ck_assert_int_eq(ndr_operator_reads(op, -1), 0);
  ndr_operator_destroy(op);
  ck_assert_int_eq(ndr_operator_reads(NDR_SUM, 0), 1);
  ck_assert_int_eq(ndr_operator_reads(NDR_SUM, 1), 0);
  ck_assert_int_eq(ndr_operator_array(NDR_SUM, "x"), -1);
}
END_TEST

/* Whether arrays 1 and 2 are mixed with array 0. */
static void assert_mixes(const char *text, int one, int two) {
  ndr_op op = create(text);
  ck_assert_msg(ndr_operator_mixes(op, 1) == one && ndr_operator_mixes(op, 2) == two, "%s", text);
  ck_assert_int_eq(ndr_operator_mixes(op, 0) + ndr_operator_mixes(op, -1) + ndr_operator_mixes(op, 99), 0);
  ndr_operator_destroy(op);
}

START_TEST(arrays_are_mixed_whose_units_should_be_the_same) {
  assert_mixes("f(x, y, w): s += w * (x - y)**2, t += w -> sqrt(s / t)", 1, 0);
  assert_mixes("f(x, y, z): s += x * z, t += z -> s / t", 0, 0);
  assert_mixes("f(x, y, z): a += x, b max= y -> b - a / n", 1, 0);
  assert_mixes("f(x, y, z): a += x - 3 * abs(y), b += z > 2 ? 1 : x -> a + b", 1, 0);
  assert_mixes("f(x, y, z): s += x * x > y * z -> s", 1, 1);
  assert_mixes("f(x, y, z): s += x < z ? y : z, n += 1 -> s", 0, 1);
  assert_mixes("f(x, y, z): s += (y - z) * x -> s", 0, 0);
  assert_mixes("f(x, y, z): s += min(f64(x), -y) + floor(z) * x -> s", 1, 0);
  assert_mixes("f(x, y, z): s += x - x * y + z**2 / z**2 -> s", 0, 0);
  assert_mixes("f(x, y, z): s += x - sqrt(y * z) -> s", 1, 1);
  assert_mixes("f(x, y, z; a, c[2]): s += x - a * y, t += poly(z, c) == x, u += exp(y) + x -> s", 0, 0);
  assert_mixes("f(x, y, z): a += x, b += y, c += x * y, d += x * x, e += y * y "
               "-> (n * c - a * b) / sqrt((n * d - a * a) * (n * e - b * b))",
               0, 0);
  ck_assert_int_eq(ndr_operator_mixes(NDR_SUM, 1), 0);
}
END_TEST

START_TEST(built_in_operators_and_no_operators_are_told_apart) {
  char text[8] = "before";
  ndr_op none = (ndr_op)(NDR_OWN_OPS + 1000000), bound;
  ck_assert_int_eq(ndr_operator_arrays(NDR_SUM), 1);
  ck_assert_int_eq(ndr_operator_parameters(NDR_SUM), 0);
  ck_assert_int_eq(ndr_operator_parameter(NDR_SUM, "t", NULL), -1);
  ck_assert_uint_eq(ndr_operator_print(NDR_SUM, text, sizeof text), 0);
  ck_assert_str_eq(text, "");
  assert_fails(ndr_operator_bind(&bound, NDR_SUM, NULL, 0), NDR_ERR_OP, "0");
  ck_assert_int_eq(ndr_operator_arrays(none), 0);
  ck_assert_int_eq(ndr_operator_arrays((ndr_op)-1), 0);
  ck_assert_int_eq(ndr_operator_arrays((ndr_op)NDR_OP_COUNT), 0);
  ck_assert_ptr_null(ndr_op_name(none));
  ck_assert_ptr_null(ndr_op_help(none));
  assert_fails(ndr_op_check(none, NDR_F32), NDR_ERR_OP, "unknown");
  ndr_operator_destroy(none);
  ndr_operator_destroy(NDR_SUM);
  ck_assert_str_eq(ndr_op_name(NDR_SUM), "sum");
}
END_TEST

START_TEST(values_are_those_of_create_and_bind) {
  const double two[] = {1.5, -2}, others[] = {NAN, INFINITY};
  ndr_op op, bound, unset = create("f(x; t, u): s += x * t + u -> s");
  assert_ok(ndr_operator_create(&op, "f(x; t, u): s += x * t + u -> s", two, 2));
  assert_ok(ndr_operator_bind(&bound, op, others, 2));
  ck_assert_double_eq(parameter(op, 0), 1.5);
  ck_assert_double_eq(parameter(op, 1), -2);
  ck_assert(isnan(parameter(bound, 0)) && isinf(parameter(bound, 1)));
  ck_assert_double_eq(parameter(unset, 1), 0);
  ndr_operator_destroy(op); /* the bound one has what it needs */
  ck_assert_str_eq(ndr_op_name(bound), "f");
  assert_fails(ndr_operator_bind(&op, bound, two, 1), NDR_ERR_ARGUMENT, "takes 2 numbers for its parameters, not 1");
  assert_fails(ndr_operator_bind(&op, bound, NULL, 2), NDR_ERR_ARGUMENT, "2 numbers for its parameters, not 0");
  assert_fails(ndr_operator_create(&op, "f(x): s += x -> s", two, 2), NDR_ERR_ARGUMENT,
               "0 numbers for its parameters, not 2");
  ndr_operator_destroy(bound);
  ndr_operator_destroy(unset);
}
END_TEST

START_TEST(null_pointers_are_refused) {
  ndr_op op;
  assert_fails(ndr_operator_create(NULL, "f(x): s += x -> s", NULL, 0), NDR_ERR_ARGUMENT, "null");
  assert_fails(ndr_operator_create(&op, NULL, NULL, 0), NDR_ERR_ARGUMENT, "null");
  assert_fails(ndr_operator_bind(NULL, NDR_SUM, NULL, 0), NDR_ERR_ARGUMENT, "null");
}
END_TEST

START_TEST(numbers_are_not_used_again) {
  ndr_op first = create("f(x): s += x -> s"), second = create("f(x): s += x -> s");
  const char *name = ndr_op_name(first);
  ck_assert_int_ne(first, second);
  ndr_operator_destroy(second);
  ck_assert_int_gt(create("g(x): s += x -> s"), second);
  ndr_operator_destroy(first);
  ndr_operator_destroy(first);
  ck_assert(!ndr_op_valid(first));
  ck_assert_ptr_null(ndr_op_name(first));
  ck_assert_int_eq(ndr_operator_arrays(first), 0);
  ck_assert_str_eq(name, "f"); /* what was given stays */
}
END_TEST

START_TEST(a_held_operator_outlives_its_end) {
  ndr_op op = create("f(x): s += x -> s");
  ndr_own_op *first = ndr_own_op_hold(op), *second = ndr_own_op_hold(op);
  ck_assert_ptr_nonnull(first);
  ck_assert_ptr_eq(first, second);
  ndr_operator_destroy(op);
  ndr_operator_destroy(op); /* counts once */
  ck_assert_int_eq(ndr_operator_arrays(op), 1);
  ndr_own_op_release(first);
  ck_assert_int_eq(ndr_operator_arrays(op), 1);
  ndr_own_op_release(second);
  ck_assert_int_eq(ndr_operator_arrays(op), 0);
  ck_assert_ptr_null(ndr_own_op_hold(op));
  ck_assert_ptr_null(ndr_own_op_hold(NDR_SUM));
  ndr_own_op_release(NULL);
}
END_TEST

/* A text in braces whose operator is held, though destroyed, keeps its number, and can be destroyed again. */
START_TEST(an_operator_in_braces_comes_back_while_it_is_held) {
  const char *text = "{f(x): s += x -> s}", *at = text;
  ndr_op op, again;
  assert_ok(ndr_braced_parse(&at, &op));
  ndr_own_op *held = ndr_own_op_hold(op);
  ndr_operator_destroy(op);
  at = text;
  assert_ok(ndr_braced_parse(&at, &again));
  ck_assert_int_eq(op, again);
  ndr_own_op_release(held);
  ck_assert(ndr_op_valid(op));
  ndr_operator_destroy(op);
  ck_assert(!ndr_op_valid(op));
}
END_TEST

START_TEST(facts_of_types_do_not_run_past_their_tables) {
  ndr_op plain = create("f(x): s += x -> s"), extreme = create("f(x): m min= x -> m");
  ck_assert(ndr_op_valid(plain) && ndr_op_has_empty(plain) && ndr_op_has_empty(extreme));
  ck_assert(!ndr_op_is_index(plain) && !ndr_op_is_truth(plain) && !ndr_op_is_real(plain) && ndr_op_rounds(plain));
  assert_ok(ndr_op_check(extreme, NDR_C64)); /* the program says it */
  ck_assert_int_eq(ndr_op_result(plain, NDR_I8), NDR_I8);
  ck_assert_int_eq(ndr_op_combine(plain), NDR_COMBINE_ADD);
  ndr_operator_destroy(plain);
  ndr_operator_destroy(extreme);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 8, ROUNDS = 300 };

static ndr_op shared_op;

static void *work(void *argument) {
  int thread = (int)(intptr_t)argument;
  for (int i = 0; i < ROUNDS; i++) {
    char text[96], printed[96];
    const char *at = "{hot(x; t): n += x > t -> n}(1)";
    double value = thread + i;
    ndr_op op, bound, found;
    ndr_program program;
    snprintf(text, sizeof text, "f%d(x; t): s += x * t -> s", thread);
    if (ndr_operator_create(&op, text, &value, 1) != NDR_OK) return "create";
    ndr_operator_print(op, printed, sizeof printed);
    if (strcmp(text, printed) != 0 || strncmp(ndr_op_name(op), text, 2) != 0) return "print";
    if (ndr_operator_bind(&bound, shared_op, &value, 1) != NDR_OK) return "bind";
    if (ndr_emit_program(bound, singles, arrays, true, &program) != NDR_OK || program.parameters[0] != value)
      return "program";
    if (ndr_braced_parse(&at, &found) != NDR_OK || !ndr_op_valid(found)) return "parse";
    if (ndr_operator_create(&found, "f(", NULL, 0) != NDR_ERR_PARSE || !strstr(ndr_last_error(), "column 3"))
      return "failure";
    ndr_operator_destroy(op);
    ndr_operator_destroy(bound);
  }
  return NULL;
}

START_TEST(threads_share_the_registry) {
  pthread_t threads[THREADS];
  shared_op = create("shared(x; t): s += x * t -> s");
  for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    ck_assert_msg(failed == NULL, "thread %d: %s", i, (const char *)failed);
  }
  ndr_operator_destroy(shared_op);
}
END_TEST

static atomic_bool working, stop;

static void *work_until_stopped(void *argument) {
  while (!atomic_load(&stop) && work(argument) == NULL) atomic_store(&working, true);
  atomic_store(&working, false);
  return NULL;
}

/* A child that hangs is ended by its alarm. */
static void use_the_registry_and_exit(void) {
  ndr_op op;
  signal(SIGALRM, SIG_DFL);
  alarm(20);
  bool fine = ndr_operator_create(&op, "f(x, y): s += x -> s", NULL, 0) == NDR_OK && ndr_operator_arrays(op) == 2;
  _exit(fine ? 0 : 1);
}

/* The thread is detached: in the child it is gone, and nobody could join it there. */
START_TEST(a_child_of_fork_finds_the_registry_whole) {
  pthread_t thread;
  shared_op = create("shared(x; t): s += x * t -> s");
  ck_assert_int_eq(pthread_create(&thread, NULL, work_until_stopped, NULL), 0);
  pthread_detach(thread);
  while (!atomic_load(&working)) sched_yield();
  for (int i = 0; i < 50; i++) {
    pid_t child = fork();
    if (child == 0) use_the_registry_and_exit();
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
  }
  ck_assert(atomic_load(&working)); /* nothing failed there */
  atomic_store(&stop, true);
  while (atomic_load(&working)) sched_yield();
  ndr_operator_destroy(shared_op);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("own operators");
  suite_case(suite, "registry", 60, an_operator_says_what_it_reads, arrays_are_mixed_whose_units_should_be_the_same,
             built_in_operators_and_no_operators_are_told_apart, values_are_those_of_create_and_bind,
             null_pointers_are_refused, numbers_are_not_used_again, a_held_operator_outlives_its_end,
             an_operator_in_braces_comes_back_while_it_is_held, facts_of_types_do_not_run_past_their_tables, NULL);
  suite_case(suite, "threads", 120, threads_share_the_registry, a_child_of_fork_finds_the_registry_whole, NULL);
  return suite_run(suite);
}
