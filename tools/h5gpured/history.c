/* The line for the attribute history of an output: the date and the command line, quoted for a shell. Writing it is
 * the library's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "h5gpured/h5gpured.h"

/* Local time, as NCO and CDO write it; where SOURCE_DATE_EPOCH (reproducible-builds.org) sets the clock, UTC. */
static void print_date(FILE *stream) {
  char text[64] = "", *end;
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  time_t now = epoch ? (time_t)strtoll(epoch, &end, 10) : time(NULL);
  struct tm parts;
  bool fixed = epoch && *epoch && !*end;
  if (!fixed) now = time(NULL);
  if (fixed ? gmtime_r(&now, &parts) : localtime_r(&now, &parts))
    strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts);
  fputs(text, stream);
}

void print_argument(const char *text, FILE *stream) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:,=+@%^[]";
  if (*text && text[strspn(text, plain)] == 0) {
    fputs(text, stream);
    return;
  }
  fputc('\'', stream);
  for (; *text; text++)
    if (*text == '\'')
      fputs("'\\''", stream);
    else
      fputc(*text, stream);
  fputc('\'', stream);
}

static void print_command(int argc, char **argv, FILE *stream) {
  fputs(" h5gpured", stream);
  for (int i = 1; i < argc; i++) {
    fputc(' ', stream);
    print_argument(argv[i], stream);
  }
}

char *history_line(int part_argc, char **part_argv, int argc, char **argv) {
  char *text = NULL;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return NULL;
  print_date(stream);
  fputc(':', stream);
  if (part_argc) {
    print_command(part_argc, part_argv, stream);
    fputc(';', stream);
  }
  print_command(argc, argv, stream);
  fclose(stream);
  return text;
}
