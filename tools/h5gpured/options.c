/* What h5gpured's command line says: its options, a row each. check.c has what goes with what. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "h5gpured/besides.h"
#include "h5gpured/check.h"
#include "h5gpured/operators.h"
#include "h5gpured/ranks.h"
#include "ndreduce/scan.h"

static const cli tool; /* its rows follow the functions that they name */

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* What other libraries call operators; NULL: no operator is called so. */
static const char *usual_name(const char *name) {
  static const char *const names[][2] = {{"avg", "mean"},
                                         {"average", "mean"},
                                         {"nanmean", "mean --skipna"},
                                         {"nansum", "sum --skipna"},
                                         {"total", "sum"},
                                         {"minimum", "min"},
                                         {"maximum", "max"},
                                         {"nanmin", "min --skipna"},
                                         {"range", "ptp"},
                                         {"nanmax", "max --skipna"},
                                         {"stddev", "std"},
                                         {"sd", "std"},
                                         {"variance", "var"},
                                         {"n", "valid"},
                                         {"product", "prod"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i][0]) == 0) return names[i][1];
  return NULL;
}

__attribute__((noreturn)) static void refuse_op(const char *name, size_t length) {
  const char *names[NDR_OP_COUNT];
  char begin[32];
  snprintf(begin, sizeof begin, "%.*s", (int)length, name);
  char list[512];
  for (int i = 0; i < NDR_OP_COUNT; i++) names[i] = ndr_op_name((ndr_op)i);
  cli_list_names(begin, NDR_OP_COUNT, names, list, sizeof list);
  const char *usual = usual_name(begin);
  if (usual) cli_refuse(&tool, "--op: there is no operator '%s'; did you mean %s?", begin, usual);
  bool formula = strcspn(name, "=<>+*/") < length;
  cli_refuse(&tool, "--op: there is no operator '%.*s'; there are %s%s", (int)length, name, list,
             formula ? "; one of one's own is written as 'hot(x): n += x > 20 -> n'" : "");
}

/* A text with ':' is one operator of one's own, which has commas of its own. */
static void read_own_op(h5gpured_options *options, const char *text) {
  if (options->op_count == NDR_MAX_OPS) cli_refuse(&tool, "--op '%s': at most %d operators", text, NDR_MAX_OPS);
  options->op_texts[options->op_count] = text;
  options->ops[options->op_count++] = (ndr_op)NDR_OWN_OPS;
}

static void read_ops(void *target, const char *list) {
  h5gpured_options *options = target;
  if (strchr(list, ':') || strchr(list, '(')) {
    read_own_op(options, list);
    return;
  }
  for (const char *start = list; start;) {
    start += strspn(start, " ");
    const char *comma = strchr(start, ',');
    char name[32];
    size_t length = comma ? (size_t)(comma - start) : strlen(start);
    while (length > 0 && start[length - 1] == ' ') length--;
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, start);
    if (length == 0) cli_refuse(&tool, "--op '%s': an entry of the list is empty", list);
    if (options->op_count == NDR_MAX_OPS) cli_refuse(&tool, "--op '%s': at most %d operators", list, NDR_MAX_OPS);
    ndr_op *op = &options->ops[options->op_count];
    if (length >= sizeof name || ndr_op_parse(name, op) != NDR_OK) refuse_op(start, length);
    for (int i = 0; i < options->op_count; i++)
      if (options->ops[i] == *op) cli_refuse(&tool, "--op '%s': %s is named twice", list, name);
    options->op_count++;
    start = comma ? comma + 1 : NULL;
  }
}

static bool scans(ndr_op op) {
  int64_t shape[NDR_MAX_DIMS];
  const DLTensor one = ndr_tensor(NULL, NDR_U8, NDR_SHAPE(1));
  DLTensor result = {.shape = shape};
  return ndr_scan_describe(&one, 0, op, NULL, &result) == NDR_OK;
}

static void read_scan(void *target, const char *name) {
  h5gpured_options *options = target;
  ndr_op op;
  if (strchr(name, ':') || strchr(name, '('))
    cli_refuse(&tool, "--scan '%s': files are scanned by built-in operators only", name);
  if (strncmp(name, "cum", 3) == 0 && ndr_op_parse(name + 3, &op) == NDR_OK && scans(op))
    cli_refuse(&tool, "--scan: there is no operator '%s'; did you mean %s?", name, name + 3);
  if (ndr_op_parse(name, &op) != NDR_OK || !scans(op))
    cli_refuse(&tool, "--scan takes sum, prod, min, max, logsumexp, any or all, not '%s'", name);
  options->scans = true;
  options->scan_op = op;
}

static int read_count(const char *option, const char *text, uint64_t least) {
  uint64_t value;
  if (!cli_integer(text, least, INT_MAX, &value))
    cli_refuse(&tool, "%s takes a whole number from %d to %d, not '%s'", option, (int)least, INT_MAX, text);
  return (int)value;
}

/* NAME=VALUE; the name is as in an expression. */
static named_value read_named(const char *option, const char *text, const char *example) {
  const char *name, *rest = text;
  int length = expression_name(&rest, &name);
  if (length == 0 || name != text || *rest != '=' || !rest[1])
    cli_refuse(&tool, "%s takes NAME=%s, not '%s'", option, example, text);
  return (named_value){name, length, rest + 1};
}

static void read_with(void *target, const char *text) {
  h5gpured_options *options = target;
  if (options->typed_with_count == MOST_VALUES) cli_refuse(&tool, "--with is given more than %d times", MOST_VALUES);
  options->typed_withs[options->typed_with_count++] = read_named("--with", text, "FILE:/DATASET");
}

static void read_set(void *target, const char *text) {
  h5gpured_options *options = target;
  if (options->set_count == MOST_VALUES) cli_refuse(&tool, "--set is given more than %d times", MOST_VALUES);
  options->sets[options->set_count++] = read_named("--set", text, "NUMBER or NAME=NUMBER,NUMBER,...");
}

/* Adds a dim, or a list of them. */
static void add_grouped(h5gpured_options *options, const char *option, const char *text, size_t length) {
  size_t used = strlen(options->grouped), room = sizeof options->grouped - used;
  if (length + 2 > room) cli_refuse(&tool, "%s: the name of the dim is too long", option);
  snprintf(options->grouped + used, room, "%s%.*s", used ? "," : "", (int)length, text);
}

#define KEYS "month, season, year, yearmonth, yearseason, day, dayofyear, monthday or hour"

/* DIM:KEY, or DIMS:/LABELS */
static void read_by(void *target, const char *text) {
  h5gpured_options *options = target;
  const char *colon = strchr(text, ':');
  if (!colon || colon == text || !colon[1])
    cli_refuse(&tool, "--by takes DIM:KEY, like time:month, or DIMS:/LABELS, not '%s'; KEY is " KEYS, text);
  options->by = text;
  options->by_what = colon + 1;
  add_grouped(options, "--by", text, (size_t)(colon - text));
}

static void read_pair_by(void *target, const char *text) {
  const char *colon = strchr(text, ':');
  if (!colon || colon == text || !colon[1] || where_is_dataset(colon + 1))
    cli_refuse(&tool, "--pair-by takes DIM:KEY, like time:month, not '%s'; KEY is " KEYS, text);
  ((h5gpured_options *)target)->pair_by = text;
}

__attribute__((noreturn)) static void refuse_coarsen(const char *text) {
  cli_refuse(&tool, "--coarsen takes DIM=N, like time=12, or DIM=N,DIM=N; then ,trim or ,pad; not '%s'", text);
}

/* trim and pad are for the dims before them that have neither yet. */
static bool read_rest(h5gpured_options *options, const char *text, size_t length, int *settled) {
  bool trim = length == 4 && strncmp(text, "trim", 4) == 0, pad = length == 3 && strncmp(text, "pad", 3) == 0;
  if ((!trim && !pad) || *settled == options->window_count) return false;
  while (*settled < options->window_count) options->rests[(*settled)++] = trim ? NDR_REST_TRIM : NDR_REST_PAD;
  return true;
}

/* DIM=N */
static bool read_window(h5gpured_options *options, const char *text, size_t length) {
  const char *equals = memchr(text, '=', length);
  char digits[24];
  uint64_t window;
  if (!equals || equals == text || options->window_count == NDR_MAX_DIMS) return false;
  snprintf(digits, sizeof digits, "%.*s", (int)(text + length - equals - 1), equals + 1);
  if ((size_t)(text + length - equals - 1) >= sizeof digits || !cli_integer(digits, 1, INT64_MAX, &window))
    return false;
  add_grouped(options, "--coarsen", text, (size_t)(equals - text));
  options->rests[options->window_count] = NDR_REST_REFUSE;
  options->windows[options->window_count++] = (int64_t)window;
  return true;
}

static void read_coarsen(void *target, const char *text) {
  h5gpured_options *options = target;
  int settled = 0;
  for (const char *entry = text; entry;) {
    size_t length = strcspn(entry, ",");
    if (!read_rest(options, entry, length, &settled) && !read_window(options, entry, length)) refuse_coarsen(text);
    entry = entry[length] ? entry + length + 1 : NULL;
  }
  options->coarsen = text;
}

/* K/N */
static void read_part(void *target, const char *text) {
  h5gpured_options *options = target;
  const char *slash = strchr(text, '/');
  char digits[24];
  uint64_t part = 0, count = 0;
  snprintf(digits, sizeof digits, "%.*s", slash ? (int)(slash - text) : 0, text);
  if (!slash || slash - text >= (int)sizeof digits || !cli_integer(digits, 1, INT_MAX, &part) ||
      !cli_integer(slash + 1, 1, INT_MAX, &count) || part > count)
    cli_refuse(&tool, "--part takes K/N, like 3/64, with K from 1 to N, not '%s'", text);
  options->part = (int)part;
  options->part_count = (int)count;
}

static void read_weighting(void *target, const char *text) {
  h5gpured_options *options = target;
  if (strcmp(text, "frequency") == 0)
    options->weighting = NDR_FREQUENCY;
  else if (strcmp(text, "reliability") == 0)
    options->weighting = NDR_RELIABILITY;
  else
    cli_refuse(&tool, "--weighting takes frequency or reliability, not '%s'", text);
}

static void read_threads(void *target, const char *text) {
  ((h5gpured_options *)target)->threads = read_count("--threads", text, 1);
}

static void read_memory(void *target, const char *text) {
  uint64_t bytes;
  if (!cli_size(text, INT64_MAX / 2, &bytes))
    cli_refuse(&tool, "--memory takes a size like 64M or 1.5G (digits, then K, M, G or T), not '%s'", text);
  ((h5gpured_options *)target)->memory = (int64_t)bytes;
}

static void read_device(void *target, const char *text) {
  h5gpured_options *options = target;
  options->device_id = 0;
  if (strcmp(text, "auto") == 0) {
    options->device = NDR_H5_AUTO;
  } else if (strcmp(text, "cpu") == 0) {
    options->device = NDR_H5_CPU;
  } else if (strcmp(text, "all") == 0) {
    options->device = NDR_H5_ALL;
  } else if (strncmp(text, "cuda", 4) == 0 && (text[4] == 0 || text[4] == ':')) {
    options->device = NDR_H5_CUDA;
    options->device_id = text[4] ? read_count("--device cuda:N", text + 5, 0) : DEALT_DEVICE;
  } else {
    cli_refuse(&tool, "--device takes auto, cpu, cuda, cuda:N or all, not '%s'", text);
  }
}

static void read_ddof(void *target, const char *text) {
  if (!cli_decimal(text, &((h5gpured_options *)target)->ddof))
    cli_refuse(&tool, "--ddof takes a number like 1 or 0.5, at least 0, not '%s'", text);
}

static void read_deflate(void *target, const char *text) {
  uint64_t level;
  if (!cli_integer(text, 0, 9, &level)) cli_refuse(&tool, "--deflate takes a level from 0 to 9, not '%s'", text);
  ((h5gpured_options *)target)->deflate = (int)level;
}

static void read_format(void *target, const char *text) {
  h5gpured_options *options = target;
  for (output_format f = FORMAT_TEXT; f <= FORMAT_CSV; f++) {
    if (strcmp(text, format_names[f]) != 0) continue;
    options->format = f;
    options->format_named = true;
    return;
  }
  cli_refuse(&tool, "--format takes text, json, hdf5, npy or csv, not '%s'", text);
}

/* Whether the words are those of a file's note: --help and --version answer only the command line itself. */
static bool reads_note(const void *target) {
  return ((const h5gpured_options *)target)->state_count > 0;
}

static void print_version(void *target, const char *text) {
  (void)text;
  if (reads_note(target)) return;
  printf("h5gpured (ndreduce) %s\n", ndr_version());
  exit(EXIT_SUCCESS);
}

static void print_help(void *target, const char *text) {
  (void)text;
  if (reads_note(target)) return;
  fputs("Usage: h5gpured [options] FILE[:/DATASET | /DATASET][[PART]]...\n"
        "Reduces datasets of HDF5 and netCDF-4 files over any of their dims.\n"
        "If no DATASET is named, all data variables that have the dims of --dims are taken where these are names, else "
        "the one\n"
        "array with the most dims. 'FILE:/{tas,pr*}', 'FILE:/group/*' and 'FILE:/**' name several.\n"
        "A PART is written as in NumPy: 'FILE:/DATASET[0:100, :, ::4]'\n"
        "or by coordinates: 'FILE:/DATASET[time=2001:2010, lat=30:60, lon=350:10, lev=850]'\n\n",
        stdout);
  cli_print_options(&tool, stdout);
  puts("\nOperators:");
  for (int op = 0; op < NDR_OP_COUNT; op++) printf("  %-10s %s\n", ndr_op_name((ndr_op)op), ndr_op_help((ndr_op)op));
  puts("\nExit status: 0 done, 1 the input or the run failed, 2 the command line is wrong.\n"
       "Example: h5gpured ocean.nc:/temp --dims time --op mean,std");
  exit(EXIT_SUCCESS);
}

/* ---- The options ------------------------------------------------------------------------------------------------- */

#define FIELD(name) .at = offsetof(h5gpured_options, name)

static const cli_option rows[] = {
    {'d', "dims", "LIST", FIELD(dims), .not_with = WITH_LIST | WITH_MERGE,
     .help = "dims to reduce: 0,2 or -1 or time,lat or all (default all)"},
    {0, "op", "LIST", CLI_ADDS, read_ops, .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE,
     .help =
         "operators, default sum; all from one read of the data. A text with ':' is an operator of one's own, like\n"
         "'hot(x; t): n += x > t -> n'; man h5gpured has the language"},
    {0, "scan", "OP", CLI_ONCE, read_scan, .not_with = WITH_LIST | WITH_MERGE | WITH_PART,
     .help = "instead of reducing, the running sum, prod, min, max, logsumexp, any or all along the one dim of --dims"},
    {0, "exclusive", FIELD(exclusive), .not_with = WITH_LIST | WITH_MERGE,
     .help = "leave a place's own element out of its running value"},
    {0, "reverse", FIELD(reverse), .not_with = WITH_LIST | WITH_MERGE,
     .help = "let --scan run from the last element to the first"},
    {'k', "keepdims", FIELD(keepdims), .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE,
     .help = "keep reduced dims, with size 1"},
    {0, "select", "PART", FIELD(select), .twice = "a part has commas in it", .not_with = WITH_LIST | WITH_MERGE,
     .help = "reduce this part of each input, as if [PART] stood behind it: time=2001-01:2010-12,lat=30:60"},
    {0, "skipna", FIELD(skip_nan), .not_with = WITH_LIST | WITH_MERGE, .help = "leave NaN elements out"},
    {0, "raw", FIELD(raw), .not_with = WITH_MERGE,
     .help = "take numbers as stored: no missing values, scales and offsets"},
    {0, "where", "EXPR", FIELD(where), .twice = "&& joins conditions", .not_with = WITH_LIST | WITH_MERGE,
     .help = "reduce only elements where this is true: a mask (/PATH or FILE:/PATH), or an expression over the\n"
             "elements x and other arrays of the file, like 'x > 273.15 && lat < 0'"},
    {0, "weights", "BY", FIELD(weights), .twice = "a product has commas in it",
     .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE,
     .help = "weight sum, mean, var, std and norm2: by a coordinate (lat), by its cosine (lat:cos), by the\n"
             "lengths of times (time:days), by a product of these (time:days,lat:cos), or by a dataset (/PATH)"},
    {0, "by", "DIM:KEY", CLI_ONCE, read_by, .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE,
     .help = "reduce DIM in groups: time:" KEYS ",\n"
             "or by labels of integers (DIM:/PATH, DIM:FILE:/PATH, or zones of a map LAT,LON:/PATH); other dims are\n"
             "reduced only if --dims names them"},
    {0, "coarsen", "DIM=N", CLI_ONCE, read_coarsen, .twice = "a list has commas in it",
     .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE,
     .help =
         "reduce DIM in windows of N, several dims as lat=2,lon=2; with ,trim what is left over at the end of a dim\n"
         "is left out, with ,pad it is a shorter window"},
    {0, "weighting", "NAME", CLI_ONCE, read_weighting,
     .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE | WITHOUT_VARIANCE | WITHOUT_WEIGHTS,
     .help = "what weights are to --ddof: frequency (default) or reliability"},
    {0, "with", "Y=FILE", CLI_ADDS, read_with, .not_with = WITH_LIST | WITH_MERGE,
     .help =
         "the array Y of operators and --where is this dataset: FILE:/PATH, FILE or /PATH; or DIM:days, DIM:cos, as\n"
         "--weights has them"},
    {0, "pair-by", "DIM:KEY", CLI_ONCE, read_pair_by, .not_with = WITH_LIST | WITH_MERGE,
     .help = "arrays of --with may have a step for each group of these, like a climatology for time:month (default:\n"
             "the groups of --by)"},
    {0, "pair-by-number", FIELD(by_number), .not_with = WITH_LIST | WITH_MERGE,
     .help = "pair elements of arrays beside the dataset by their numbers, even if coordinates differ"},
    {0, "set", "T=NUMBER", CLI_ADDS, read_set, .not_with = WITH_LIST | WITH_MERGE,
     .help = "the value of the parameter T of operators and --where; of a vector T=NUMBER,NUMBER,..."},
    {0, "concat", "DIM", FIELD(concat), .not_with = WITH_LIST | WITH_MERGE,
     .help =
         "take all inputs as one array: they follow each other along DIM, or with new:NAME are stacked along a new\n"
         "dim NAME, as the members of an ensemble"},
    {0, "part", "K/N", CLI_ONCE, read_part, .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE,
     .help = "reduce only part K of N equal ones, and write its partial states to the file of --state"},
    {0, "state", "FILE", FIELD(state), .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE,
     .help = "the file of partial states that --part writes; replaced if it exists"},
    {0, "merge", FIELD(merge), .not_with = WITH_LIST | WITH_SCAN | WITH_PART,
     .help = "each FILE has the partial states of a part: give the results of all of them, as one run would"},
    {0, "ddof", "N", CLI_ONCE, read_ddof, .not_with = WITH_LIST | WITH_SCAN | WITH_MERGE | WITHOUT_VARIANCE,
     .help = "var and std divide by n - N (default 0)"},
    {'o', "output", "FILE", FIELD(output), .not_with = WITH_LIST | WITH_PART,
     .help = "write the results to FILE: as HDF5 if its name ends in .nc, .h5 and the like, else .csv, .npy, .json\n"
             "or .txt; in HDF5 they are called DATASET, or DATASET_OP if there are several operators, and of a whole\n"
             "file variables without the dims are copied"},
    {0, "overwrite", FIELD(overwrite), .not_with = WITH_LIST | WITH_PART, .help = "replace FILE if it exists"},
    {0, "deflate", "N", CLI_ONCE, read_deflate, .not_with = WITH_LIST | WITH_PART,
     .help = "compress the results in FILE at level N, or not for 0 (default: from 64 KiB on, as the input is)"},
    {0, "format", "NAME", CLI_ONCE, read_format, .not_with = WITH_PART,
     .help = "text, json, hdf5, npy or csv, whatever the name of FILE ends in"},
    {0, "coords", FIELD(coords), .not_with = WITH_LIST | WITH_SCAN | WITH_PART,
     .help = "also give the coordinates of what argmin and argmax find"},
    {0, "json", FIELD(json), .not_with = WITH_PART, .help = "print a line of JSON for each dataset and operator"},
    {0, "list", FIELD(list), .not_with = WITH_SCAN | WITH_MERGE | WITH_PART,
     .help = "list the datasets of each FILE instead of reducing them"},
    {0, "explain", FIELD(explain), .not_with = WITH_LIST,
     .help = "say on stderr how the work is cut up, and how long it took"},
    {0, "device", "NAME", CLI_ONCE, read_device, .not_with = WITH_LIST,
     .help = "auto (default), cpu, cuda, cuda:N, or all for every GPU"},
    {'t', "threads", "N", CLI_ONCE, read_threads, .not_with = WITH_LIST, .help = "CPU threads (default: all)"},
    {0, "memory", "SIZE", CLI_ONCE, read_memory, .not_with = WITH_LIST,
     .help = "budget for buffers, like 64M or 1.5G (default: a quarter of what is free)"},
    {0, "no-plugins", FIELD(no_plugins), .help = "let HDF5 load no filter plugins"},
    {0, "allow-external", FIELD(allow_external), .help = "also read files outside the folder of FILE that it leads to"},
    {0, "progress", FIELD(progress), .not_with = WITH_LIST, .help = "show progress even if stderr is not a terminal"},
    {'q', "quiet", FIELD(quiet), .help = "show no progress, and nothing on what -o writes"},
    {0, "version", .read = print_version, .help = "print the version"},
    {'h', "help", .read = print_help, .help = "print this"},
};

CLI_CHECK(rows);

static void note_given(void *target, int option) {
  ((h5gpured_options *)target)->given |= (uint64_t)1 << option;
}

static void refuse(const char *reason) {
  ranks_take_turn();
  complain("%s (see h5gpured --help)", reason);
  ranks_exit(EXIT_USAGE);
}

static const cli tool = {"h5gpured", "h5gpured", sizeof rows / sizeof *rows, rows, NULL, refuse, note_given};

const cli *const options_table = &tool;

/* ---- The command line -------------------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void end_with(const char *before, const char *reason) {
  complain("%s%s", before, reason);
  exit(EXIT_INPUT);
}

/* Frees what is read of the command line; `given` may be NULL. */
__attribute__((noreturn)) static void end_without_memory(h5gpured_options *options, char **given) {
  files_free(options);
  free(options->history);
  free(options->note);
  free(options->words);
  free(given);
  end_with("", "out of memory");
}

/* Resets the options of a part's command line that are about the part itself or its machine, and those that only the
 * command line of --merge may give. */
static void forget_part(h5gpured_options *options) {
  options->part = options->part_count = 0;
  options->state = NULL;
  options->threads = 0;
  options->memory = 0;
  options->device = NDR_H5_AUTO;
  options->device_id = 0;
  options->deflate = -1;
  options->overwrite = options->allow_external = options->explain = options->progress = options->quiet = false;
}

/* Reads the command line that the first file keeps, and then this one, `given`, again, so that it overrides. (The first
 * reading found the files.) Anybody may have written the file, so its line may have no options of results. */
static void read_merged(h5gpured_options *options, int argc, char **given) {
  int file_count = options->input_count, count;
  char **files = options->inputs, *note;
  if (file_count == 0) cli_refuse(&tool, "--merge: no file of partial states is named");
  if (ndr_h5_state_note(files[0], &note) != NDR_OK) end_with("--merge: ", ndr_last_error());
  char **words = states_words(note, &count);
  if (!words) end_with("--merge: ", "out of memory");
  *options =
      (h5gpured_options){.deflate = -1, .note = note, .words = words, .states = files, .state_count = file_count};
  options->history = history_line(count, words, argc, given);
  if (!options->history) end_without_memory(options, given);
  options->input_count = cli_read(&tool, options, count, words);
  options->inputs = words + 1;
  if (given_with(options, &tool, WITH_PART))
    cli_refuse(&tool, "--merge: %s: its command line has options that --part does not take", files[0]);
  forget_part(options);
  cli_read(&tool, options, argc, given);
  if (!files_expand(options)) end_without_memory(options, given);
}

void options_read(h5gpured_options *options, int argc, char **argv) {
  *options = (h5gpured_options){.deflate = -1};
  char **given = calloc((size_t)argc + 1, sizeof *given); /* in their order, which cli_read changes */
  if (!given) end_with("", "out of memory");
  memcpy(given, argv, (size_t)argc * sizeof *given);
  options->input_count = cli_read(&tool, options, argc, argv);
  options->inputs = argv + 1;
  if (!files_expand(options)) end_without_memory(options, given);
  check_modes(options, &tool);
  check_part(options, &tool);
  if (options->merge) {
    read_merged(options, argc, given);
  } else {
    options->history = history_line(0, NULL, argc, given);
    if (options->part_count) options->note = states_note(argc, given);
  }
  free(given);
  if (!options->history || (options->part_count && !options->note)) end_without_memory(options, NULL);
  check_scan(options, &tool);
  if (!options->dims) options->dims = *options->grouped ? options->grouped : "all";
  options->sums_groups = options->op_count == 0 && *options->grouped && !options->list;
  if (options->op_count == 0) options->ops[options->op_count++] = NDR_SUM;
  check_options(options, &tool);
  if (options->weights && !(options->weights_comment = weights_comment(options->weights)))
    end_without_memory(options, NULL);
}
