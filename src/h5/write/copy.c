/* ndr_h5_writer_copy: a variable of the input that is in the output for its own sake. What a result brings with it is
 * copied by cf_copy.c. */
#include <stdlib.h>
#include <string.h>

#include "h5/file/attributes.h"
#include "h5/write/cf/cf_names.h"
#include "h5/write/copy.h"
#include "h5/write/writer.h"

ndr_status ndr_copy_check_memory(const ndr_h5_dataset *source) {
  int64_t bytes = 2 * (int64_t)source->element_bytes;
  for (int d = 0; d < source->info.ndim; d++)
    if (source->info.shape[d] < 0 || __builtin_mul_overflow(bytes, source->info.shape[d], &bytes)) bytes = INT64_MAX;
  if (bytes <= ndr_h5_free_memory()) return NDR_OK;
  return ndr_fail(NDR_ERR_MEMORY, "%s: too large to be copied: its elements need %.3g GB, twice", source->where,
                  (double)bytes / 2e9);
}

ndr_status ndr_copy_check_elements(const ndr_h5_dataset *source) {
  bool table = source->elements && source->type_class != H5T_STRING;
  if (!table && !source->field) return NDR_OK;
  return ndr_fail(NDR_ERR_DTYPE, "%s: holds %s, which cannot be copied", source->where,
                  source->field ? "elements of a table" : source->elements);
}

/* The files of a series must store elements in one way. */
static ndr_status check_elements(const ndr_h5_dataset *source) {
  NDR_TRY(ndr_copy_check_elements(source));
  for (int p = 1; p < source->part_count; p++) {
    htri_t same = ndr_hdf_same_meaning(source->parts[0]->id, source->parts[p]->id);
    if (same < 0) return ndr_hdf_fail(NDR_ERR_FILE, source->parts[p]->where, "its attributes cannot be read");
    if (!same)
      return ndr_fail(NDR_ERR_DTYPE, "%s: is stored in another way than %s, and cannot be joined with it",
                      source->parts[p]->where, source->parts[0]->where);
  }
  return NDR_OK;
}

/* As ndr_cf_variable_open would have it. pieces: room for one. */
static ndr_cf_variable as_variable(const ndr_h5_dataset *source, ndr_h5_dataset **pieces) {
  int count = source->part_count, along = source->series_dim;
  *pieces = (ndr_h5_dataset *)(uintptr_t)source; /* which is not changed */
  ndr_cf_variable v = {.count = count ? count : 1, .pieces = count ? source->parts : pieces, .fits = true};
  v.whole = *v.pieces[0];
  if (count == 0) return v;
  v.whole.part_count = count;
  v.whole.parts = source->parts;
  v.whole.series_dim = along;
  v.whole.axis = source->axis;
  v.whole.axis_part = source->axis_part;
  v.whole.info.shape[along] = source->info.shape[along];
  return v;
}

static ndr_status copy(ndr_h5_writer *writer, const ndr_h5_dataset *source, const char **name) {
  int from[NDR_MAX_DIMS];
  ndr_h5_dataset *piece;
  const ndr_label label = {.source = source};
  const ndr_cf_variable variable = as_variable(source, &piece);
  for (int d = 0; d < source->info.ndim; d++) from[d] = d;
  const ndr_cf_copy_context c = {.known = &writer->copies,
                                 .scales = &writer->scales,
                                 .source = source,
                                 .reduced = label.reduced,
                                 .ndim = source->info.ndim,
                                 .from = from,
                                 .follow = ndr_cf_names_put_of_copy,
                                 .itself = true};
  const char *copied;
  bool is_new;
  NDR_TRY(ndr_cf_copy_itself(&c, &variable, &copied, &is_new));
  if (!is_new) return NDR_OK;
  NDR_TRY(ndr_label_groups(source, writer->image, copied, &writer->remarks));
  *name = copied;
  return ndr_cf_copies_attach(&writer->copies, &writer->scales, &label, copied, source->info.ndim, from);
}

ndr_status ndr_h5_writer_copy(ndr_h5_writer *writer, const ndr_h5_dataset *source, const char **name) {
  ndr_hdf_scope scope;
  if (!writer || !source || !name) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_copy: null pointer");
  *name = NULL;
  NDR_TRY(ndr_writer_check(writer));
  NDR_TRY(ndr_copy_check_memory(source));
  ndr_hdf_enter(&scope, source->no_plugins);
  writer->scales.in_groups = true;
  ndr_status status = check_elements(source);
  if (status == NDR_OK) status = copy(writer, source, name);
  ndr_hdf_leave(&scope);
  NDR_TRY(ndr_writer_heed(writer, status));
  return ndr_h5_writer_protect(writer, source);
}
