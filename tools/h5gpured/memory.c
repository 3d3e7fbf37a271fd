/* Memory for results. The kernel promises more than there is and then ends programs that use it, this one or another,
 * so what cannot be had is refused before the work begins. */
#include <stdlib.h>

#include "h5gpured/number.h"
#include "h5gpured/results.h"

/* Results of more than this share of the memory there is are written as they come. */
#define LARGE_SHARE 6

/* How many times results are in memory at once. A file is put together there, and where elements may be missing they
 * are marked in a copy; a stream in memory is copied where it grows; a table or JSON has several characters for each
 * byte. */
static int copies(const answer *a) {
  if (!a->options->output) return 1;
  if (a->options->format == FORMAT_NPY) return 3;
  if (a->options->format == FORMAT_CSV || a->options->format == FORMAT_JSON) return 8;
  return a->info->masked || a->options->where ? 3 : 2;
}

static bool fits(const answer *a, int64_t bytes, const char *where) {
  int64_t left = ndr_h5_free_memory();
  if (bytes <= left / copies(a)) return true;
  if (copies(a) == 1)
    complain("%s: the results need %lld bytes of memory, of which %lld are available", where, (long long)bytes,
             (long long)left);
  else
    complain("%s: the results need %lld bytes of memory, %d times while they are written, of which %lld are available",
             where, (long long)bytes, copies(a), (long long)left);
  return false;
}

bool results_describe(answer *a, const ndr_h5_dataset *dataset, const char *where) {
  const ndr_h5_scan scan = scan_of(a);
  for (int i = 0; i < a->options->op_count; i++) {
    a->results[i].shape = a->shapes[i];
    if (a->options->scans) {
      if (ndr_h5_scan_result(dataset, &scan, &a->results[i]) != NDR_OK) return fail();
    } else if (ndr_problem_result(&a->problem, i, &a->results[i]) != NDR_OK) {
      return fail_with(where);
    }
  }
  return true;
}

bool results_bytes(const answer *a, int64_t *bytes) {
  *bytes = 0;
  for (int i = 0; i < a->options->op_count; i++) {
    const DLTensor *result = &a->results[i];
    int64_t own;
    if (__builtin_mul_overflow(tensor_count(result), result->dtype.bits / 8, &own) ||
        __builtin_add_overflow(*bytes, own, bytes))
      return false;
  }
  return true;
}

/* Small results are held in memory: several times while the file is put together there, see copies(), and work needs
 * some memory beside them. */
bool results_stream(const answer *a) {
  const h5gpured_options *options = a->options;
  int64_t memory = options->memory ? options->memory : ndr_h5_free_memory() / 4, total;
  if (!options->output || options->format != FORMAT_HDF5 || options->json || options->coords) return false;
  return options->scans || !results_bytes(a, &total) || total > memory / LARGE_SHARE;
}

bool results_allocate(answer *a, const char *where) {
  int64_t total;
  if (!results_bytes(a, &total)) {
    complain("%s: the results have more than 2^63 bytes", where);
    return false;
  }
  if (!fits(a, total, where)) return false;
  for (int i = 0; i < a->options->op_count; i++) {
    DLTensor *result = &a->results[i];
    int64_t bytes = tensor_count(result) * (result->dtype.bits / 8);
    result->data = calloc((size_t)bytes + 1, 1);
    if (result->data) continue;
    complain("%s: out of memory for results of %lld bytes", where, (long long)bytes);
    return false;
  }
  return true;
}
