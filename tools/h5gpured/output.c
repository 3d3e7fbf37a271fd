/* Gives an answer in the form that is asked for: to standard output, or into the file of -o. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/besides.h"
#include "h5gpured/operators.h"
#include "h5gpured/output.h"

/* NAME, NAME_OP where there are several operators, and NAME_OP_DIM for places found; to be freed, NULL, after a
 * complaint, where there is no memory. */
static char *make_name(const answer *a, int op, const char *dim) {
  const char *slash = a->in_groups ? strchr(a->info->dataset, '/') : strrchr(a->info->dataset, '/');
  const char *leaf = slash ? slash + 1 : a->info->dataset;
  bool single = a->options->op_count == 1 && !dim;
  size_t capacity = strlen(leaf) + (dim ? strlen(dim) : 0) + strlen(op_name(a->options, op)) + 3;
  char *name = malloc(capacity);
  if (name)
    snprintf(name, capacity, "%s%s%s%s%s", leaf, single ? "" : "_", single ? "" : op_name(a->options, op),
             dim ? "_" : "", dim ? dim : "");
  else
    complain("%s: out of memory", a->info->file);
  return name;
}

static bool write_found(const destination *to, const ndr_h5_dataset *dataset, const answer *a) {
  for (int i = 0; i < a->found_count; i++) {
    char *name = make_name(a, a->found[i].op, a->found[i].name);
    DLTensor values = found_tensor(a, i);
    int dim = a->found[i].dim;
    if (!name) return false;
    bool good = ndr_h5_writer_add_located(to->writer, dataset, &a->problem, dim, name, &values) == NDR_OK || fail();
    if (good) print_written_found(a, i, name, to->said);
    free(name);
    if (!good) return false;
  }
  return true;
}

static bool write_results(const destination *to, const ndr_h5_dataset *dataset, const answer *a) {
  for (int i = 0; i < a->options->op_count; i++) {
    char *name = make_name(a, i, NULL);
    if (!name) return false;
    bool good = ndr_h5_writer_add(to->writer, dataset, &a->problem, i, name, &a->results[i]) == NDR_OK || fail();
    if (good) print_written(a, i, name, to->said);
    free(name);
    if (!good) return false;
  }
  return write_found(to, dataset, a);
}

/* What is true of all results of the answer. */
static bool tell_writer(ndr_h5_writer *writer, const answer *a) {
  return (ndr_h5_writer_groups(writer, a->groups) == NDR_OK || fail()) && besides_tell(a->besides, writer);
}

bool output_stream(const destination *to, ndr_h5_dataset *dataset, answer *a, const besides *b) {
  char *names[NDR_MAX_OPS] = {NULL};
  bool good = tell_writer(to->writer, a);
  for (int i = 0; i < a->options->op_count && good; i++) {
    names[i] = make_name(a, i, NULL);
    good = names[i] != NULL;
  }
  work_can_stop(true);
  good = good && reduce_to_writer(to->writer, dataset, a, b, (const char *const *)names);
  for (int i = 0; i < a->options->op_count && good; i++) print_written(a, i, names[i], to->said);
  for (int i = 0; i < a->options->op_count; i++) free(names[i]);
  return good;
}

/* Everything but HDF5, to standard output or to the output's bytes. */
static bool print_answer(const destination *to, const ndr_h5_dataset *dataset, const answer *a) {
  FILE *stream = to ? to->bytes : stdout;
  for (int i = 0; to && i < a->options->op_count; i++) print_written(a, i, NULL, to->said);
  switch (a->options->format) {
  case FORMAT_NPY: print_npy(a, stream); return true;
  case FORMAT_CSV: return print_csv(dataset, a, stream);
  case FORMAT_JSON: print_json(a, stream); return true;
  default: print_text(a, stream); return true;
  }
}

bool output_give(const destination *to, const ndr_h5_dataset *dataset, answer *a) {
  if (a->options->coords && !find_places(dataset, a)) return false;
  if (to && a->options->json) print_json(a, stdout);
  if (!to || a->options->format != FORMAT_HDF5) return print_answer(to, dataset, a);
  crash_while_writing(a->options->output);
  bool good = tell_writer(to->writer, a) && write_results(to, dataset, a);
  crash_while_reading(a->info->file);
  return good;
}
