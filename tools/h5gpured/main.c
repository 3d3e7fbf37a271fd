/* h5gpured: reductions of HDF5 and netCDF-4 datasets from the command line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/streams.h"
#include "h5gpured/besides.h"
#include "h5gpured/members.h"
#include "h5gpured/operators.h"
#include "h5gpured/output.h"
#include "h5gpured/ranks.h"
#include "h5gpured/results.h"

/* The signal that has asked for the work to stop. */
static volatile sig_atomic_t stopped_by;

/* Whether there may be a file to tidy up: writing looks at stopped_by then. */
static volatile sig_atomic_t writes_file;

/* Else the signal, which is no longer caught, ends the program at once: HDF5 looks at nothing, and may be lost in a
 * malformed file. So does a second one. */
static void stop(int signal_number) {
  stopped_by = signal_number;
  if (!writes_file) raise(signal_number);
}

static void catch_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = stop, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
  struct sigaction before;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
}

bool work_is_stopped(void) {
  return stopped_by != 0;
}

void work_can_stop(bool can) {
  writes_file = can;
}

static int is_stopped(void *user, int64_t bytes, int64_t total_bytes) {
  (void)user;
  (void)bytes;
  (void)total_bytes;
  return stopped_by != 0;
}

/* Ends as the signal would have, so that a shell's loop ends with us. */
static void end_by_signal(void) {
  signal(stopped_by, SIG_DFL);
  raise(stopped_by);
}

/* ---- One dataset ------------------------------------------------------------------------------------------------ */

/* Refuses an output that the dataset, or the coordinates that have been read of it, are made of, before the work. */
static bool output_protects(const destination *to, const ndr_h5_dataset *dataset) {
  return !to || ndr_h5_writer_protect(to->writer, dataset) == NDR_OK || fail();
}

static bool is_complex(ndr_dtype dtype) {
  return dtype == NDR_C64 || dtype == NDR_C128;
}

static bool is_float(ndr_dtype dtype) {
  return dtype == NDR_F16 || dtype == NDR_BF16 || dtype == NDR_F32 || dtype == NDR_F64;
}

/* Weighted results are f64; and f64 has NaN for integers of which a condition leaves none. */
static ndr_dtype reduced_dtype(const h5gpured_options *options, ndr_dtype dtype) {
  bool widens = options->weights || (options->where && !is_float(dtype));
  return widens && !is_complex(dtype) ? NDR_F64 : dtype;
}

/* Dims stay in the order in which they are named, which answers have, too. */
static bool make_problem(const ndr_h5_dataset *dataset, answer *a, const besides *b, int dim_count, const int *dims) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  int needs_groups = -1;
  const h5gpured_options *options = a->options;
  ndr_problem *problem = &a->problem;
  if (ndr_h5_problem(problem, dataset, dim_count, dims, options->op_count, a->ops) != NDR_OK) return fail();
  if (options->scans) problem->dim_count = 0;
  problem->keepdims = options->keepdims;
  problem->skip_nan = options->skip_nan;
  problem->ddof = options->ddof;
  problem->weighting = options->weighting;
  problem->dtype = reduced_dtype(options, problem->dtype);
  besides_put(options, b, &how);
  how.groups = a->groups;
  how.needs_groups = &needs_groups;
  if (ndr_h5_problem_operands(problem, dataset, &how) != NDR_OK) return besides_fail(options, b, needs_groups);
  memcpy(problem->dims, dims, (size_t)dim_count * sizeof *dims);
  return true;
}

/* The dims of groups are reduced, too. */
static void add_group_dims(const answer *a, int *dim_count, int *dims) {
  for (int d = 0; d < a->info->ndim; d++) {
    bool named = !is_in_groups(a, d);
    for (int i = 0; i < *dim_count; i++) named |= dims[i] == d;
    if (!named) dims[(*dim_count)++] = d;
  }
}

/* Of a curved grid, latitudes have dims of their own and are none: names them. A dim of --concat that no file has may
 * be meant as a new one. */
static bool fail_dims(const h5gpured_options *options, const ndr_h5_info *info, const char *where) {
  const ndr_h5_access access = {.size = sizeof access, .no_plugins = options->no_plugins, .any_type = 1};
  const char *slash = strrchr(info->dataset, '/');
  const int group = slash ? (int)(slash - info->dataset) : 0;
  char reason[512], path[512];
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  for (const char *entry = options->dims; entry; entry = strchr(entry, ',') ? strchr(entry, ',') + 1 : NULL) {
    ndr_h5_dataset *found;
    int length = (int)strcspn(entry, ",");
    snprintf(path, sizeof path, "%.*s/%.*s", group, info->dataset, length, entry);
    if (ndr_h5_open(&found, info->file, path, &access) != NDR_OK) continue;
    const ndr_h5_info *own = ndr_h5_describe(found);
    bool curved = own->ndim == 2 && own->dim_names[0] && own->dim_names[1];
    if (curved)
      complain("%s: %s; %.*s has the dims %s, %s", where, reason, length, entry, own->dim_names[0], own->dim_names[1]);
    ndr_h5_close(found);
    if (curved) return false;
  }
  const bool stacks = concat_is_name(options) && concat_dim(options, info) < 0;
  complain("%s: %s%s%s", where, reason, stacks ? STACKS_FILES : "", stacks ? options->concat : "");
  return false;
}

static bool answer_dataset(ndr_h5_dataset *dataset, answer *a, kept_groups *kept, const char *where,
                           const destination *to) {
  const h5gpured_options *options = a->options;
  int dims[NDR_MAX_DIMS], dim_count;
  if (ndr_h5_dims_parse(options->dims, a->info->ndim, a->info->dim_names, &dim_count, dims) != NDR_OK)
    return fail_dims(options, a->info, where);
  a->scan_dim = dims[0];
  if (options->scans && dim_count != 1) {
    complain("%s: --scan goes along one dim, not %d: name it by --dims", where, dim_count);
    return false;
  }
  const ndr_h5_writer *writer = to ? to->writer : NULL;
  if (!groups_open(a, kept, dataset, where, writer)) return false;
  add_group_dims(a, &dim_count, dims);
  if (!operators_open(options, a->info, where, a->ops)) return false;
  besides b;
  a->besides = &b;
  bool good = besides_open(options, dataset, where, writer, &b) && output_protects(to, dataset) &&
              make_problem(dataset, a, &b, dim_count, dims) && results_describe(a, dataset, where);
  if (good && (options->part_count || !ranks_leads()))
    good = reduce_dataset(dataset, a, &b);
  else if (good && to && results_stream(a))
    good = output_stream(to, dataset, a, &b);
  else if (good)
    good = results_allocate(a, where) && reduce_dataset(dataset, a, &b) && output_give(to, dataset, a);
  besides_close(&b);
  a->besides = NULL;
  operators_close(options, a->ops);
  return good;
}

/* What could have been meant as well is not passed over in silence. */
static void note_others(const h5gpured_options *options, const ndr_h5_info *info) {
  if (info->other_count == 0 || options->quiet) return;
  complain("%s: took %s, which has the most dims, and left %d other%s: %s--list shows them", info->file, info->dataset,
           info->other_count, info->other_count > 1 ? "s" : "", options->concat ? "" : "'FILE:/**' takes all, ");
}

/* FILE:/PATH, to be freed; NULL, after a complaint, where there is no memory. */
static char *place(const char *file, const char *path) {
  size_t capacity = strlen(file) + strlen(path) + 2;
  char *where = malloc(capacity);
  if (where)
    snprintf(where, capacity, "%s:%s", file, path);
  else
    complain("%s: out of memory", file);
  return where;
}

/* `one`: which of several datasets of an input it is, or NULL; `columns`: see answer. */
static bool answer_opened(const h5gpured_options *options, ndr_h5_dataset *dataset, kept_groups *kept,
                          const member *one, table_columns *columns, const destination *to) {
  answer a = {.options = options,
              .info = ndr_h5_describe(dataset),
              .problem = NDR_PROBLEM_INIT,
              .in_groups = one != NULL,
              .columns = columns,
              .joined = one ? one->joined : options->concat != NULL};
  char *where = place(a.info->file, a.info->dataset);
  if (where && one) complaints_begin(a.info->dataset); /* answer_many ends it */
  bool good = where && answer_dataset(dataset, &a, kept, where, to);
  complaints_begin(NULL);
  for (int i = 0; i < options->op_count; i++) free(a.results[i].data);
  for (int i = 0; i < a.found_count; i++) {
    free(a.found[i].values);
    free(a.found[i].dates);
  }
  free(where);
  ndr_h5_close(dataset);
  return good;
}

static bool open_member(const members *m, const member *one, ndr_h5_dataset **dataset) {
  const ndr_h5_access access = input_access(m->options);
  complaints_begin(one->path);
  bool good = member_open(m, one, &access, dataset);
  complaints_begin(NULL);
  return good;
}

static bool answer_member(const members *m, int i, kept_groups *kept, table_columns *columns, const destination *to) {
  ndr_h5_dataset *dataset;
  bool follows = i == m->chosen[0] || ranks_receive_structure();
  if (!follows || !open_member(m, &m->all[i], &dataset)) return false;
  return answer_opened(m->options, dataset, kept, &m->all[i], m->several ? columns : NULL, to);
}

/* Without -o a dataset that fails does not keep the others from being answered. */
static bool answer_many(const h5gpured_options *options, int input, const destination *to) {
  members m;
  kept_groups kept = {NULL, NULL};
  table_columns columns = {.names = NULL};
  bool found = members_find(options, input, &m), good = found;
  if (found && (options->part_count || options->state_count) && m.chosen_count != 1) {
    complain("%s: --part takes one dataset, and %d have these dims: name it as FILE:/DATASET", options->inputs[input],
             m.chosen_count);
    found = good = false;
  }
  if (found) found = good = members_find_dates(&m, &columns);
  for (int c = 0; found && c < m.chosen_count && (good || (!to && !ranks_comm())); c++)
    good = answer_member(&m, m.chosen[c], &kept, &columns, to) && good;
  if (good && to && members_are_copied(&m)) {
    members_leave_ranks(&m);
    good = others_copy(&m, to);
  }
  complaints_end();
  free(columns.names);
  groups_close(&kept);
  members_free(&m);
  return good;
}

static bool answer_input(const h5gpured_options *options, int input, const destination *to) {
  ndr_h5_dataset *dataset;
  kept_groups kept = {NULL, NULL};
  bool many;
  crash_while_reading(options->inputs[input]);
  if (!ranks_receive_structure() || !input_is_many(options, input, &many)) return false;
  if (many) return answer_many(options, input, to);
  if (!input_open(options, input, &dataset)) return false;
  note_others(options, ndr_h5_describe(dataset));
  bool good = answer_opened(options, dataset, &kept, NULL, NULL, to);
  groups_close(&kept);
  return good;
}

/* ---- All of them ------------------------------------------------------------------------------------------------ */

/* Without -o, the other inputs are answered even if one fails. Not by ranks: one of them may fail alone, and
 * would be at the next input before the others. */
static bool answer_all(const h5gpured_options *options, const destination *to) {
  bool good = true;
  int count = options->concat ? 1 : options->input_count;
  for (int i = 0; i < count && (good || (!to && !ranks_comm())); i++) good = answer_input(options, i, to) && good;
  return ranks_agree(good);
}

/* Whether what was asked for on stderr has arrived: else it is lost. */
static bool has_explained(const h5gpured_options *options) {
  return !options->explain || !ferror(stderr);
}

/* Answers, and makes the file of it appear, unless JSON or an explanation that was asked for beside it is lost. *text
 * is where the file's `length` bytes come to be, where it is not HDF5. */
static bool write_file(const h5gpured_options *options, const destination *to, char *const *text,
                       const size_t *length) {
  if (!to->said || (options->format != FORMAT_HDF5 && !to->bytes)) {
    complain("out of memory");
    return false;
  }
  bool good = answer_all(options, to);
  crash_while_writing(options->output);
  if (!good || !streams_printed() || !has_explained(options)) return false;
  writes_file = true;
  if (!to->bytes) return ndr_h5_writer_commit(to->writer) == NDR_OK || fail();
  if (fflush(to->bytes) == 0 && !ferror(to->bytes))
    return ndr_h5_writer_commit_bytes(to->writer, *text, *length) == NDR_OK || fail();
  complain("%s: out of memory", options->output);
  return false;
}

static bool write_all(const h5gpured_options *options) {
  destination to = {NULL, NULL, NULL};
  char *said = NULL, *bytes = NULL;
  size_t said_length, length = 0;
  ndr_h5_writer_options how = NDR_H5_WRITER_OPTIONS_INIT;
  how.overwrite = options->overwrite;
  how.deflate = options->deflate;
  how.history = options->history;
  how.threads = options->threads;
  how.on_remark = say_remark;
  how.on_progress = is_stopped;
  how.comment = options->weights_comment;
  how.where = options->where;
  crash_while_writing(options->output);
  writes_file = true; /* for a moment, to see that it can be */
  bool created = ndr_h5_writer_create(&to.writer, options->output, options->input_count,
                                      (const char *const *)options->files, &how) == NDR_OK;
  writes_file = false;
  if (!created) return fail();
  to.said = open_memstream(&said, &said_length);
  if (options->format != FORMAT_HDF5) to.bytes = open_memstream(&bytes, &length);
  bool good = !stopped_by && write_file(options, &to, &bytes, &length);
  if (to.said) fclose(to.said);
  if (to.bytes) fclose(to.bytes);
  if (good && !options->quiet && !options->json) streams_note(said);
  free(said);
  free(bytes);
  ndr_h5_writer_destroy(to.writer);
  return good;
}

/* The files of the inputs are looked up first: the output must be none of them, and JSON has those of --concat. */
static bool split_inputs(h5gpured_options *options) {
  bool json = options->json || options->format == FORMAT_JSON;
  if (!options->output && !(options->concat && json)) return true;
  options->files = calloc((size_t)options->input_count + 1, sizeof *options->files);
  bool good = options->files != NULL;
  if (!good) complain("out of memory");
  for (int i = 0; good && i < options->input_count; i++) {
    char *path = NULL;
    good = ndr_h5_split(options->inputs[i], &options->files[i], &path) == NDR_OK || fail();
    free(path);
  }
  return good;
}

static void free_files(h5gpured_options *options) {
  for (int i = 0; options->files && i < options->input_count; i++) free(options->files[i]);
  free(options->files);
}

/* Only rank 0 writes, and only it splits the inputs. */
static bool answer_or_write(h5gpured_options *options) {
  if (!ranks_leads()) return answer_all(options, NULL);
  return split_inputs(options) && (options->output ? write_all(options) : answer_all(options, NULL));
}

/* Who groups times mostly wants means. */
static void note_sums(const h5gpured_options *options) {
  if (options->sums_groups && !options->quiet)
    complain("%s without --op gives sums, as everywhere; --op mean gives means", options->by ? "--by" : "--coarsen");
}

static bool list_files(const h5gpured_options *options) {
  bool good = true;
  for (int i = 0; i < options->input_count; i++) good = list_file(options, options->inputs[i]) == 0 && good;
  return good;
}

int main(int argc, char **argv) {
  h5gpured_options options;
  streams_open("h5gpured", EXIT_INPUT);
  options_read(&options, argc, argv);
  ranks_start(&options);
  catch_signals();
  crash_catch();
  bool good = options.list ? list_files(&options) : answer_or_write(&options);
  good = ranks_agree(good);
  good = good && has_explained(&options);
  if (good) note_sums(&options);
  free(options.history);
  free(options.note);
  free(options.weights_comment);
  free(options.words);
  operators_free(&options);
  free_files(&options);
  part_free(&options);
  files_free(&options);
  if (stopped_by) {
    fflush(stdout);
    end_by_signal();
  }
  return good ? EXIT_SUCCESS : EXIT_INPUT;
}
