/* The bar on a terminal's stderr, drawn once the work has taken a while. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "h5gpured/output.h"

/* Shorter work shows nothing; faster changes cannot be read. A log gets fewer lines. */
#define FIRST_SECONDS 0.5
#define STEP_SECONDS 0.1
#define LOG_SECONDS 1.0

enum { CELLS = 24 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_start(progress_bar *bar, const char *what) {
  *bar = (progress_bar){.what = what, .terminal = isatty(STDERR_FILENO), .begin = seconds()};
}

static void draw(const progress_bar *bar, double done, double rate, double left) {
  char cells[CELLS + 1] = "";
  for (int i = 0; i < CELLS; i++) cells[i] = i < (int)(done * CELLS) ? '=' : ' ';
  fputs(bar->terminal ? "\r" : "h5gpured: ", stderr);
  cli_print_visible(bar->what, stderr);
  if (bar->terminal) fprintf(stderr, " [%s]", cells);
  fprintf(stderr, " %3d%%  %.2f GB/s  %d:%02d left", (int)(done * 100), rate / 1e9, (int)left / 60, (int)left % 60);
  fputs(bar->terminal ? "\033[K" : "\n", stderr);
}

void progress_draw(progress_bar *bar, const ndr_h5_progress *now) {
  double time = seconds(), spent = time - bar->begin, step = bar->terminal ? STEP_SECONDS : LOG_SECONDS;
  if (spent < FIRST_SECONDS || time - bar->last < step || now->total_bytes == 0 || now->bytes == 0) return;
  double done = (double)now->bytes / (double)now->total_bytes, left = spent / done - spent;
  draw(bar, done, (double)now->bytes / spent, left < 359999 ? left : 359999);
  bar->last = time;
  bar->drawn = true;
}

void progress_clear(progress_bar *bar) {
  if (bar->drawn && bar->terminal) fputs("\r\033[K", stderr);
  bar->drawn = false;
}
