/* The emulation itself: what it runs right, and that it notices what is wrong. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "core/types.h"
#include "launch.h"
#include "memory.h"
#include "module.h"
#include "sanitizer.h"
#include "support/suite.h"

typedef struct trial {
  int *out;
  const void *in;
} trial;

typedef struct call {
  void (*kernel)(trial);
  trial argument;
} call;

static simt_module trials;
static bool early;  /* launches begin while what precedes them still runs */
static int abreast; /* blocks that take turns; 0: one after the other */

static void one_thread(const void *argument) {
  const call *c = argument;
  c->kernel(c->argument);
}

static const char *run(const char *name, int64_t grid, int threads, size_t shared, uint64_t order, int *out,
                       const void *in) {
  call made = {(void (*)(trial))(uintptr_t)simt_module_find(&trials, name), {out, in}};
  ck_assert_msg(made.kernel != NULL, "no %s", name);
  simt_launch launch = {.body = one_thread,
                        .argument = &made,
                        .grid = grid,
                        .threads = threads,
                        .shared = shared,
                        .statics = trials.statics,
                        .statics_bytes = trials.statics_bytes,
                        .early = early,
                        .abreast = abreast,
                        .order = order};
  return simt_run(&launch);
}

static void assert_noticed(const char *why, const char *word) {
  ck_assert_msg(why && strstr(why, word), "\"%s\" does not speak of '%s'", why ? why : "(no failure)", word);
}

START_TEST(test_places) {
  int out[3 * 64];
  for (uint64_t order = 0; order < 20; order++) {
    memset(out, 0, sizeof out);
    ck_assert_ptr_null(run("trial_identity", 3, 64, 0, order, out, NULL));
    for (int i = 0; i < 3 * 64; i++) ck_assert_int_eq(out[i], 30000 + i / 64 * 1000 + i % 64);
  }
}
END_TEST

/* The module has one place for what several blocks keep. */
START_TEST(test_blocks_in_turns) {
  int out[7 * 64];
  abreast = 3;
  for (uint64_t order = 0; order < 20; order++) {
    memset(out, 0, sizeof out);
    ck_assert_ptr_null(run("trial_keeps", 7, 64, 0, order, out, NULL));
    for (int i = 0; i < 7 * 64; i++) ck_assert_int_eq(out[i], i / 64);
  }
  abreast = 0;
}
END_TEST

START_TEST(test_barriers) {
  int out[1024];
  for (uint64_t order = 0; order < 20; order++) {
    ck_assert_ptr_null(run("trial_reverse", 2, 1024, 0, order, out, NULL));
    for (int i = 0; i < 1024; i++) ck_assert_int_eq(out[i], 200 + 1023 - i);
  }
}
END_TEST

START_TEST(test_early_threads_must_wait) {
  int out[64];
  ck_assert_ptr_null(run("trial_begins", 2, 64, 0, 0, out, NULL));
  early = true;
  ck_assert_ptr_null(run("trial_begins", 2, 64, 0, 0, out, out));
  assert_noticed(run("trial_begins", 2, 64, 0, 0, out, NULL), "thread 63 of block 0: it did not wait");
  early = false;
}
END_TEST

START_TEST(test_missing_barriers_show) {
  int out[64], wrong = 0;
  ck_assert_ptr_null(run("trial_race", 1, 64, 0, 0, out, NULL));
  for (int i = 0; i < 64; i++) wrong += out[i] != 63 - i;
  ck_assert_int_ge(wrong, 32);
}
END_TEST

START_TEST(test_shuffles) {
  int out[64];
  for (uint64_t order = 0; order < 20; order++) {
    ck_assert_ptr_null(run("trial_butterfly", 1, 64, 0, order, out, NULL));
    for (int i = 0; i < 64; i++) ck_assert_int_eq(out[i], 4 * 0x11111111);
  }
}
END_TEST

START_TEST(test_shared_memory_starts_poisoned) {
  int out[2];
  ck_assert_ptr_null(run("trial_unset", 3, 32, 32 * sizeof(int), 0, out, NULL));
  ck_assert_int_eq(out[0], (int)0xa5a5a5a5);
  ck_assert_int_eq(out[1], (int)0xa5a5a5a5);
}
END_TEST

START_TEST(test_divergence_is_noticed) {
  int out[1];
  for (uint64_t order = 0; order < 5; order++) {
    assert_noticed(run("trial_lonely_barrier", 2, 64, 0, order, out, NULL), "thread 40 is gone");
    assert_noticed(run("trial_two_barriers", 2, 128, 0, order, out, NULL), "thread 64 is waiting at a barrier");
    assert_noticed(run("trial_lonely_shuffle", 1, 64, 0, order, out, NULL), "waiting at a shuffle");
    assert_noticed(run("trial_uneven_shuffle", 1, 32, 0, order, out, NULL), "thread 5 with 2");
    ck_assert_ptr_null(run("trial_butterfly", 1, 32, 0, order, (int[32]){0}, NULL));
  }
}
END_TEST

START_TEST(test_unaligned_vectors_are_noticed) {
  int out[1];
  _Alignas(16) char in[32] = {0};
  assert_noticed(run("trial_unaligned", 1, 32, 0, 0, out, in), "thread 3 of block 0");
  assert_noticed(run("trial_unaligned", 1, 32, 0, 0, out, in), "multiple of 16");
}
END_TEST

START_TEST(test_bad_launches_are_noticed) {
  int out[96];
  assert_noticed(run("trial_identity", 1, 48, 0, 0, out, NULL), "block of 48 threads");
  assert_noticed(run("trial_identity", 1, 1056, 0, 0, out, NULL), "block of 1056 threads");
  assert_noticed(run("trial_identity", 0, 32, 0, 0, out, NULL), "grid of 0");
}
END_TEST

START_TEST(test_guards) {
  char *memory = simt_allocate(10, 3);
  ck_assert_uint_eq((uintptr_t)memory % 256, 3);
  for (int i = 0; i < 10; i++) ck_assert_int_eq((unsigned char)memory[i], SIMT_POISON);
  memset(memory, 0, 10);
  ck_assert(!simt_guards_broken());
  ck_assert(simt_release(memory) && !simt_release(memory));
  ck_assert(!simt_guards_broken());
}
END_TEST

#if WITH_ASAN
START_TEST(test_sanitizer_sees_shared_memory_end) {
  run("trial_beyond_shared", 1, 32, 31, 0, NULL, NULL);
}
END_TEST
#endif

/* The emulated machine's conversions and the library's were written apart. */
START_TEST(test_halves) {
  float (*from_half)(unsigned short) =
      (float (*)(unsigned short))(uintptr_t)simt_module_find(&trials, "trial_from_half");
  unsigned short (*to_half)(double) = (unsigned short (*)(double))(uintptr_t)simt_module_find(&trials, "trial_to_half");
  for (unsigned bits = 0; bits < 65536; bits++) {
    float a = from_half((unsigned short)bits), b = ndr_f16_to_float((ndr_f16)bits);
    ck_assert_msg(isnan(b) ? isnan(a) : a == b && !signbit(a) == !signbit(b), "f16 %04x is %g and %g", bits, a, b);
    if (isnan(b) || isinf(b)) continue;
    double next = ndr_f16_to_float((ndr_f16)(bits + 1)), middle = (b + (isinf(next) ? 65536 : next)) / 2;
    const double near[] = {b, middle, nextafter(middle, 0), nextafter(middle, bits & 0x8000 ? -INFINITY : INFINITY)};
    for (int i = 0; i < 4; i++)
      ck_assert_msg(to_half(near[i]) == ndr_f16_from_double(near[i]), "%.17g becomes %04x and %04x", near[i],
                    to_half(near[i]), ndr_f16_from_double(near[i]));
  }
}
END_TEST

START_TEST(test_arithmetic) {
  float (*truncate)(double) = (float (*)(double))(uintptr_t)simt_module_find(&trials, "trial_truncate");
  unsigned (*dot)(unsigned, unsigned, unsigned) =
      (unsigned (*)(unsigned, unsigned, unsigned))(uintptr_t)simt_module_find(&trials, "trial_dot4");
  int (*signed_dot)(int, int, int) = (int (*)(int, int, int))(uintptr_t)simt_module_find(&trials, "trial_dot4_signed");
  ck_assert(truncate(0.1) < 0.1 && truncate(-0.1) > -0.1 && truncate(1.5) == 1.5F && truncate(1e300) < INFINITY);
  ck_assert_uint_eq(dot(0xff010203u, 0x01010101u, 10), 255 + 1 + 2 + 3 + 10);
  ck_assert_uint_eq(dot(0xffffffffu, 0xffffffffu, 0), 4 * 255 * 255);
  ck_assert_int_eq(signed_dot((int)0xff010203u, 0x01010101, 10), -1 + 1 + 2 + 3 + 10);
  ck_assert_int_eq(signed_dot((int)0x80808080u, 0x7f7f7f7f, 0), -4 * 128 * 127);
}
END_TEST

/* The device that a new thread has, and then the one that it has chosen. */
static void *choose(void *devices) {
  int *found = devices;
  (void)cudaGetDevice(&found[0]);
  (void)cudaSetDevice(2);
  (void)cudaGetDevice(&found[1]);
  return NULL;
}

/* As with CUDA, a thread's choice is its own, and each begins with the first device. */
START_TEST(test_threads_choose_devices) {
  pthread_t other;
  int own = -1, others[2] = {-1, -1};
  ck_assert_int_eq(cudaSetDevice(1), cudaSuccess);
  ck_assert_int_eq(pthread_create(&other, NULL, choose, others), 0);
  ck_assert_int_eq(pthread_join(other, NULL), 0);
  ck_assert_int_eq(cudaGetDevice(&own), cudaSuccess);
  ck_assert(own == 1 && others[0] == 0 && others[1] == 2);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("simt_machine");
  const char *why = simt_module_open(&trials, SIMT_MODULE_DIR "/simt_trials.so");
  if (why) {
    printf("simt_trials.so: %s\n", why);
    return 1;
  }
  suite_case(suite, "runs", 60, test_places, test_blocks_in_turns, test_barriers, test_shuffles, test_halves,
             test_arithmetic, test_threads_choose_devices, NULL);
  suite_case(suite, "notices", 60, test_early_threads_must_wait, test_missing_barriers_show,
             test_shared_memory_starts_poisoned, test_divergence_is_noticed, test_unaligned_vectors_are_noticed,
             test_bad_launches_are_noticed, test_guards, NULL);
#if WITH_ASAN
  TCase *deadly = tcase_create("sanitizer");
  tcase_add_exit_test(deadly, test_sanitizer_sees_shared_memory_end, 1);
  suite_add_tcase(suite, deadly);
#endif
  int failed = suite_run(suite);
  simt_module_close(&trials);
  simt_shut_down();
  return failed;
}
