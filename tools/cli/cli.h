/* What the tools share: options as rows of a table, values, files of results, harmless texts, and names near a mistyped
 * one. */
#ifndef CLI_H
#define CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_USAGE = 2 }; /* the exit status of a wrong command line */

/* The most options that a command may have; each table of them is followed by CLI_CHECK. */
enum { CLI_MOST_OPTIONS = 64 };
#define CLI_CHECK(rows) _Static_assert(sizeof(rows) / sizeof *(rows) <= CLI_MOST_OPTIONS, "too many options")

/* A command: its name, with the subcommand if it is one, and its options. */
typedef struct cli {
  const char *program, *command; /* "ndbench", "ndbench ladder" */
  int count;
  const struct cli_option *options;
  const struct cli *other; /* the program's other command, whose options a user may give by mistake; NULL: none */
  void (*refuse)(const char *reason);     /* prints why, and ends the program; NULL: cli_refuse does */
  void (*note)(void *target, int option); /* told of each option that is given, by its row; NULL: nobody is */
} cli;

/* An option. `read` is given the value, NULL for an option that takes none; where there is no `read`, the value becomes
 * the const char * at byte `at` of the target, or the bool there becomes true. */
typedef struct cli_option {
  char letter; /* 0: there is only the name */
  const char *name;
  const char *argument; /* what --help calls the value; NULL: the option takes none */
  enum {
    CLI_ONCE, /* an option with a value; one without may be repeated, and says the same again */
    CLI_ADDS  /* each adds to those before */
  } repeated;
  void (*read)(void *target, const char *value);
  size_t at;
  const char *twice; /* how one value says what two do; NULL: a LIST has commas, and others do not go together */
  unsigned not_with; /* bits of the program's own: what the option has no meaning with */
  const char *help;  /* its lines, separated by '\n' */
} cli_option;

/* Formats a complaint into `room`. If it does not fit, returns the whole text, to be freed, because the reason may
 * stand behind a name of any length. Otherwise, or if memory is short, returns NULL; the text in `room` may be cut
 * then. */
__attribute__((format(printf, 3, 0))) char *cli_format(char *room, size_t capacity, const char *format,
                                                       va_list arguments);

/* Prints one line to stderr, which also says where the help is, and ends the program with CLI_USAGE. */
__attribute__((noreturn, format(printf, 2, 3))) void cli_refuse(const cli *tool, const char *format, ...);

/* Calls the function of each option's row, moves the other arguments to argv[1] and the places behind it, and returns
 * how many those are. An unknown or ambiguous option, or one that lacks its value, ends the program. */
int cli_read(const cli *tool, void *target, int argc, char **argv);

/* As cli_read, but where that ends the program, prints nothing and returns -1: for a command line that the user has not
 * typed. */
int cli_try_read(const cli *tool, void *target, int argc, char **argv);

/* Prints the rows of --help. */
void cli_print_options(const cli *tool, FILE *to);

/* ---- number.c: values. Digits only, with no sign, blank or base; false where the text is none or out of range. */
bool cli_integer(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* Digits with or without a decimal point. */
bool cli_decimal(const char *text, double *value);

/* A number of bytes, at least 1: a decimal number, maybe with K, M, G or T (powers of 1024), maybe with B or iB behind
 * it. */
bool cli_size(const char *text, uint64_t most, uint64_t *bytes);

/* ---- file.c: on failure both return false, and ndr_last_error() says why. */

/* Whether a file can be written at path: to be called before the work. */
bool cli_can_write(const char *path);

/* Writes a file that appears whole or not at all, in place of what is there; a device or a pipe is written to. */
bool cli_write_file(const char *path, const char *bytes, size_t length);

/* ---- visible.c */

/* The length of the UTF-8 character that text starts with; 0 if it starts with none. */
int cli_utf8_length(const unsigned char *text);

/* Prints a text; control characters, and bytes that are not UTF-8, as \xXX, so that it cannot steer a terminal. */
void cli_print_visible(const char *text, FILE *to);

/* Prints the first character of such a text; returns where the next one starts. */
const char *cli_print_letter(const char *text, FILE *to);

/* ---- nearest.c */

/* The name that text was probably meant to be; NULL if none is near. */
const char *cli_near(const char *text, int count, const char *const *names);

/* Writes the names, separated by ", ": first the one that text is near, then the others in their order. */
void cli_list_names(const char *text, int count, const char *const *names, char *list, size_t capacity);

#endif
