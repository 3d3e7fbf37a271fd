/* Malformed files make HDF5 crash: 1.10 follows sizes of its global heap beyond the end, for one. Its calls cannot be
 * checked for that beforehand. Such a crash is reported as any failure is, in one line and with its exit status. The
 * line says what was being done, since a crash while results are written is not the fault of the input; and where the
 * memory of the process is limited, or another rank may have been killed, that this may be why. Nothing can be
 * tidied up then, and nothing has to be if the file system keeps files without names: an output gets its name last. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "h5gpured/ranks.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

/* HDF5's own memory runs out only under a limit as small as this. */
#define SMALL_MEMORY ((rlim_t)1 << 30)

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

/* Says "memory may have run out, ...; else " if a limit leaves little. */
static void say_limit(FILE *words) {
  static const struct {
    __typeof__(RLIMIT_AS) resource;
    const char *option;
  } limits[] = {{RLIMIT_AS, "-v"}, {RLIMIT_DATA, "-d"}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    struct rlimit limit;
    if (getrlimit(limits[i].resource, &limit) != 0 || limit.rlim_cur > SMALL_MEMORY) continue;
    fprintf(words, "memory may have run out, which ulimit %s keeps to %llu KiB; else ", limits[i].option,
            (unsigned long long)limit.rlim_cur / 1024);
    return;
  }
}

static void prepare(const char *name, const char *crashed, const char *why) {
  fflush(stdout);
  FILE *words = fmemopen(last_words, sizeof last_words, "w");
  if (!words) return;
  fputs("h5gpured: ", words);
  for (const char *c = name; *c && c < name + MOST_NAME;) c = cli_print_letter(c, words);
  fprintf(words, ": %s: ", crashed);
  if (ranks_comm()) fputs("another rank may have ended, which not every MPI survives; else ", words);
  say_limit(words);
  fprintf(words, "%s\n", why);
  fclose(words);
}

void crash_while_reading(const char *input) {
  prepare(input, "crashed on it", "the file is malformed in a way that HDF5 does not survive, or there is a bug");
}

void crash_while_writing(const char *output) {
  prepare(output, "crashed while results were written to it", "there is a bug here or in HDF5");
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
