/* Requests of pieces and boxes: parts of a request with groups that a strided array can hold. */
#include <string.h>

#include "core/request/canonical.h"

/* A dim of the piece. */
typedef struct dim {
  int along; /* the whole's dim */
  int64_t size, step;
  bool reduced;
  int64_t label_step; /* of those that stand for dims of the labels: from group to group; else 0 */
} dim;

static int last_label_dim(const ndr_problem *problem) {
  return problem->group_dim + problem->groups->ndim - 1;
}

static bool continues(const int64_t *strides, const int64_t *shape, int d) {
  return strides[d] == strides[d + 1] * shape[d + 1];
}

/* Whether the labels of dim d and the dim behind it have one stride in all arrays. A slab may lack some of them. */
static bool merges(const ndr_request *request, int d) {
  const ndr_problem *problem = &request->problem;
  const int64_t *shape = problem->shape;
  bool merged =
      continues(problem->strides, shape, d) && shape[d + 1] == problem->groups->shape[d + 1 - problem->group_dim];
  for (int k = 0; merged && k < problem->operand_count; k++) merged = continues(problem->operands[k].strides, shape, d);
  for (int p = 0; merged && p < request->place_count; p++)
    merged = request->place_dims[p] != d && request->place_dims[p] != d + 1;
  return merged;
}

int64_t ndr_request_label_row(const ndr_request *request) {
  const ndr_problem *problem = &request->problem;
  int last = last_label_dim(problem);
  bool merged = true;
  int64_t length = problem->shape[last];
  for (int d = problem->group_dim; d < last; d++) merged = merged && merges(request, d);
  for (int d = problem->group_dim; merged && d < last; d++) length *= problem->shape[d];
  return length;
}

int64_t ndr_request_first_label(const ndr_request *request, int64_t row) {
  const ndr_problem *problem = &request->problem;
  int64_t label = 0, step = 1;
  for (int d = last_label_dim(problem); d >= problem->group_dim; d--) {
    int along = d - problem->group_dim;
    label += (request->offset[d] - problem->groups->first[along] + row % problem->shape[d]) * step;
    row /= problem->shape[d];
    step *= problem->groups->shape[along];
  }
  return label;
}

/* Lists the piece's dims; those of the labels only where they have more than one element. */
static int list_dims(const ndr_request *whole, const ndr_piece *piece, dim *dims) {
  const ndr_problem *problem = &whole->problem;
  int count = 0, last = last_label_dim(problem);
  const dim label[] = {{last, piece->outer, piece->outer_step, true, piece->label_step},
                       {last, piece->groups, piece->inner, false, piece->label_step},
                       {last, piece->inner, 1, true, piece->label_step}};
  for (int d = 0; d < problem->ndim; d++) {
    bool labelled = d >= problem->group_dim && d <= last;
    if (!labelled) dims[count++] = (dim){d, problem->shape[d], 1, whole->reduced[d], 0};
    for (int l = 0; d == last && l < 3; l++)
      if (label[l].size > 1) dims[count++] = label[l];
  }
  return count;
}

static void set_dim(ndr_request *request, const ndr_request *whole, int d, const dim *from) {
  ndr_problem *problem = &request->problem;
  int results = from->label_step ? whole->problem.group_dim : from->along;
  problem->shape[d] = from->size;
  problem->strides[d] = whole->problem.strides[from->along] * from->step;
  for (int k = 0; k < problem->operand_count; k++)
    problem->operands[k].strides[d] = whole->problem.operands[k].strides[from->along] * from->step;
  request->reduced[d] = from->reduced;
  request->along[d] = from->along;
  request->step[d] = from->step;
  if (from->reduced) problem->dims[problem->dim_count++] = d;
  for (int i = 0; i < problem->op_count; i++)
    request->result_strides[i][d] =
        from->reduced ? 0 : whole->result_strides[i][results] * (from->label_step ? from->label_step : 1);
}

/* Moves by index[i] elements along each of the dims of the labels. */
static void move_by(ndr_request *request, const ndr_request *whole, const int64_t *index, int64_t *from) {
  const ndr_problem *problem = &whole->problem;
  for (int k = 0; k <= problem->operand_count; k++) from[k] = 0;
  for (int d = problem->group_dim; d <= last_label_dim(problem); d++, index++) {
    request->offset[d] += *index;
    from[0] += *index * problem->strides[d];
    for (int k = 0; k < problem->operand_count; k++) from[k + 1] += *index * problem->operands[k].strides[d];
  }
}

/* Moves to where the piece begins: `row` labels and then piece->first more. */
static void move(ndr_request *request, const ndr_request *whole, int64_t row, int64_t first, int64_t *from) {
  const ndr_problem *problem = &whole->problem;
  int count = problem->groups->ndim;
  int64_t index[NDR_MAX_DIMS] = {0};
  for (int i = count - 1; i >= 0; i--) {
    index[i] = row % problem->shape[problem->group_dim + i];
    row /= problem->shape[problem->group_dim + i];
  }
  index[count - 1] += first;
  move_by(request, whole, index, from);
}

/* Makes the request of these dims of `whole`. */
static ndr_status make(ndr_request *request, const ndr_request *whole, int count, const dim *dims, bool partial) {
  if (count > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "groups of an array of %d dims: %s", whole->problem.ndim,
                    whole->problem.groups->windows ? "windows need one more for each of theirs"
                                                   : "labels that repeat need up to two more");
  *request = *whole;
  ndr_problem *problem = &request->problem;
  problem->ndim = count;
  problem->dim_count = 0;
  problem->keepdims = 0;
  problem->groups = NULL;
  problem->group_dim = 0;
  memset(problem->dims, 0, sizeof problem->dims);
  memset(problem->shape, 0, sizeof problem->shape);
  memset(problem->strides, 0, sizeof problem->strides);
  for (int k = 0; k < NDR_MAX_OPERANDS; k++)
    memset(problem->operands[k].strides, 0, sizeof problem->operands[k].strides);
  memset(request->reduced, 0, sizeof request->reduced);
  for (int d = 0; d < count; d++) set_dim(request, whole, d, &dims[d]);
  request->partial = partial;
  if (partial) ndr_request_compact_results(request);
  return NDR_OK;
}

ndr_status ndr_request_make_piece(ndr_request *request, const ndr_request *whole, const ndr_piece *piece, int64_t row,
                                  bool partial, int64_t *from) {
  dim dims[NDR_MAX_DIMS + 3];
  NDR_TRY(make(request, whole, list_dims(whole, piece, dims), dims, partial));
  move(request, whole, row, piece->first, from);
  return NDR_OK;
}

ndr_status ndr_request_make_box(ndr_request *request, const ndr_request *whole, const ndr_box *box, bool partial,
                                int64_t *from) {
  dim dims[2 * NDR_MAX_DIMS];
  const ndr_problem *problem = &whole->problem;
  int first = problem->group_dim, last = last_label_dim(problem), count = 0;
  int64_t steps[NDR_MAX_DIMS], step = 1;
  for (int d = last; d >= first; d--) {
    steps[d] = step;
    step *= ndr_groups_windows_along(problem->groups, d - first);
  }
  for (int d = 0; d < problem->ndim; d++) {
    int w = d - first;
    bool windowed = d >= first && d <= last;
    if (!windowed) dims[count++] = (dim){d, problem->shape[d], 1, whole->reduced[d], 0};
    if (windowed && box->groups[w] > 1) dims[count++] = (dim){d, box->groups[w], box->inner[w], false, steps[d]};
    if (windowed && box->inner[w] > 1) dims[count++] = (dim){d, box->inner[w], 1, true, steps[d]};
  }
  NDR_TRY(make(request, whole, count, dims, partial));
  move_by(request, whole, box->first, from);
  return NDR_OK;
}

ndr_status ndr_request_make_scattered(ndr_request *request, const ndr_request *whole, int64_t count, int64_t row,
                                      bool partial, int64_t *from) {
  const ndr_piece piece = {0, 1, 1, 1, count, 0, 1};
  NDR_TRY(ndr_request_make_piece(request, whole, &piece, row, partial, from));
  for (int d = 0; d < request->problem.ndim; d++)
    request->scattered[d] = request->along[d] == last_label_dim(&whole->problem) && count > 1;
  return NDR_OK;
}

ndr_status ndr_request_make_table(ndr_request *request, const ndr_request *whole, const ndr_table *table, int64_t count,
                                  int64_t row, bool partial, int64_t *from) {
  const ndr_piece piece = {0, 1, 1, table->groups, count, 0, 1};
  int last = last_label_dim(&whole->problem);
  NDR_TRY(ndr_request_make_piece(request, whole, &piece, row, partial, from));
  request->table = table;
  request->table_dim = -1;
  for (int d = 0; d < request->problem.ndim; d++) {
    if (request->along[d] != last) continue;
    request->scattered[d] = request->reduced[d];
    if (request->reduced[d]) continue;
    request->table_dim = d;
    request->step[d] = 0;
    request->problem.strides[d] = 0;
    for (int k = 0; k < request->problem.operand_count; k++) request->problem.operands[k].strides[d] = 0;
  }
  return NDR_OK;
}
