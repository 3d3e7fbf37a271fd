/* The parts of h5gpured: options in, the library's work, text or JSON out. */
#ifndef H5GPURED_H
#define H5GPURED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ndreduce/h5.h"
#include "ndreduce/operator.h"

enum { EXIT_INPUT = 1, EXIT_USAGE = 2 };

enum { DIM_CHARS = 320, DEALT_DEVICE = -1 };

typedef char date[NDR_H5_DATE_CHARS];

/* The form of results in the file of --output or, without one, on standard output. */
typedef enum output_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_HDF5, FORMAT_NPY, FORMAT_CSV } output_format;

/* NAME=VALUE of --with or --set. */
typedef struct named_value {
  const char *name; /* ends at the '=' */
  int length;
  const char *value;
} named_value;

enum { MOST_VALUES = 64 };

typedef struct h5gpured_options {
  uint64_t given; /* bit i: the option of row i of the table */
  int input_count;
  char **inputs;      /* with the part of --select behind each */
  char **expanded;    /* the inputs before that part is added, patterns of files expanded; owned, ends with NULL */
  char **files;       /* the files of the inputs, if --output or JSON needs them; else NULL */
  const char *select; /* NULL: not given */
  char *select_along; /* under --concat: the part that it takes along the series, or NULL */
  const char *dims;
  int op_count;
  ndr_op ops[NDR_MAX_OPS];
  const char *op_texts[NDR_MAX_OPS]; /* of operators of one's own, as given; NULL for built-in ones */
  char *op_names[NDR_MAX_OPS];       /* of operators of one's own */
  bool op_dims[NDR_MAX_OPS];         /* whether it has index(NAME); ops[] then have dim 0, until operators_open */
  int array_count;                   /* that operators read beside the dataset */
  char *arrays[NDR_MAX_OPERANDS];    /* their names, in the order in which all operators have them */
  const char *where;                 /* with the numbers of --set in place of their names; NULL: not given */
  const char *where_given;           /* as it was typed */
  char *condition;                   /* owned memory of `where`, if --set changed it */
  const char *by, *coarsen;          /* NULL: not given */
  char grouped[DIM_CHARS];           /* the dims that either names, or "" */
  const char *by_what;               /* the key or the /LABELS of --by */
  const char *pair_by;               /* DIM:KEY; NULL: not given */
  int window_count;                  /* of --coarsen: */
  int64_t windows[NDR_MAX_DIMS];     /* of each dim that it names */
  ndr_rest rests[NDR_MAX_DIMS];
  int typed_with_count, with_count, set_count;
  named_value typed_withs[MOST_VALUES], sets[MOST_VALUES]; /* --with and --set */
  named_value *withs; /* typed_withs[] with one for each file that a pattern matches; owned, as are the values */
  ndr_weighting weighting;
  const char *output;           /* NULL: standard output */
  const char *concat, *weights; /* NULL: not given */
  char *weights_comment;        /* "weighted by the cosine of lat"; NULL without weights */
  ndr_h5_device device;
  int device_id; /* DEALT_DEVICE until ranks_start has found this process's GPU of its machine */
  int64_t memory;
  double ddof;
  output_format format;
  int deflate;   /* -1: not said */
  char *history; /* the line that says what was done */
  int threads;
  bool format_named; /* by --format */
  bool keepdims, skip_nan, raw, by_number, overwrite, no_plugins, allow_external, coords, explain, list, quiet,
      progress;
  bool sums_groups; /* as no operator is named */
  bool scans;       /* --scan: running values by ops[0] */
  ndr_op scan_op;
  bool exclusive, reverse;
  int part, part_count; /* of --part; 0: not given */
  const char *state;    /* NULL: not given */
  char *note; /* a part's command line: to be kept in the file of --state, or from the first file of --merge */
  bool merge; /* the inputs are files of --state; what they reduce is in the first one's note */
  char **words, **states; /* of --merge, else NULL: the words of the note, and the files; owned */
  int state_count;
  bool json; /* JSON to standard output, beside the file of --output if there is one */
} h5gpured_options;

/* The coordinates, along a dim, of the elements that argmin or argmax has found. */
typedef struct found_place {
  int op, dim;
  char name[DIM_CHARS]; /* of the dim */
  double *values;
  date *dates; /* of coordinates that are times, else NULL */
} found_place;

/* The groups of --by or --coarsen that were made last, and the labels that they are by. Kept for the next variable:
 * most variables of a file lie along the same axes. */
typedef struct kept_groups {
  ndr_h5_groups *groups;
  ndr_h5_dataset *labels;
} kept_groups;

/* How much of dates is written: the date alone, or down to seconds, milliseconds or microseconds. */
typedef enum date_precision { DATE_DAYS, DATE_SECONDS, DATE_MILLIS, DATE_MICROS } date_precision;

/* What the datasets of one table of CSV have in common. */
typedef struct table_columns {
  char *names; /* the table's line of names; NULL until it is printed */
  int count;   /* dims whose coordinates are times, by name */
  struct {     /* the precision that all dates along each of these need */
    char dim[DIM_CHARS];
    date_precision precision;
  } dates[NDR_MAX_DIMS];
} table_columns;

/* One dataset's answer: results[i] belongs to ops[i]. */
typedef struct answer {
  const h5gpured_options *options;
  const ndr_h5_info *info;
  ndr_problem problem;           /* dims in the order in which they are named; of a scan none */
  int scan_dim;                  /* the dim that is scanned */
  const ndr_h5_groups *groups;   /* of --by and --coarsen, kept for the next answer; or NULL */
  const struct besides *besides; /* while the dataset is reduced and written */
  ndr_op ops[NDR_MAX_OPS];       /* those of the options, for this dataset */
  DLTensor results[NDR_MAX_OPS];
  int64_t shapes[NDR_MAX_OPS][NDR_MAX_DIMS];
  bool in_groups;         /* results lie in the groups that the dataset lies in */
  bool joined;            /* under --concat: the dataset is read from all inputs */
  table_columns *columns; /* for CSV of what may be several datasets; else NULL */
  int found_count;        /* under --coords */
  found_place found[2 * NDR_MAX_DIMS];
} answer;

/* Reads the command line. --help, --version and mistakes end the program here. */
void options_read(h5gpured_options *options, int argc, char **argv);

/* The words of a command line as one text, which a file of partial states keeps. To be freed; NULL: out of memory. */
char *states_note(int argc, char **argv);

/* The words in such a text, as an array like argv, whose first place is NULL. The text is changed, and must live as
 * long as the array. The array is to be freed; NULL: out of memory. */
char **states_words(char *note, int *count);

/* Complains of a reduction that has failed. If a file of --merge is of another job than the first, names the options in
 * which their command lines differ. Always false. */
bool states_fail(const h5gpured_options *options, const ndr_h5_refused *refused);

/* ---- Input ------------------------------------------------------------------------------------------------------ */

/* Replaces each input, and each value of --with, whose FILE is no file but a pattern by the files that match it. What
 * nothing matches stays. False: out of memory. Call files_free even then. */
bool files_expand(h5gpured_options *options);
void files_free(h5gpured_options *options);

ndr_h5_access input_access(const h5gpured_options *options);

/* Prints a remark of the library as a complaint; the work goes on: returns 0. */
int say_remark(void *user, const char *sentence);

/* The name of the new dim along which --concat stacks files; NULL if it does not. */
const char *concat_new_dim(const h5gpured_options *options);

/* Whether --concat names a dim of the files: neither a new one, nor one by its number. */
bool concat_is_name(const h5gpured_options *options);

/* The end of a complaint that files lack the dim of --concat; the dim's name goes behind it. */
#define STACKS_FILES "; files are stacked along a new dim by --concat new:"

/* The dim along which files follow each other under --concat; -1 if there is none or they are stacked. */
int concat_dim(const h5gpured_options *options, const ndr_h5_info *info);

/* Opens several FILE:/DATASET as one along the dim of --concat. */
bool input_open_series(const h5gpured_options *options, int count, const char *const *inputs,
                       const ndr_h5_access *access, ndr_h5_dataset **dataset);

/* Whether a file has a dataset of that path, of elements of any type, and whatever its attributes say of them. */
bool input_has(const h5gpured_options *options, const char *file, const char *path);

/* Opens inputs[input], or under --concat all of them as one. */
bool input_open(const h5gpured_options *options, int input, ndr_h5_dataset **dataset);

/* A series keeps all of its files open. The soft limit is kept low for programs that use select(), as nothing here
 * does. */
void allow_many_files(void);

/* ---- Texts, complaints, and how the work ends ------------------------------------------------------------------- */

/* Prints a word of a command line as a shell would want it typed again. */
void print_argument(const char *text, FILE *stream);

/* "DATE: h5gpured ARGUMENTS", or, if `part_argc` is not 0, "DATE: h5gpured PART_ARGUMENTS; h5gpured ARGUMENTS". To be
 * freed; NULL: out of memory. */
char *history_line(int part_argc, char **part_argv, int argc, char **argv);

/* Puts options in place of the library's names for them, in the library's sentences. */
void name_options(char *text);

/* One line on stderr, with these names replaced, and control characters made visible: names in files may hold
 * anything. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where several datasets are answered, one after the other: from complaints_begin on a reason that has been given of
 * the dataset before is only counted, until complaints_end says of how many more it is true. `path`, as it stands
 * behind names of files, must live until the next of these calls; NULL: no dataset is at hand. */
void complaints_begin(const char *path);
void complaints_end(void);

/* Complain of the library's last error, with or without the name of a dataset before it. Always false. */
bool fail_with(const char *where);
bool fail(void);

/* Whether a signal has come that ends the program. It does so at once, unless work_can_stop(true) has been called: then
 * the work looks whether it is stopped, and tidies up. */
bool work_is_stopped(void);
void work_can_stop(bool can);

/* Turns a crash into a failure with a line that says what was being done. Answers given so far have been flushed by
 * then. */
void crash_catch(void);
void crash_while_reading(const char *input);
void crash_while_writing(const char *output);

#endif
