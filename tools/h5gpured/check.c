/* See check.h. */
#include "h5gpured/check.h"
#include "h5gpured/besides.h"
#include "h5gpured/members.h"
#include "h5gpured/operators.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const format_names[] = {
    [FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_HDF5] = "hdf5", [FORMAT_NPY] = "npy", [FORMAT_CSV] = "csv"};

/* ---- What does not go together ---------------------------------------------------------------------------------- */

const char *given_with(const h5gpured_options *options, const cli *tool, unsigned what) {
  for (int i = 0; i < tool->count; i++)
    if (options->given >> i & 1 && tool->options[i].not_with & what) return tool->options[i].name;
  return NULL;
}

void check_modes(const h5gpured_options *options, const cli *tool) {
  const struct {
    bool is;
    unsigned what;
    const char *before, *behind;
  } modes[] = {{options->list, WITH_LIST, "--list lists what files hold, without", ""},
               {options->scans, WITH_SCAN, "--scan and", " do not go together"},
               {options->merge, WITH_MERGE, "--merge gives what the parts have reduced, without", ""},
               {options->part_count > 0, WITH_PART, "--part gives no results:", " is for --merge"}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    const char *other = modes[i].is ? given_with(options, tool, modes[i].what) : NULL;
    if (other) cli_refuse(tool, "%s --%s%s", modes[i].before, other, modes[i].behind);
  }
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

static const struct {
  const char *extension;
  output_format format;
} known[] = {{"nc", FORMAT_HDF5},   {"nc4", FORMAT_HDF5}, {"cdf", FORMAT_HDF5},  {"h5", FORMAT_HDF5},
             {"hdf5", FORMAT_HDF5}, {"hdf", FORMAT_HDF5}, {"he5", FORMAT_HDF5},  {"nxs", FORMAT_HDF5},
             {"csv", FORMAT_CSV},   {"npy", FORMAT_NPY},  {"json", FORMAT_JSON}, {"txt", FORMAT_TEXT}};

bool has_file_name(const char *text) {
  for (const char *dot = text; (dot = strchr(dot, '.')); dot++) {
    size_t length = 0;
    while (isalnum((unsigned char)dot[1 + length]) || dot[1 + length] == '_') length++;
    for (size_t i = 0; i < sizeof known / sizeof *known && dot > text; i++)
      if (known[i].format == FORMAT_HDF5 && strlen(known[i].extension) == length &&
          strncasecmp(dot + 1, known[i].extension, length) == 0)
        return true;
  }
  return false;
}

/* What a file's name says that it holds; without an extension HDF5. */
static output_format format_of(const char *file, const cli *tool) {
  const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
  if (!dot || !dot[1]) return FORMAT_HDF5;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcasecmp(dot + 1, known[i].extension) == 0) return known[i].format;
  cli_refuse(
      tool,
      "--output '%s': no format has the extension %s; .nc .nc4 .cdf .h5 .hdf5 .hdf .he5 .nxs are HDF5, the others are "
      ".csv .npy .json .txt; --format hdf5, csv, npy, json or text takes any name",
      file, dot);
}

/* Settles where results go and in what form. An output of "-" is none: standard output. */
static void settle_format(h5gpured_options *options, const cli *tool) {
  bool dash = options->output && strcmp(options->output, "-") == 0;
  if (options->output && !*options->output) cli_refuse(tool, "--output: the name is empty");
  if (dash && options->format_named && options->format == FORMAT_HDF5)
    cli_refuse(tool, "--output -: HDF5 cannot be written to standard output, only to a FILE");
  if (dash) options->output = NULL;
  if (!options->format_named) options->format = options->output ? format_of(options->output, tool) : FORMAT_TEXT;
  if (options->output) return;
  if (options->format == FORMAT_HDF5) cli_refuse(tool, "--format hdf5 needs --output FILE");
  if (options->json && options->format_named && options->format != FORMAT_JSON)
    cli_refuse(tool, "--json and --format %s are both for standard output; --output FILE takes one",
               format_names[options->format]);
  if (options->json) options->format = FORMAT_JSON;
}

/* One table, of one input. */
static void check_table(const h5gpured_options *options, const cli *tool) {
  char table[128];
  snprintf(table, sizeof table, options->format_named ? "--format %s" : "--output FILE.%s",
           format_names[options->format]);
  if (options->input_count > 1 && !options->concat)
    cli_refuse(tool, "%s takes one input, not %d; --concat makes them one", table, options->input_count);
  if (options->format != FORMAT_NPY) return;
  if (options->op_count > 1) cli_refuse(tool, "%s takes one operator, not %d", table, options->op_count);
  if (options->coords) cli_refuse(tool, "%s has no room for --coords", table);
}

static void check_format(const h5gpured_options *options, const cli *tool) {
  bool finds = false;
  for (int i = 0; i < options->op_count; i++) finds |= options->ops[i] == NDR_ARGMIN || options->ops[i] == NDR_ARGMAX;
  if (options->coords && !finds) cli_refuse(tool, "--coords needs --op argmin or argmax");
  if (options->overwrite && !options->output) cli_refuse(tool, "--overwrite needs --output FILE");
  if (options->deflate >= 0 && options->format != FORMAT_HDF5)
    cli_refuse(tool, "--deflate needs --output FILE, in HDF5%s%s", options->output ? ", not " : "",
               options->output ? format_names[options->format] : "");
  if (options->format == FORMAT_NPY || options->format == FORMAT_CSV) check_table(options, tool);
}

static void check_list(h5gpured_options *options, const cli *tool) {
  if (options->format != FORMAT_TEXT && options->format != FORMAT_JSON)
    cli_refuse(tool, "--list is text or json, not --format %s", format_names[options->format]);
  options->json = options->format == FORMAT_JSON;
}

/* Whether an operator has a weighted form. Others may then stand beside it. */
static bool weighs(const h5gpured_options *options) {
  for (int i = 0; i < options->op_count; i++)
    if (ndr_op_is_weighted(options->ops[i])) return true;
  return false;
}

/* --ddof and --weighting say how var and std divide. */
static void check_variance(const h5gpured_options *options, const cli *tool) {
  bool varies = false;
  for (int i = 0; i < options->op_count; i++) varies |= options->ops[i] == NDR_VAR || options->ops[i] == NDR_STD;
  const char *idle = varies ? NULL : given_with(options, tool, WITHOUT_VARIANCE);
  if (idle) cli_refuse(tool, "--%s needs --op var or std: no other operator depends on it", idle);
  idle = options->weights ? NULL : given_with(options, tool, WITHOUT_WEIGHTS);
  if (idle) cli_refuse(tool, "--%s needs --weights", idle);
}

static void check_operators(h5gpured_options *options, const cli *tool) {
  char *reason = operators_make(options);
  if (reason) cli_refuse(tool, "%s", reason);
  for (int i = 0; options->weights && i < options->op_count; i++) {
    const char *name = op_name(options, i);
    if (ndr_op_is_weighted(options->ops[i]) || options->ops[i] == NDR_VALID) continue;
    if (!options->op_names[i] && weighs(options)) continue;
    if (options->op_names[i])
      cli_refuse(tool, "--weights: %s reads weights as an array of its own, as w in '%s(x, w): ...' --with w=FILE",
                 name, name);
    cli_refuse(tool,
               "--weights: %s has no weighted form; sum, mean, var, std and norm2 do, and %s may stand beside them, "
               "without weights",
               name, name);
  }
  check_variance(options, tool);
}

/* Whether a condition names an array: any name but x, as --set has replaced those of numbers already. */
static bool names_array(const char *condition) {
  const char *name;
  int length;
  while ((length = expression_name(&condition, &name)) > 0)
    if (length != 1 || *name != 'x') return true;
  return false;
}

static void check_pairing(const h5gpured_options *options, const cli *tool) {
  bool pairs = options->array_count > 0 ||
               (options->where && (where_is_dataset(options->where) || names_array(options->where))) ||
               (options->weights && weights_are_dataset(options->weights)) ||
               (options->by && where_is_dataset(options->by_what));
  if (options->by_number && !pairs)
    cli_refuse(tool,
               "--pair-by-number needs an array beside the dataset: --with, --where, --weights or the labels of --by");
  if (!options->pair_by || options->with_count > 0) return;
  if (options->where && where_is_dataset(options->where))
    cli_refuse(tool, "--pair-by needs an array of --with, which a mask may be: --where m --with m=%s", options->where);
  cli_refuse(tool, "--pair-by needs an array of --with");
}

void check_scan(h5gpured_options *options, const cli *tool) {
  if (!options->scans && options->exclusive) cli_refuse(tool, "--exclusive needs --scan");
  if (!options->scans && options->reverse) cli_refuse(tool, "--reverse needs --scan");
  if (!options->scans) return;
  if (!options->dims || strchr(options->dims, ',') || strcmp(options->dims, "all") == 0)
    cli_refuse(tool, "--scan goes along one dim: --dims DIM names it");
  options->ops[options->op_count++] = options->scan_op;
}

/* The library's sentence, "operand where 'TEXT': CAUSE", has numbers in place of the names of dims. */
static void check_condition(const char *where, const cli *tool) {
  static const char before[] = "operand where '";
  const char *more = has_file_name(where) ? NAMED_FILES : "";
  char *numbered, *sentence;
  const char *wrong = expression_number_dims(where, NULL, &numbered);
  if (wrong) cli_refuse(tool, "--where: %s", wrong);
  size_t begin = strlen(before), end = begin + strlen(numbered);
  bool good = ndr_h5_condition_check(numbered) == NDR_OK;
  bool quoted = !good && strncmp(ndr_last_error(), before, begin) == 0 &&
                strncmp(ndr_last_error() + begin, numbered, end - begin) == 0;
  free(numbered);
  if (good) return;
  if (!(sentence = strdup(ndr_last_error()))) cli_refuse(tool, "out of memory");
  if (quoted) cli_refuse(tool, "--where '%s%s%s", where, sentence + end, more);
  name_options(sentence);
  cli_refuse(tool, "%s%s", sentence, more);
}

/* Who writes 'time >= 2000-02-01' does not mean 1997. */
static void check_where(const char *where, const cli *tool) {
  const char *found = where_is_dataset(where) ? NULL : expression_date(where);
  if (!*where) cli_refuse(tool, "--where: the condition is empty");
  if (found)
    cli_refuse(tool,
               "--where: conditions have no dates, and %.7s is a subtraction: select by FILE:/DATASET[time=%.7s:]",
               found, found);
  if (!where_is_dataset(where)) check_condition(where, tool);
}

void check_options(h5gpured_options *options, const cli *tool) {
  int count;
  if (options->input_count == 0) cli_refuse(tool, "no input file is named");
  if (ndr_h5_dims_parse(options->dims, 0, NULL, &count, NULL) == NDR_ERR_PARSE)
    cli_refuse(tool, "--dims: %s", ndr_last_error());
  settle_format(options, tool);
  check_format(options, tool);
  if (options->scans && options->json && options->output && options->format == FORMAT_HDF5)
    cli_refuse(tool, "--scan writes its results as they come, without --json beside --output");
  if (options->list) check_list(options, tool);
  char *reason = options->select ? part_put(options) : NULL;
  if (reason) cli_refuse(tool, "%s", reason);
  if (options->by && options->coarsen)
    cli_refuse(tool, "--by and --coarsen: results have groups along one dim only, take one of the two");
  const char *new_dim = concat_new_dim(options);
  if (new_dim && !*new_dim) cli_refuse(tool, "--concat new:NAME stacks inputs along a new dim, whose name is missing");
  if (options->weights && !*options->weights) cli_refuse(tool, "--weights: the name is empty");
  if (options->where) check_where(options->where, tool);
  check_operators(options, tool);
  check_pairing(options, tool);
}

void check_part(const h5gpured_options *options, const cli *tool) {
  if (options->state && !options->part_count) cli_refuse(tool, "--state needs --part K/N");
  if (!options->part_count) return;
  if (!options->state || !*options->state) cli_refuse(tool, "--part needs --state FILE");
  if (options->input_count > 1 && !options->concat)
    cli_refuse(tool, "--part takes one input, not %d; --concat makes them one", options->input_count);
}
