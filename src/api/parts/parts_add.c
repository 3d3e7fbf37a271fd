/* Runs parts and merges their partial states. */
#include "api/parts/parts_inside.h"
#include "api/weights.h"

static ndr_status add_parts(const ndr_parts *parts, const void *const *data, const ndr_request *whole,
                            uint64_t *const *states, int64_t outputs, void *scratch, void *workspace, void *stream) {
  for (int64_t at = 0; at < parts->count; at++) {
    NDR_TRY(ndr_part_reduce(parts, &parts->parts[at], data, scratch, workspace, stream));
    NDR_TRY(ndr_part_merge(parts, &parts->parts[at], whole, states, outputs, scratch, stream));
  }
  return NDR_OK;
}

/* All weights, those of no group included, so that nothing has been added where they are refused. */
ndr_status ndr_parts_check_weights(const ndr_parts *parts, const void *const *data) {
  const ndr_problem *problem = &parts->request.problem;
  bool weighted = false;
  ndr_canonical whole;
  for (int k = 0; k < problem->operand_count; k++) weighted = weighted || problem->operands[k].role == NDR_WEIGHTS;
  if (!weighted || parts->backend->calls) return NDR_OK;
  NDR_TRY(ndr_canonical_make(&whole, &parts->request));
  ndr_status status = ndr_weights_check(parts->backend, parts->options.threads, &whole, data);
  ndr_canonical_free(&whole);
  return status;
}

ndr_status ndr_parts_add(const ndr_parts *parts, const void *const *data, const ndr_request *whole,
                         uint64_t *const *states, int64_t outputs, void *scratch, void *workspace, void *stream) {
  NDR_TRY(ndr_parts_check_weights(parts, data));
  if (parts->request.merges) return ndr_part_add(parts, &parts->parts[0], data, states, workspace, stream);
  return parts->sorted ? ndr_parts_add_sorted(parts, data, whole, states, outputs)
                       : add_parts(parts, data, whole, states, outputs, scratch, workspace, stream);
}
