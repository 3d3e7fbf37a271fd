/* Malformed files make HDF5 crash: 1.10 follows sizes of its global heap beyond the end, for one. Its calls cannot be
 * checked for that beforehand. Such a crash is reported as any failure is, in one line and with its exit status. The
 * line says what was being done, since a crash while results are written is not the fault of the input. Nothing can be
 * tidied up then, and nothing has to be if the file system keeps files without names: an output gets its name last. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "h5gpured/h5gpured.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

/* At most this many bytes of a name are told; each may take four, as \x1b. */
enum { MOST_NAME = 300 };

/* Made before anything can go wrong: a handler may not format. */
static char last_words[2048] = "h5gpured: crashed before it read anything: there is a bug\n";

#ifndef SANITIZED
static void end(int signal_number) {
  (void)signal_number;
  ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
  (void)written;
  _exit(EXIT_INPUT);
}
#endif

static void prepare(const char *name, const char *what) {
  fflush(stdout);
  FILE *words = fmemopen(last_words, sizeof last_words, "w");
  if (!words) return;
  fputs("h5gpured: ", words);
  for (const char *c = name; *c && c < name + MOST_NAME;) c = cli_print_letter(c, words);
  fprintf(words, ": %s\n", what);
  fclose(words);
}

void crash_while_reading(const char *input) {
  prepare(input, "crashed on it: the file is malformed in a way that HDF5 does not survive, or there is a bug");
}

void crash_while_writing(const char *output) {
  prepare(output, "crashed while results were written to it: there is a bug here or in HDF5");
}

/* The handler has a stack of its own, since the program's may be what ran out. A sanitizer reports more than it
 * would. */
void crash_catch(void) {
#ifndef SANITIZED
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  static char stack[16384];
  struct sigaction action = {.sa_handler = end, .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND)};
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
#endif
}
