/* What the tools' command lines share: options as rows of a table, numbers, and the names that a wrong one is near. */
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

/* The program's name and, where it has some, the subcommand's: what messages begin with. */
typedef struct cli {
  const char *program, *command; /* "ndbench", "ndbench ladder" */
  int count;
  const struct cli_option *options;
  const struct cli *other; /* the program's other command, whose options a user may give by mistake; NULL: none */
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
  const char *help; /* its lines, separated by '\n' */
} cli_option;

/* Formats into room. Where that is too small, the whole text is returned, to be freed; NULL where it fits, and where
 * there is no memory, so that the text in room is cut. For complaints: the reason may stand behind a name of any
 * length. */
__attribute__((format(printf, 3, 0))) char *cli_format(char *room, size_t capacity, const char *format,
                                                       va_list arguments);

/* Ends the program with one line on stderr, that ends with where the help is, and CLI_USAGE. */
__attribute__((noreturn, format(printf, 2, 3))) void cli_refuse(const cli *tool, const char *format, ...);

/* Hands each option of the command line to its row's function, and moves the other arguments to the front of argv from
 * argv[1] on; returns how many those are. What is no option, is ambiguous, or lacks its value ends the program. */
int cli_read(const cli *tool, void *target, int argc, char **argv);

/* Prints the rows of --help. */
void cli_print_options(const cli *tool, FILE *to);

/* ---- number.c: values. Digits only, with no sign, blank or base; false where the text is none or out of range. */
bool cli_integer(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* Digits with or without a decimal point. */
bool cli_decimal(const char *text, double *value);

/* A decimal number with or without K, M, G or T, powers of 1024, and with or without B or iB behind it; at least 1. */
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

/* The one of the names that text may have been meant to be; NULL where none is near. */
const char *cli_near(const char *text, int count, const char *const *names);

/* Writes the names, separated by ", ": first the one that text is near, then the others in their order. */
void cli_list_names(const char *text, int count, const char *const *names, char *list, size_t capacity);

#endif
