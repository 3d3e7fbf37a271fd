/* Keeps what a program prints out of its other files, and notices what is lost of it.
 *
 * A file that is opened gets the lowest descriptor that is free: 1 or 2, where the program was started with stdout or
 * stderr closed, and what is printed then ends up in that file. */
#include "cli/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name;
static int failed;

/* Why stdout cannot be printed to: what was lost before is not known, but a further byte will meet the same. */
static int find_reason(void) {
  clearerr(stdout);
  errno = 0;
  if (fputc('\n', stdout) != EOF) fflush(stdout);
  return errno;
}

/* Runs when the program ends, however its parts call exit. Nothing can be said of an exit's status any more but by
 * ending at once. */
static void check_stdout(void) {
  int lost = ferror(stdout);
  errno = 0;
  if (fflush(stdout) == 0 && !lost) return;
  if (errno == 0) errno = find_reason();
  fprintf(stderr, "%s: the answer cannot be printed%s%s\n", name, errno ? ": " : "", errno ? strerror(errno) : "");
  _exit(failed);
}

/* They are opened for reading only, so that printing fails, as it does on a descriptor that is closed. */
void streams_open(const char *program, int failure) {
  name = program;
  failed = failure;
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != fd) _exit(failure);
  if (atexit(check_stdout) != 0) _exit(failure);
  signal(SIGXFSZ, SIG_IGN);
}

bool streams_printed(void) {
  return fflush(stdout) == 0 && !ferror(stdout);
}

/* Past stdout's buffer, which would be tried again, and its failure noticed, when the program ends. */
void streams_note(const char *text) {
  fflush(stdout);
  dprintf(STDOUT_FILENO, "%s", text);
}
