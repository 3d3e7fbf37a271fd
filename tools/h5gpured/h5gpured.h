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
  int window_count;                  /* of --coarsen: */
  int64_t windows[NDR_MAX_DIMS];     /* of each dim that it names */
  ndr_rest rests[NDR_MAX_DIMS];
  int with_count, set_count;
  named_value withs[MOST_VALUES], sets[MOST_VALUES];
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
  bool keepdims, skip_nan, raw, overwrite, no_plugins, allow_external, coords, explain, list, quiet, progress;
  bool sums_groups; /* as no operator is named */
  bool scans;       /* --scan: running values by ops[0] */
  ndr_op scan_op;
  bool exclusive, reverse;
  int part, part_count; /* of --part; 0: not given */
  const char *state;    /* NULL: not given */
  char *note; /* a part's command line: to be kept in the file of --state, or from the first file of --merge */
  bool merge; /* the inputs are files of --state; what they reduce is in the first one's note */
  char **words, **states; /* of --merge: the words of the note, and the files; or NULL */
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
  bool in_groups;  /* results lie in the groups that the dataset lies in */
  bool joined;     /* under --concat: the dataset is read from all inputs */
  int found_count; /* under --coords */
  found_place found[2 * NDR_MAX_DIMS];
} answer;

/* Reads the command line. --help, --version and mistakes end the program here. */
void options_read(h5gpured_options *options, int argc, char **argv);

/* The words of a command line as one text, which a file of partial states keeps. To be freed; NULL: out of memory. */
char *states_note(int argc, char **argv);

/* The words in such a text, as an array like argv, whose first place is NULL. The text is changed, and must live as
 * long as the array. The array is to be freed; NULL: out of memory. */
char **states_words(char *note, int *count);

/* Complains of the library's last error on the dataset of that path, under --merge. If a file is of another job than
 * the first, names the options in which their command lines differ. Always false. */
bool states_fail(const h5gpured_options *options, const char *path);

/* ---- Input ------------------------------------------------------------------------------------------------------ */

ndr_h5_access input_access(const h5gpured_options *options);

/* Prints a remark of the library as a complaint; the work goes on: returns 0. */
int say_remark(void *user, const char *sentence);

/* The name of the new dim along which --concat stacks files; NULL if it does not. */
const char *concat_new_dim(const h5gpured_options *options);

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

/* ---- Several datasets of one input ------------------------------------------------------------------------------- */

typedef struct patterns {
  int count;
  char **all;
} patterns;

bool pattern_has_wildcards(const char *text);

/* Adds what the alternatives in braces make of a text. Returns NULL, or what is wrong with it. To be freed even then.
 */
const char *patterns_expand(patterns *list, const char *text);
void patterns_free(patterns *list);

/* Whether an absolute path matches one of them. */
bool patterns_match(const patterns *list, const char *path);

/* Whether an absolute path matches a pattern without braces: '*' any characters and '?' one, both but '/', and a name
 * that is "**" any number of names. */
bool pattern_matches(const char *pattern, const char *path);

/* Where the part in brackets begins behind a path; its end if there is none. */
const char *part_of(const char *path);

/* Puts the part of --select behind each input, and returns NULL, or what is wrong with that, to be freed. The inputs
 * are to be freed then, in any case. */
char *part_put(h5gpured_options *options);
void part_free(h5gpured_options *options);

/* Whether all entries are by names of dims. */
bool part_is_by_names(const char *part);

/* The part without the entries of dims that are not among the names, "" if none is left; to be freed. Sets bit i of
 * *used if entry i is left. NULL where there is no memory. */
char *part_for(const char *part, int ndim, const char *const *names, uint64_t *used);

/* The first entry whose bit in `used` is not set, with its length; NULL if there is none. */
const char *part_unused(const char *part, uint64_t used, int *length);

/* A dataset of an input's file. */
typedef struct member {
  char *path;
  char *reason; /* why it cannot be reduced, or NULL; of numbers, what is wrong with them */
  int ndim;
  char *names[NDR_MAX_DIMS];                                   /* of its dims, NULL where they have none */
  enum { MEMBER_NUMBERS, MEMBER_OTHERS, MEMBER_UNKNOWN } kind; /* of the last nothing more is known */
  bool scale;
  bool has_all, has_some; /* of the dims that are reduced */
  bool data;              /* it does not only describe others */
  int same_as;            /* the place of the same dataset by an earlier path; -1: none */
  bool chosen;            /* by this path, the first one, or by a later one */
  bool joined;            /* under --concat: it is read from all inputs, along the dim that it has or stacked */
  bool absent;            /* under --concat: it is not reduced, and one of the inputs lacks it */
} member;

/* The datasets of an input that means several. */
typedef struct members {
  const h5gpured_options *options;
  char *file, *path; /* path: the pattern, or NULL for the file as a whole */
  char *text;
  const char *part; /* in the text, "" where the input has none */
  int count, chosen_count;
  member *all;          /* in the order of the file */
  int *chosen;          /* those that are reduced */
  bool full;            /* there was no memory */
  ndr_h5_dataset *held; /* one of the file, which keeps the file open; or NULL */
} members;

/* Whether nothing but a part follows FILE; path may be NULL. */
bool path_is_file_alone(const char *path);

/* Whether what follows FILE: is a pattern, with or without a part behind it, and no name of a dataset. */
bool path_is_pattern(const h5gpured_options *options, const char *file, const char *path);

/* Whether an input means several datasets: by a pattern, or FILE alone where dims are named. Under --concat all inputs
 * do, or none. False after a complaint. */
bool input_is_many(const h5gpured_options *options, int input, bool *many);

/* Finds the datasets that such an input means; after a complaint false. To be freed even then. */
bool members_find(const h5gpured_options *options, int input, members *m);
void members_free(members *m);

/* Whether the other variables of the file are copied. */
bool members_are_copied(const members *m);

/* Lists the datasets of an input's file; `chosen` and `data` are not set. After a complaint false. To be freed even
 * then. */
bool members_read(const h5gpured_options *options, int input, members *m);

/* Finds out which of them are data; after a complaint false. */
bool members_mark_data(members *m);

/* The one of that path, or NULL. It is looked for from *at on, and *at is then its place: files are mostly gone through
 * in the same order. */
member *members_find_path(const members *m, const char *path, int *at);

/* Under --concat: whether all files have what is joined. Marks what is absent. After a complaint false. */
bool members_agree(members *m);

/* Call when rank 0 goes on alone: the file is then held open without what ranks share. */
void members_leave_ranks(members *m);

/* Whether nothing is wrong with numbers; after a complaint false. */
bool member_is_sound(const members *m, const member *one);

/* Says why a pattern or a file as a whole is refused; returns false. */
bool members_refuse(const members *m, const char *reason);

/* Opens one of them, with its part: joined ones from all inputs, as one dataset. After a complaint false. */
bool member_open(const members *m, const member *one, const ndr_h5_access *access, ndr_h5_dataset **dataset);

/* Opens the dataset of one's path in the file of another input; after a complaint false. */
bool member_open_in(const members *m, int input, const member *one, const ndr_h5_access *access,
                    ndr_h5_dataset **dataset);

/* What --weights means for a dataset: a tensor, or another dataset. */
typedef struct weights {
  DLTensor tensor;
  ndr_h5_dataset *dataset;
  const char *units; /* "" for those of coordinates; NULL: weights are numbers */
  int64_t shape[NDR_MAX_DIMS];
  int dims[NDR_MAX_DIMS];
} weights;

/* To be freed even if that fails; `where` names the dataset in complaints. /PATH is looked up in the first input. */
bool weights_read(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where, weights *w);
void weights_free(weights *w);

/* ---- Operators of one's own ---------------------------------------------------------------------------------- */

/* The name of operator i of the command line. */
const char *op_name(const h5gpured_options *options, int i);

/* Makes the operators that are texts, with the values of --set, and arrays in one order. Returns NULL, or what is wrong
 * with the command line, to be freed. */
char *operators_make(h5gpured_options *options);

/* The operators for one dataset: those that name its dims in index(NAME) are made for it, and to be closed; not after a
 * complaint. */
bool operators_open(const h5gpured_options *options, const ndr_h5_info *info, const char *where, ndr_op *ops);
void operators_close(const h5gpured_options *options, const ndr_op *ops);
void operators_free(h5gpured_options *options);

/* What an operator of one's own is made of. */
typedef struct operator_parts {
  char *text; /* as the library spells it; to be freed */
  int parameter_count;
  named_value parameters[MOST_VALUES]; /* of --set */
  int value_counts[MOST_VALUES];       /* of each parameter */
  double values[MOST_VALUES];          /* of all of them, one after the other */
} operator_parts;

/* `op` is bound. False where there is no memory. */
bool operator_take_apart(const h5gpured_options *options, ndr_op op, operator_parts *parts);

bool is_named(const named_value *value, const char *name, int length);

/* The next name of an array or a number in an expression, from *text on; *text is moved behind it. Returns its length,
 * 0 after the last. */
int expression_name(const char **text, const char **name);

/* Sets *numbered to the text with numbers in place of the names of dims in index(NAME), to be freed: those of the
 * dataset that `info` describes, or 0 where it is NULL. Returns NULL, or what is wrong, until the next error. */
const char *expression_number_dims(const char *text, const ndr_h5_info *info, char **numbered);

/* The expression with a number in place of a name; to be freed. NULL: out of memory. */
char *expression_put(const char *text, const named_value *name, double value);

/* What looks like the beginning of a date, YEAR-MONTH, which an expression subtracts; NULL if there is none. */
const char *expression_date(const char *text);

/* Whether --where is a dataset, or a file without one, and no condition; so it is for the labels of --by. */
bool where_is_dataset(const char *text);

/* Whether there is in a text what conditions have, and names of files do not; a part behind one may have a "=". */
bool compares(const char *text);

/* Whether a name in the text ends as names of HDF5 files do: there may be no such file. */
bool has_file_name(const char *text);

/* The end of errors of conditions that have the name of a file in them. */
#define NAMED_FILES "; in a condition other files have names: --where 'Y > 0' --with Y=FILE:/PATH"

/* ---- Arrays beside the dataset ------------------------------------------------------------------------------- */

enum { MOST_BESIDES = 2 + 2 * NDR_MAX_OPERANDS };

/* What --where, --weights and the arrays of operators are for one dataset. */
typedef struct besides {
  weights by;
  int count;
  ndr_h5_operand operands[MOST_BESIDES];
  const ndr_h5_operand *pointers[MOST_BESIDES];
  char *names[MOST_BESIDES];
  char *sources[MOST_BESIDES]; /* where named arrays are from, as with_source says, or "coordinate" */
  char *condition;             /* of --where, with the dims' numbers; NULL: there is none */
  DLTensor tensors[MOST_BESIDES];
  int64_t sizes[MOST_BESIDES];
  int dims[MOST_BESIDES];
} besides;

/* Opens them. To be closed even if that fails; `where` names the dataset in complaints. Files that they come from are
 * not what `writer`, which may be NULL, replaces. */
bool besides_open(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                  const ndr_h5_writer *writer, besides *b);
void besides_close(besides *b);

/* Whether a text is FILE:/PATH or FILE, rather than /PATH; and opens what it is, /PATH in `file`. */
bool names_file(const char *text);
ndr_status open_path(const char *text, const char *file, const ndr_h5_access *access, ndr_h5_dataset **dataset);

/* What a value of --with means beside the dataset of that path: FILE alone is its dataset of the same path, if there is
 * one, FILE:/PATH. To be freed; NULL where there is no memory. */
char *with_text(const h5gpured_options *options, const char *path, const char *value);

/* The text with the part behind it, unless it has one of its own. To be freed; NULL where there is no memory. */
char *with_part(const char *text, const char *part);

/* How attributes name these datasets: FILE:/PATH[PART], or /PATH[PART] of the input's file, each quoted as for a shell,
 * with blanks between. To be freed; NULL where there is no memory. */
char *with_source(int count, const char *const *texts);

/* Whether a text is FILE, or FILE[PART], without a dataset. */
bool names_file_alone(const char *text);

/* Complains of an option, as "--where" or "--with y=", that is such a text: names the datasets of the file whose dims
 * the reduced one has, as `info` describes it. Returns false. */
bool refuse_file_alone(const h5gpured_options *options, const ndr_h5_info *info, const char *where, const char *option,
                       const char *text);

/* The first --with of that name, and how many there are; NULL: there is none. */
const named_value *find_with(const h5gpured_options *options, const char *name, int *count);

/* Whether the condition or the operator reads array i by its name. */
bool besides_is_read_by(const besides *b, int i, ndr_op op);

/* Says to the writer where those are from that have names, and what units the weights have. */
bool besides_tell(const besides *b, ndr_h5_writer *writer);

/* Puts them into the options of a reduction. */
void besides_put(const h5gpured_options *options, const besides *b, ndr_h5_options *how);

/* ---- Groups -------------------------------------------------------------------------------------------------- */

/* Sets the groups of an answer if --by or --coarsen is given: those that are kept, if they fit, or new ones, which are
 * then kept. The caller closes `kept` after the last answer, even if this fails. `where` names the dataset in
 * complaints. `writer`, which may be NULL, must not replace the file of labels. */
bool groups_open(answer *a, kept_groups *kept, const ndr_h5_dataset *dataset, const char *where,
                 const ndr_h5_writer *writer);
void groups_close(kept_groups *kept);

/* Whether groups lie along dim d of the dataset; and whether results have a dim of groups in its place: in that of the
 * first one, or of each that windows lie along. */
bool is_in_groups(const answer *a, int d);
bool is_group_dim(const answer *a, int d);

/* The names of the groups along dim d, to be freed; false, after a complaint, where there is no memory. */
bool groups_names(const answer *a, int d, date **names);

/* Gives results a dim for each that windows of several lie along. */
void groups_unfold(answer *a);

/* How the output's attributes name the weights of --weights LIST. To be freed; NULL if memory is short. */
char *weights_comment(const char *list);

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

/* The scan of --scan, for the library. */
ndr_h5_scan scan_of(const answer *a);

/* Describes the results of the problem, or of the scan. */
bool results_describe(answer *a, const ndr_h5_dataset *dataset, const char *where);

/* Bytes of all of them; false: they have more than 2^63. */
bool results_bytes(const answer *a, int64_t *bytes);

/* Allocates them. Fails if they, with the copies that writing them takes, need more memory than there is. */
bool results_allocate(answer *a, const char *where);

/* Whether results go to the file of -o block by block, as they are finished: those of scans, and large ones. */
bool results_stream(const answer *a);

/* Fills in the results. */
bool reduce_dataset(ndr_h5_dataset *dataset, answer *a, const besides *b);

/* Under an MPI launcher begins as one of its ranks, unless the options are what each process does by itself; ends the
 * program if that fails. Chooses this process's GPU of its machine. Ranks other than 0 explain nothing. */
void ranks_start(h5gpured_options *options);

/* Before MPI has started, one process of a launcher says for all what is wrong with them. The first says it at once,
 * and ends the others. Another one waits a while for that: if it is still there, the first has found nothing wrong. */
void ranks_take_turn(void);
__attribute__((noreturn)) void ranks_exit(int code);

/* The ranks; NULL: this process is alone. */
ndr_comm *ranks_comm(void);

/* What ranks share of the files; NULL without ranks. */
ndr_h5_structure *ranks_structure(void);

/* On rank 0, before each reduction: hands the others what it has read of the files by then. On the others nothing. */
bool ranks_send_structure(void);

/* On the others, before they open what is reduced: waits for that. On rank 0 nothing. Both: false after a failure. */
bool ranks_receive_structure(void);

/* Whether this process has the output: it is rank 0, or alone. */
bool ranks_leads(void);

/* On ranks other than 0 keeps a complaint for ranks_agree, and returns true. False: this process prints it. */
bool ranks_keep(const char *text);

/* Whether all ranks are good; `good`: this one is. Collective, when all is done but to make the output appear. Rank 0
 * prints what failed on another rank. Once the ranks have agreed, or a call of theirs has failed, returns `good`. */
bool ranks_agree(bool good);

/* Whether a signal has come that ends the program. It does so at once, unless work_can_stop(true) has been called: then
 * the work looks whether it is stopped, and tidies up. */
bool work_is_stopped(void);
void work_can_stop(bool can);

/* Turns a crash into a failure with a line that says what was being done. Answers given so far have been flushed by
 * then. */
void crash_catch(void);
void crash_while_reading(const char *input);
void crash_while_writing(const char *output);

/* ---- Output ----------------------------------------------------------------------------------------------------- */

/* Where results go with -o: the file, and what is to be said of it once it is there. */
typedef struct destination {
  ndr_h5_writer *writer;
  FILE *said, *bytes; /* the file's contents, where it is not HDF5 */
} destination;

/* Gives the answer for one dataset: to standard output where `to` is NULL. */
bool output_give(const destination *to, const ndr_h5_dataset *dataset, answer *a);

/* Reduces or scans it, and writes the results block by block. */
bool output_stream(const destination *to, ndr_h5_dataset *dataset, answer *a, const besides *b);
bool reduce_to_writer(ndr_h5_writer *writer, ndr_h5_dataset *dataset, answer *a, const besides *b,
                      const char *const *names);

/* Copies the other variables of a file: those that have none of the reduced dims. */
bool others_copy(const members *m, const destination *to);

/* An element of any dtype, taken apart for printing. */
typedef struct number {
  enum { TRUTH, SIGNED, UNSIGNED, REAL, COMPLEX } kind;
  int64_t as_signed;
  uint64_t as_unsigned;
  double re, im;
  int digits; /* significant decimal digits that tell two floats of the dtype apart */
} number;

enum { NUMBER_CHARS = 64 };

number number_read(ndr_dtype dtype, const void *element);

/* The shortest decimal that reads back as the same float of `digits` digits; "nan", "inf" and "-inf" otherwise. */
void number_shortest(double value, int digits, char text[NUMBER_CHARS]);

/* For people: the fewest digits, at least 7, that are within `tolerance` of the value; NaN and infinities as above. */
void number_rounded(double value, double tolerance, char text[NUMBER_CHARS]);

/* For people: floats to at most `digits` significant digits, 0 for all that count. */
void number_text(number n, int digits, char text[NUMBER_CHARS]);

int64_t tensor_count(const DLTensor *tensor);
ndr_dtype tensor_dtype(const DLTensor *tensor);

void print_text(const answer *a, FILE *to);
void print_json(const answer *a, FILE *stream);

/* What is said of a variable that -o copies; `joined`: from all inputs of --concat. */
void print_copied(const h5gpured_options *options, const ndr_h5_info *info, const char *name, FILE *stream);
void print_copied_json(const h5gpured_options *options, const ndr_h5_info *info, bool joined, FILE *stream);

/* One line on a result, or on places, that -o writes; name is NULL where the file is a table. */
void print_written(const answer *a, int op, const char *name, FILE *stream);
void print_written_found(const answer *a, int i, const char *name, FILE *stream);

/* The only result as a .npy file, and all of them as a table of one row for each element. */
void print_npy(const answer *a, FILE *stream);
bool print_csv(const ndr_h5_dataset *dataset, const answer *a, FILE *stream);

/* Looks up the coordinates of what argmin and argmax have found, for each dim that has some. */
bool find_places(const ndr_h5_dataset *dataset, answer *a);

/* Coordinates along a dim as dates, to be freed; *dates is NULL where they are no times. False, after a complaint,
 * where that cannot be told. */
bool dates_of(const ndr_h5_dataset *dataset, int dim, int64_t count, const double *values, date **dates);

/* A coordinate for people: its date, or the shortest number. NUMBER_CHARS are room for both. */
void coordinate_text(date *dates, const double *values, int64_t i, char text[NUMBER_CHARS]);
DLTensor found_tensor(const answer *a, int i);

/* A name for dim d that no other reduced dim has, if d is reduced, or no other kept one: its own name, NAME_2, NAME_3
 * ... if dims before it have the same name, dimD if it has none. */
void dim_label(const answer *a, int d, char label[DIM_CHARS]);

/* "f32 [time 12, lat 6]" */
void print_type(ndr_dtype dtype, int ndim, const int64_t *shape, const char *const *names, FILE *stream);

/* Lists the datasets of a file; returns the exit code. */
int list_file(const h5gpured_options *options, const char *file);

/* Draws how far the work is, once it has taken a while. */
typedef struct progress_bar {
  const char *what;
  bool terminal, drawn;
  double begin, last;
} progress_bar;

void progress_start(progress_bar *bar, const char *what);
void progress_draw(progress_bar *bar, const ndr_h5_progress *now);
void progress_clear(progress_bar *bar);

#endif
