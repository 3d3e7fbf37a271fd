/* Compiled kernels that are kept on disk: a later process opens no compiler, and whatever is odd is compiled again.
 * Each use is a process of its own; the emulated NVRTC notes what is asked of it (runtime/nvrtc.c). */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): mkdtemp, setenv
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/compile/compile.h"
#include "memory.h"
#include "ndreduce/operator.h"
#include "support/suite.h"

enum { PATH = 512, LENGTH = 100 };

/* A folder of the test's own, the place of kept kernels in it, and the notes. */
static char root[PATH], kept[PATH + 24], notes[PATH + 24];

static void set_up(void) {
  const char *temporary = getenv("TMPDIR");
  snprintf(root, sizeof root, "%s/ndreduce.XXXXXX", temporary ? temporary : "/tmp");
  ck_assert_ptr_ne(mkdtemp(root), NULL);
  snprintf(kept, sizeof kept, "%s/kept", root);
  snprintf(notes, sizeof notes, "%s/notes", root);
  setenv("NDREDUCE_CACHE", kept, 1);
  setenv("SIMT_NVRTC_LOG", notes, 1);
}

static void tear_down(void) {
  char command[PATH + 16];
  snprintf(command, sizeof command, "rm -rf %s", root);
  ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): a folder that mkdtemp named */
}

/* ---- one use ---- */

/* Sums the numbers from 0 on with the operator. */
static int use_operator(const char *text) {
  int64_t shape = LENGTH;
  float *x = simt_allocate(LENGTH * sizeof *x, 0), *sum = simt_allocate(sizeof *sum, 0);
  DLTensor array = ndr_tensor(x, NDR_F32, 1, &shape), result = ndr_tensor(sum, NDR_F32, 0, NULL);
  double two = 2;
  ndr_op op;
  array.device = result.device = (DLDevice){kDLCUDA, 0};
  for (int i = 0; i < LENGTH; i++) x[i] = (float)i;
  bool right = ndr_operator_create(&op, text, &two, 1) == NDR_OK &&
               ndreduce(&array, NDR_ALL_DIMS, op, &result, NULL) == NDR_OK && *sum == LENGTH * (LENGTH - 1);
  if (!right) fprintf(stderr, "%s; %g\n", ndr_last_error(), (double)*sum);
  return right ? 0 : 1;
}

static int use(void) {
  return use_operator("twice(x; c): s += c * x -> s");
}

/* How often NVRTC was opened, and how often it compiled. */
typedef struct noted {
  int opened, compiled;
} noted;

static noted read_notes(void) {
  noted found = {0, 0};
  char line[64];
  FILE *file = fopen(notes, "r");
  while (file && fgets(line, sizeof line, file)) {
    found.opened += strcmp(line, "opened\n") == 0;
    found.compiled += strcmp(line, "compiled\n") == 0;
  }
  if (file) fclose(file);
  return found;
}

/* Uses the kernel in a process of its own; returns what it asked of NVRTC. */
static noted use_in_process(void) {
  int status;
  noted before = read_notes();
  fflush(NULL);
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) _exit(use());
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the result is wrong");
  noted after = read_notes();
  return (noted){after.opened - before.opened, after.compiled - before.compiled};
}

static void assert_compiles(bool compiles) {
  noted asked = use_in_process();
  ck_assert_int_eq(asked.compiled, compiles);
  if (!compiles) ck_assert_int_eq(asked.opened, 0);
}

/* ---- what lies there ---- */

/* Calls `look` with the path of each file. */
static int each_file(void (*look)(const char *path)) {
  int count = 0;
  char path[2 * PATH];
  DIR *files = opendir(kept);
  for (const struct dirent *entry; files && (entry = readdir(files)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", kept, entry->d_name);
    if (look) look(path);
    count++;
  }
  if (files) closedir(files);
  return count;
}

static void flip_last_byte(const char *path) {
  FILE *file = fopen(path, "r+");
  ck_assert_ptr_ne(file, NULL);
  fseek(file, -1, SEEK_END);
  int byte = fgetc(file);
  fseek(file, -1, SEEK_END);
  fputc(byte ^ 1, file);
  fclose(file);
}

static void flip_first_byte(const char *path) {
  FILE *file = fopen(path, "r+");
  ck_assert_ptr_ne(file, NULL);
  fputc('N', file);
  fclose(file);
}

static void cut(const char *path) {
  struct stat status;
  ck_assert_int_eq(stat(path, &status), 0);
  ck_assert_int_eq(truncate(path, status.st_size / 2), 0);
}

static void empty(const char *path) {
  ck_assert_int_eq(truncate(path, 0), 0);
}

static void let_others_write(const char *path) {
  ck_assert_int_eq(chmod(path, 0666), 0);
}

/* A link to the same file, which lies elsewhere. */
static void make_link(const char *path) {
  static int number;
  char other[PATH + 32];
  snprintf(other, sizeof other, "%s/moved%d", root, number++);
  ck_assert_int_eq(rename(path, other), 0);
  ck_assert_int_eq(symlink(other, path), 0);
}

START_TEST(a_later_process_compiles_nothing) {
  noted first = use_in_process();
  ck_assert_int_eq(first.opened, 1);
  ck_assert_int_eq(first.compiled, 1);
  ck_assert_int_eq(each_file(NULL), 2); /* the kernel, and what is known of NVRTC */
  assert_compiles(false);
  assert_compiles(false);
}
END_TEST

START_TEST(the_folder_is_private) {
  struct stat status;
  mode_t before = umask(0);
  assert_compiles(true);
  umask(before);
  ck_assert_int_eq(stat(kept, &status), 0);
  ck_assert_int_eq(status.st_mode & 0777, 0700);
}
END_TEST

START_TEST(odd_files_are_compiled_again) {
  void (*const changes[])(const char *) = {flip_last_byte, flip_first_byte, cut, empty, let_others_write, make_link};
  assert_compiles(true);
  ck_assert_int_gt(each_file(changes[_i]), 0);
  assert_compiles(true);
  assert_compiles(false); /* what was odd has been replaced */
}
END_TEST

START_TEST(odd_folders_are_not_used) {
  char other[PATH + 16];
  ck_assert_int_eq(mkdir(kept, 0700), 0);
  ck_assert_int_eq(chmod(kept, 0777), 0);
  assert_compiles(true);
  assert_compiles(true);
  ck_assert_int_eq(each_file(NULL), 0);
  snprintf(other, sizeof other, "%s/other", root);
  ck_assert_int_eq(chmod(kept, 0700), 0);
  ck_assert_int_eq(rename(kept, other), 0);
  ck_assert_int_eq(symlink(other, kept), 0);
  assert_compiles(true);
  assert_compiles(true);
  ck_assert_int_eq(each_file(NULL), 0);
}
END_TEST

START_TEST(no_folder_is_no_error) {
  int file = open(kept, O_CREAT | O_WRONLY, 0600);
  close(file);
  assert_compiles(true); /* a file lies where the folder would */
  setenv("NDREDUCE_CACHE", "/proc/none/kept", 1);
  assert_compiles(true);
  setenv("NDREDUCE_CACHE", "", 1);
  assert_compiles(true);
}
END_TEST

START_TEST(the_users_folder_is_found) {
  char cache[PATH + 24];
  unsetenv("NDREDUCE_CACHE");
  snprintf(cache, sizeof cache, "%s/cache", root);
  setenv("XDG_CACHE_HOME", cache, 1);
  snprintf(kept, sizeof kept, "%s/cache/ndreduce", root);
  assert_compiles(true);
  ck_assert_int_eq(each_file(NULL), 2);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", root, 1);
  snprintf(kept, sizeof kept, "%s/.cache/ndreduce", root);
  assert_compiles(true);
  ck_assert_int_eq(each_file(NULL), 2);
  assert_compiles(false);
}
END_TEST

START_TEST(the_folder_keeps_within_64_mib) {
  enum { FILES = 7, MIB = 10 };
  char path[2 * PATH];
  struct stat status;
  assert_compiles(true);
  for (int i = 0; i < FILES; i++) { /* file 0 was used last */
    const struct timespec times[2] = {{1000000 - i, 0}, {1000000 - i, 0}};
    snprintf(path, sizeof path, "%s/%032d.kernel", kept, i);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_eq(ftruncate(file, (off_t)MIB << 20), 0);
    ck_assert_int_eq(futimens(file, times), 0);
    close(file);
  }
  each_file(NULL);
  snprintf(path, sizeof path, "%s/%032d.kernel", kept, 0);
  DIR *files = opendir(kept);
  for (const struct dirent *entry; (entry = readdir(files)) != NULL;)
    if (strncmp(entry->d_name, "0000", 4) != 0 && entry->d_name[0] != '.') unlinkat(dirfd(files), entry->d_name, 0);
  closedir(files);
  assert_compiles(true);
  ck_assert_int_eq(stat(path, &status), 0);
  snprintf(path, sizeof path, "%s/%032d.kernel", kept, FILES - 1);
  ck_assert_int_ne(stat(path, &status), 0);
  ck_assert_int_eq(each_file(NULL), FILES - 1 + 2);
  assert_compiles(false);
}
END_TEST

/* ---- threads, and processes of their own ---- */

/* As twice(), with a number whose bits its text alone has. */
static const char slow[] = "slow(x; c): s += c * (x + 12345) - 24690 -> s", held_text[] = "0x40c81c8000000000";

static void *use_slow(void *result) {
  *(int *)result = use_operator(slow);
  return NULL;
}

/* Runs body() while a thread compiles the slow operator, which is held until then. */
static void while_compiling(void (*body)(void)) {
  char hold[PATH + 24];
  pthread_t thread;
  int result = -1;
  snprintf(hold, sizeof hold, "%s/hold", root);
  FILE *file = fopen(hold, "w");
  fputs(held_text, file);
  fclose(file);
  setenv("SIMT_NVRTC_HOLD", hold, 1);
  ck_assert_int_eq(pthread_create(&thread, NULL, use_slow, &result), 0);
  while (read_notes().compiled == 0) usleep(1000);
  body();
  ck_assert_int_eq(result, -1);
  unlink(hold);
  pthread_join(thread, NULL);
  ck_assert_int_eq(result, 0);
}

static void use_here(void) {
  ck_assert_int_eq(use(), 0);
}

static void use_slow_in_child(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    unsetenv("SIMT_NVRTC_HOLD");
    alarm(60);
    _exit(use_operator(slow));
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child hung or failed");
}

START_TEST(other_kernels_do_not_wait) {
  while_compiling(use_here);
}
END_TEST

START_TEST(a_child_of_fork_makes_what_a_thread_was_making) {
  while_compiling(use_slow_in_child);
}
END_TEST

/* Only compiles: the emulated GPU runs one kernel at a time. */
static void *compile_twice(void *kernel) {
  int64_t shape = LENGTH;
  double two = 2;
  DLTensor array = ndr_tensor(NULL, NDR_F32, 1, &shape);
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_request request;
  ndr_canonical canonical;
  ndr_op op;
  bool made = ndr_operator_create(&op, "twice(x; c): s += c * x -> s", &two, 1) == NDR_OK &&
              ndr_problem_make(&problem, &array, NDR_ALL_DIMS, 1, &op) == NDR_OK &&
              ndr_request_make(&request, &problem) == NDR_OK && ndr_canonical_make(&canonical, &request) == NDR_OK;
  if (!made || ndr_cuda_compile(&(ndr_cuda_operators){&canonical, 0, 1},
                                &(ndr_cuda_template){.kind = NDR_KERNEL_TREE_BLOCK}, 90, kernel) != NDR_OK)
    fprintf(stderr, "%s\n", ndr_last_error());
  if (made) ndr_canonical_free(&canonical), ndr_request_free(&request);
  return NULL;
}

START_TEST(threads_that_need_the_same_compile_it_once) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  cudaKernel_t kernels[THREADS] = {NULL};
  for (int i = 0; i < THREADS; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, compile_twice, &kernels[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) ck_assert_ptr_eq(kernels[i], kernels[0]);
  ck_assert_ptr_ne(kernels[0], NULL);
  ck_assert_int_eq(read_notes().compiled, 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("kept");
  TCase *cases = tcase_create("kept");
  tcase_set_timeout(cases, 600);
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, a_later_process_compiles_nothing);
  tcase_add_test(cases, the_folder_is_private);
  tcase_add_loop_test(cases, odd_files_are_compiled_again, 0, 6);
  tcase_add_test(cases, odd_folders_are_not_used);
  tcase_add_test(cases, no_folder_is_no_error);
  tcase_add_test(cases, the_users_folder_is_found);
  tcase_add_test(cases, the_folder_keeps_within_64_mib);
  tcase_add_test(cases, other_kernels_do_not_wait);
  tcase_add_test(cases, a_child_of_fork_makes_what_a_thread_was_making);
  tcase_add_test(cases, threads_that_need_the_same_compile_it_once);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
