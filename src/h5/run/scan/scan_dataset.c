/* The public calls that scan a dataset, apart from the writer's; the scan itself is in scan.c. */
#include "h5/run/scan/scan_dataset.h"

#include <string.h>

#include "core/sized.h"
#include "h5/read/route/gather.h"
#include "h5/run/job/host.h"
#include "ndreduce/operator.h"
#include "ndreduce/scan.h"

static bool has_role(const ndr_h5_options *options, ndr_role role) {
  for (int i = 0; i < options->operand_count; i++)
    if (options->operands && options->operands[i] && options->operands[i]->role == role) return true;
  return false;
}

/* Lets the core check dim and operator, as it would for an array in memory. */
static ndr_status describe(ndr_scan_request *r, const ndr_h5_info *info, const ndr_h5_scan *scan) {
  DLTensor array = {.device = {kDLCPU, 0}, .ndim = info->ndim, .dtype = ndr_dtype_to_dlpack(info->dtype)};
  int64_t sizes[NDR_MAX_DIMS];
  memcpy(sizes, info->shape, sizeof sizes);
  array.shape = sizes;
  r->result.shape = r->shape;
  if (scan->dim == NDR_SCAN_ALL) return ndr_fail(NDR_ERR_DIMS, "a dataset is scanned along one of its dims");
  if ((int)scan->op >= NDR_OWN_OPS)
    return ndr_fail(NDR_ERR_OP, "operators of one's own scan arrays in memory, not datasets of files");
  return ndr_scan_describe(&array, scan->dim, scan->op, NULL, &r->result);
}

static ndr_status make(ndr_scan_request *r, const ndr_h5_dataset *dataset, const ndr_h5_scan *given,
                       const ndr_h5_options *given_options) {
  const ndr_h5_info *info = &dataset->info;
  ndr_h5_scan scan;
  ndr_h5_options options;
  ndr_dtype to;
  if (!given) return ndr_fail(NDR_ERR_ARGUMENT, "scan is a null pointer");
  NDR_TRY(ndr_sized_read(given, &scan, sizeof scan, "scan", "NDR_H5_SCAN_INIT"));
  NDR_TRY(ndr_job_options(&options, given_options));
  NDR_TRY(ndr_hdf_check_numbers(dataset));
  if (options.weights || has_role(&options, NDR_WEIGHTS)) return ndr_fail(NDR_ERR_ARGUMENT, "scans have no weights");
  if (options.groups) return ndr_fail(NDR_ERR_ARGUMENT, "scans have no groups");
  NDR_TRY(describe(r, info, &scan));
  NDR_TRY(ndr_dtype_from_dlpack(r->result.dtype, &to));
  r->running = (ndr_running){.op = scan.op, .dim = scan.dim < 0 ? scan.dim + info->ndim : scan.dim};
  r->running.exclusive = scan.exclusive != 0;
  r->running.reverse = scan.reverse != 0;
  r->running.skip = scan.skip_nan || info->masked;
  ndr_running_settle(&r->running, info->dtype, to, info->masked || options.where || has_role(&options, NDR_WHERE));
  for (int d = 0; d < info->ndim; d++) r->empty |= info->shape[d] == 0;
  r->problem = (ndr_problem)NDR_PROBLEM_INIT;
  return ndr_h5_problem(&r->problem, dataset, 1, &r->running.dim, 1, &scan.op);
}

ndr_status ndr_scan_request_make(ndr_scan_request *request, const ndr_h5_dataset *dataset, const ndr_h5_scan *given,
                                 const ndr_h5_options *options) {
  *request = (ndr_scan_request){.empty = false};
  return ndr_job_blame(dataset, make(request, dataset, given, options));
}

ndr_status ndr_scan_request_run(const ndr_scan_request *request, ndr_h5_dataset *dataset, const ndr_sink *sink,
                                const ndr_h5_options *options) {
  const ndr_work work = {dataset, &request->problem, {.sink = sink, .running = &request->running}};
  return request->empty ? NDR_OK : ndr_work_run(&work, options);
}

/* ---- Into memory ------------------------------------------------------------------------------------------------- */

ndr_status ndr_h5_scan_result(const ndr_h5_dataset *dataset, const ndr_h5_scan *scan, DLTensor *result) {
  ndr_scan_request request;
  if (!dataset || !result || !result->shape)
    return ndr_fail(NDR_ERR_ARGUMENT, "dataset, result or the room for its shape is a null pointer");
  NDR_TRY(ndr_scan_request_make(&request, dataset, scan, NULL));
  int64_t *shape = result->shape;
  memcpy(shape, request.shape, (size_t)request.result.ndim * sizeof *shape);
  *result = request.result;
  result->shape = shape;
  return NDR_OK;
}

/* Copies a box to its place in the caller's result. */
static ndr_status place(void *user, int i, const int64_t *begin, const int64_t *size, void *data) {
  const DLTensor *result = user;
  ndr_dtype dtype;
  ndr_gather gather = {0};
  (void)i;
  NDR_TRY(ndr_dtype_from_dlpack(result->dtype, &dtype));
  const ndr_unpack plain = NDR_UNPACK_INIT(dtype);
  int64_t from[NDR_MAX_DIMS], to[NDR_MAX_DIMS], step = (int64_t)ndr_dtype_bytes(dtype), inner = step, offset = 0;
  for (int d = result->ndim - 1; d >= 0; d--) {
    from[d] = inner;
    to[d] = step;
    offset += begin[d] * step;
    inner *= size[d];
    step *= result->shape[d];
  }
  for (int d = 0; d < result->ndim; d++) ndr_gather_add(&gather, size[d], from[d], to[d]);
  ndr_gather_run(&gather, &plain, data, ndr_host_address(result) + offset);
  return NDR_OK;
}

ndr_status ndr_h5_scan_to(ndr_h5_dataset *dataset, const ndr_h5_scan *scan, DLTensor *result,
                          const ndr_h5_options *options) {
  ndr_scan_request request;
  if (!dataset || !result) return ndr_fail(NDR_ERR_ARGUMENT, "dataset or result is a null pointer");
  NDR_TRY(ndr_scan_request_make(&request, dataset, scan, options));
  NDR_TRY(ndr_job_blame(dataset, ndr_host_check_result(result, &request.result, "result")));
  const ndr_sink sink = {place, result, 0, NULL};
  return ndr_scan_request_run(&request, dataset, &sink, options);
}
