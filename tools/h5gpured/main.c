/* h5gpured: reductions of HDF5 and netCDF-4 datasets from the command line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/streams.h"
#include "h5gpured/h5gpured.h"

/* The signal that has asked for the work to stop. */
static volatile sig_atomic_t stopped_by;

/* Whether there may be a file to tidy up: the library looks at stopped_by then. */
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

/* Ends as the signal would have, so that a shell's loop ends with us. */
static void end_by_signal(void) {
  signal(stopped_by, SIG_DFL);
  raise(stopped_by);
}

/* ---- One dataset ------------------------------------------------------------------------------------------------ */

static bool fail_with(const char *where) {
  complain("%s: %s", where, ndr_last_error());
  return false;
}

static bool fail(void) {
  complain("%s", ndr_last_error());
  return false;
}

static void print_lines(char *text, FILE *stream) {
  for (char *end; (end = strchr(text, '\n')); text = end + 1) {
    *end = 0;
    cli_print_visible(text, stream);
    fputc('\n', stream);
  }
  cli_print_visible(text, stream);
}

static bool explain(ndr_h5_dataset *dataset, const answer *a, const ndr_h5_options *how) {
  size_t length, capacity = 4096 + 4 * strlen(a->info->dataset) + 4 * strlen(a->info->file); /* 4: as \x1b */
  char *text = malloc(capacity);
  if (!text) {
    complain("%s: out of memory", a->info->file);
    return false;
  }
  bool good = ndr_h5_explain(dataset, a->dim_count, a->dims, a->options->op_count, a->options->ops, how, text, capacity,
                             &length) == NDR_OK;
  if (good) print_lines(text, stderr);
  free(text);
  return good || fail();
}

/* What on_progress was last told, kept for --explain. */
typedef struct {
  progress_bar bar;
  bool shown, warned;
  ndr_h5_progress last;
} progress_watch;

static void watch(void *user, const ndr_h5_progress *now) {
  progress_watch *w = user;
  w->last = *now;
  if (now->warning && !w->warned) {
    progress_clear(&w->bar);
    complain("%s; the CPU does it instead", now->warning);
    w->warned = true;
  }
  if (w->shown) progress_draw(&w->bar, now);
}

/* One stage: how fast the elements went through it, and its share of what the threads could do; a stage that was only
 * looked into has no speed. */
static void explain_stage(const char *name, double seconds, int64_t bytes) {
  if (seconds >= 0.0005) fprintf(stderr, ", %s %.3f s (%.3g GB/s)", name, seconds, (double)bytes / 1e9 / seconds);
}

/* Reading threads share the first three stages. Reducing is the limit where those had to wait for it: where it took
 * more of its thread's time than waiting did, and more than they were busy. Else it is the stage that took most of
 * theirs. */
static void explain_time(const ndr_h5_progress *p) {
  if (p->slabs == 0) return;
  double all = p->wait_seconds + p->reduce_seconds, supply = p->read_seconds + p->decode_seconds + p->unpack_seconds;
  const char *reducing = p->device.device_type == kDLCPU ? "reducing" : "copying and reducing";
  bool waited = p->reduce_seconds > p->wait_seconds && p->reduce_seconds > supply / p->threads;
  const char *limit = waited                                  ? reducing
                      : 2 * p->read_seconds > supply          ? "reading"
                      : p->decode_seconds > p->unpack_seconds ? "decoding"
                                                              : "unpacking";
  fprintf(stderr, "time     %.3f s (%.3g GB/s)", all, (double)p->bytes / 1e9 / all);
  explain_stage("reading", p->read_seconds, p->stored_bytes);
  explain_stage("decoding", p->decode_seconds, p->bytes);
  explain_stage("unpacking", p->unpack_seconds, p->bytes);
  explain_stage(reducing, p->reduce_seconds, p->bytes);
  fprintf(stderr, "; the limit was %s\n", limit);
}

static bool reduce(ndr_h5_dataset *dataset, answer *a, const ndr_options *reduce_options, const weights *by) {
  const h5gpured_options *options = a->options;
  progress_watch w = {.shown = options->progress || (!options->quiet && isatty(STDERR_FILENO))};
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  how.reduce = reduce_options;
  how.device = options->device;
  how.device_id = options->device_id;
  how.memory = options->memory;
  how.on_progress = watch;
  how.user = &w;
  if (options->weights) {
    how.weights = &by->tensor;
    how.weight_dims = by->dims;
  }
  if (options->explain && !explain(dataset, a, &how)) return false;
  DLTensor *results[NDR_MAX_OPS];
  for (int i = 0; i < options->op_count; i++) results[i] = &a->results[i];
  progress_start(&w.bar, a->info->dataset);
  ndr_status status = ndr_h5_reduce(dataset, a->dim_count, a->dims, options->op_count, options->ops, results, &how);
  progress_clear(&w.bar);
  if (status != NDR_OK) return fail();
  if (options->explain) explain_time(&w.last);
  return true;
}

/* Where results go with -o: the file, and what is to be said of it once it is there. */
typedef struct {
  ndr_h5_writer *writer;
  FILE *said, *bytes; /* the file's contents, where it is not HDF5 */
} output;

/* NAME, NAME_OP where there are several operators, and NAME_OP_DIM for places found; to be freed, NULL, after a
 * complaint, where there is no memory. */
static char *make_name(const answer *a, int op, const char *dim) {
  const char *slash = strrchr(a->info->dataset, '/'), *leaf = slash ? slash + 1 : a->info->dataset;
  bool single = a->options->op_count == 1 && !dim;
  size_t capacity = strlen(leaf) + (dim ? strlen(dim) : 0) + 32;
  char *name = malloc(capacity);
  if (name)
    snprintf(name, capacity, "%s%s%s%s%s", leaf, single ? "" : "_", single ? "" : ndr_op_name(a->options->ops[op]),
             dim ? "_" : "", dim ? dim : "");
  else
    complain("%s: out of memory", a->info->file);
  return name;
}

static bool write_found(const output *to, const ndr_h5_dataset *dataset, const answer *a) {
  for (int i = 0; i < a->found_count; i++) {
    char *name = make_name(a, a->found[i].op, a->found[i].name);
    DLTensor values = found_tensor(a, i);
    int dim = a->found[i].dim;
    if (!name) return false;
    bool good =
        ndr_h5_writer_add_located(to->writer, dataset, a->dim_count, a->dims, dim, name, &values) == NDR_OK || fail();
    if (good) print_written_found(a, i, name, to->said);
    free(name);
    if (!good) return false;
  }
  return true;
}

static bool write_results(const output *to, const ndr_h5_dataset *dataset, const answer *a) {
  for (int i = 0; i < a->options->op_count; i++) {
    char *name = make_name(a, i, NULL);
    ndr_op op = a->options->ops[i];
    if (!name) return false;
    bool good =
        ndr_h5_writer_add(to->writer, dataset, a->dim_count, a->dims, op, name, &a->results[i]) == NDR_OK || fail();
    if (good) print_written(a, i, name, to->said);
    free(name);
    if (!good) return false;
  }
  return write_found(to, dataset, a);
}

/* Everything but HDF5, to standard output or to the output's bytes. */
static bool print_answer(const output *to, const ndr_h5_dataset *dataset, const answer *a) {
  FILE *stream = to ? to->bytes : stdout;
  for (int i = 0; to && i < a->options->op_count; i++) print_written(a, i, NULL, to->said);
  switch (a->options->format) {
  case FORMAT_NPY: print_npy(a, stream); return true;
  case FORMAT_CSV: return print_csv(dataset, a, stream);
  case FORMAT_JSON: print_json(a, stream); return true;
  default: print_text(a, stream); return true;
  }
}

static bool give_answer(const output *to, const ndr_h5_dataset *dataset, answer *a) {
  if (a->options->coords && !find_places(dataset, a)) return false;
  if (to && a->options->json) print_json(a, stdout);
  if (!to || a->options->format != FORMAT_HDF5) return print_answer(to, dataset, a);
  crash_while_writing(a->options->output);
  bool good = write_results(to, dataset, a);
  crash_while_reading(a->info->file);
  return good;
}

/* Refuses an output that the dataset, or the coordinates that have been read of it, are made of, before the work. */
static bool output_protects(const output *to, const ndr_h5_dataset *dataset) {
  return !to || ndr_h5_writer_protect(to->writer, dataset) == NDR_OK || fail();
}

static bool answer_dataset(ndr_h5_dataset *dataset, answer *a, const char *where, const output *to) {
  const h5gpured_options *options = a->options;
  DLTensor tensor = ndr_h5_tensor(dataset);
  ndr_options how = NDR_OPTIONS_INIT;
  how.keepdims = options->keepdims;
  how.skip_nan = options->skip_nan;
  how.ddof = options->ddof;
  how.threads = options->threads;
  if (ndr_h5_dims_parse(options->dims, a->info->ndim, a->info->dim_names, &a->dim_count, a->dims) != NDR_OK)
    return fail_with(where);
  weights by = {.tensor = {.data = NULL}};
  if (options->weights) tensor.dtype = ndr_dtype_to_dlpack(NDR_F64);
  bool good = (!options->weights || weights_read(options, dataset, where, to ? to->writer : NULL, &by)) &&
              output_protects(to, dataset) && results_allocate(a, &how, &tensor, where) &&
              reduce(dataset, a, &how, &by) && give_answer(to, dataset, a);
  weights_free(&by);
  return good;
}

/* What could have been meant as well is not passed over in silence. */
static void note_others(const h5gpured_options *options, const ndr_h5_info *info) {
  if (info->other_count == 0 || options->quiet) return;
  complain("%s: took %s, which has the most dims, and left %d other%s: %s--list shows them", info->file, info->dataset,
           info->other_count, info->other_count > 1 ? "s" : "", options->concat ? "" : "'FILE:/*' takes all, ");
}

static bool answer_opened(const h5gpured_options *options, ndr_h5_dataset *dataset, const void *to) {
  answer a = {.options = options, .info = ndr_h5_describe(dataset)};
  size_t capacity = strlen(a.info->file) + strlen(a.info->dataset) + 2;
  char *where = malloc(capacity);
  bool good = where != NULL;
  if (!good) complain("%s: out of memory", a.info->file);
  if (good) {
    snprintf(where, capacity, "%s:%s", a.info->file, a.info->dataset);
    good = answer_dataset(dataset, &a, where, to);
  }
  for (int i = 0; i < options->op_count; i++) free(a.results[i].data);
  for (int i = 0; i < a.found_count; i++) {
    free(a.found[i].values);
    free(a.found[i].dates);
  }
  free(where);
  ndr_h5_close(dataset);
  return good;
}

static bool answer_input(const h5gpured_options *options, int input, const output *to) {
  ndr_h5_dataset *dataset;
  crash_while_reading(options->inputs[input]);
  if (input_is_many(options, input)) return input_each(options, input, answer_opened, to);
  if (!input_open(options, input, &dataset)) return false;
  note_others(options, ndr_h5_describe(dataset));
  return answer_opened(options, dataset, to);
}

/* ---- All of them ------------------------------------------------------------------------------------------------ */

/* Without -o an input that fails does not keep the others from being answered. */
static bool answer_all(const h5gpured_options *options, const output *to) {
  bool good = true;
  int count = options->concat ? 1 : options->input_count;
  for (int i = 0; i < count && (good || !to); i++) good = answer_input(options, i, to) && good;
  return good;
}

/* Answers, and makes the file of it appear; *text is where its `length` bytes come to be, where it is not HDF5. */
static bool write_file(const h5gpured_options *options, const output *to, char *const *text, const size_t *length) {
  if (!to->said || (options->format != FORMAT_HDF5 && !to->bytes)) {
    complain("out of memory");
    return false;
  }
  bool good = answer_all(options, to);
  crash_while_writing(options->output);
  if (!good) return false;
  writes_file = true;
  if (!to->bytes) return ndr_h5_writer_commit(to->writer, &stopped_by) == NDR_OK || fail();
  if (fflush(to->bytes) == 0 && !ferror(to->bytes))
    return ndr_h5_writer_commit_bytes(to->writer, *text, *length, &stopped_by) == NDR_OK || fail();
  complain("%s: out of memory", options->output);
  return false;
}

static bool write_all(const h5gpured_options *options, const char *const *files) {
  output to = {NULL, NULL, NULL};
  char *said = NULL, *bytes = NULL;
  size_t said_length, length = 0;
  ndr_h5_writer_options how = NDR_H5_WRITER_OPTIONS_INIT;
  how.overwrite = options->overwrite;
  how.deflate = options->deflate;
  how.history = options->history;
  how.on_remark = say_remark;
  char *comment = options->weights ? weights_comment(options->weights) : NULL;
  how.comment = comment;
  crash_while_writing(options->output);
  writes_file = true; /* for a moment, to see that it can be */
  bool created = ndr_h5_writer_create(&to.writer, options->output, options->input_count, files, &how) == NDR_OK;
  writes_file = false;
  free(comment);
  if (!created) return fail();
  to.said = open_memstream(&said, &said_length);
  if (options->format != FORMAT_HDF5) to.bytes = open_memstream(&bytes, &length);
  bool good = !stopped_by && write_file(options, &to, &bytes, &length);
  if (to.said) fclose(to.said);
  if (to.bytes) fclose(to.bytes);
  if (good && !options->quiet && !options->json) fputs(said, stdout);
  free(said);
  free(bytes);
  ndr_h5_writer_destroy(to.writer);
  return good;
}

/* The files of the inputs are looked up first, as the output must be none of them. */
static bool split_and_write(const h5gpured_options *options) {
  char **files = calloc((size_t)options->input_count, sizeof *files);
  bool good = files != NULL;
  if (!good) complain("out of memory");
  for (int i = 0; good && i < options->input_count; i++) {
    char *path = NULL;
    good = ndr_h5_split(options->inputs[i], &files[i], &path) == NDR_OK || fail();
    free(path);
  }
  good = good && write_all(options, (const char *const *)files);
  for (int i = 0; files && i < options->input_count; i++) free(files[i]);
  free(files);
  return good;
}

static bool list_all(const h5gpured_options *options) {
  bool good = true;
  for (int i = 0; i < options->input_count; i++) good = list_file(options, options->inputs[i]) == 0 && good;
  return good;
}

int main(int argc, char **argv) {
  h5gpured_options options;
  streams_open("h5gpured", EXIT_INPUT);
  options_read(&options, argc, argv);
  catch_signals();
  crash_catch();
  bool good = options.list     ? list_all(&options)
              : options.output ? split_and_write(&options)
                               : answer_all(&options, NULL);
  if (options.explain && ferror(stderr)) good = false; /* what was asked for is lost */
  free(options.history);
  if (stopped_by) {
    fflush(stdout);
    end_by_signal();
  }
  return good ? EXIT_SUCCESS : EXIT_INPUT;
}
