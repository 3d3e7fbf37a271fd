/* See parts.h. Where each group lies in one part, parts write results; else they are merged as partial states. */
#include "api/parts.h"

#include "api/operands.h"
#include "core/own_ops.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
  ndr_piece piece;
  int64_t row;                   /* the piece counts from this label of the request */
  const int32_t *rows;           /* not NULL: where the piece's labels are, from there */
  int64_t from[NDR_MOST_ARRAYS]; /* elements from the array's and the operands' first to the part's */
  ndr_plan *plan;                /* that of an earlier part with the same shape, or this part's own */
  bool shares;
} part;

struct ndr_parts {
  _Atomic int holders;
  ndr_request request;
  const ndr_backend *backend;
  DLDevice device;
  bool direct; /* parts write results */
  int64_t count, room;
  part *parts;
  uint8_t *seen; /* a bit for each group: it has a part */
  int32_t *rows; /* of all parts with a table */
  int threads;   /* options.threads */
};

/* ---- making ---- */

static bool see(ndr_parts *parts, int64_t label) {
  uint8_t bit = (uint8_t)(1 << label % 8), *byte = &parts->seen[label / 8];
  bool before = *byte & bit;
  *byte |= bit;
  return before;
}

static ndr_status append(ndr_parts *parts, part added) {
  if (parts->count == parts->room) {
    int64_t room = 2 * parts->room + 8;
    part *grown = realloc(parts->parts, (size_t)room * sizeof *grown);
    if (!grown) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the parts of groups");
    parts->parts = grown;
    parts->room = room;
  }
  parts->parts[parts->count++] = added;
  return NDR_OK;
}

/* The label that the first of a row of the request's array has in the groups. */
static int64_t first_label(const ndr_request *request, int64_t row) {
  const ndr_problem *problem = &request->problem;
  int64_t label = 0, step = 1, last = problem->group_dim + problem->groups->ndim - 1;
  for (int d = (int)last; d >= problem->group_dim; d--) {
    label += (request->offset[d] + row % problem->shape[d]) * step;
    row /= problem->shape[d];
    step *= request->whole_shape[d];
  }
  return label;
}

static bool has_index(const ndr_request *request) {
  bool has = false;
  for (int i = 0; i < request->problem.op_count; i++)
    has = has || (!ndr_op_is_own(request->problem.ops[i]) && ndr_op_is_index(request->problem.ops[i]));
  return has;
}

/* The index that argmin and argmax give begins elsewhere in every group, and a plan has one beginning. */
static ndr_status append_piece(ndr_parts *parts, part found, bool apart) {
  int64_t groups = found.piece.groups;
  if (!apart) return append(parts, found);
  for (int64_t g = 0; g < groups; g++) {
    part one = found;
    one.piece.groups = 1;
    one.piece.first += g * found.piece.inner;
    one.piece.label += g * found.piece.label_step;
    NDR_TRY(append(parts, one));
  }
  return NDR_OK;
}

/* Cuts the labels of a row into pieces. */
static ndr_status find_pieces(ndr_parts *parts, int64_t row, int64_t length, bool apart) {
  const ndr_request *request = &parts->request;
  int64_t first = first_label(request, row), at = first;
  part found = {.row = row};
  while (ndr_groups_next(request->problem.groups, &at, first + length, &found.piece)) {
    found.piece.first -= first;
    NDR_TRY(append_piece(parts, found, apart));
  }
  return NDR_OK;
}

/* ---- scattered labels: a table for each group ---- */

/* Sorts the labels of a row by group: those of group g are at rows[ends[g - 1]] to rows[ends[g] - 1]. */
static void sort_row(const ndr_groups *groups, int64_t first, int64_t length, int64_t *ends, int32_t *rows) {
  const int32_t *labels = groups->labels + first;
  int64_t before = 0;
  memset(ends, 0, (size_t)groups->count * sizeof *ends);
  for (int64_t at = 0; at < length; at++)
    if (labels[at] >= 0) ends[labels[at]]++;
  for (int64_t g = 0; g < groups->count; g++) {
    int64_t size = ends[g];
    ends[g] = before;
    before += size;
  }
  for (int64_t at = 0; at < length; at++)
    if (labels[at] >= 0) rows[ends[labels[at]]++] = (int32_t)at;
}

/* A group whose labels lie one step apart needs no table. */
static part part_of_rows(const int32_t *rows, int64_t count, int64_t row, int64_t group) {
  int64_t step = count > 1 ? rows[1] - rows[0] : 1;
  part made = {.piece = {rows[0], count, step, 1, 1, group, 1}, .row = row};
  for (int64_t r = 1; r < count; r++)
    if (rows[r] - rows[r - 1] != step) made.rows = rows;
  if (made.rows) made.piece = (ndr_piece){0, 1, 1, 1, count, group, 1};
  return made;
}

static ndr_status find_tables(ndr_parts *parts, int64_t row, int64_t length) {
  const ndr_groups *groups = parts->request.problem.groups;
  int64_t begin = 0, *ends = malloc((size_t)groups->count * sizeof *ends);
  ndr_status status =
      ends ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for %lld groups", (long long)groups->count);
  if (ends) sort_row(groups, first_label(&parts->request, row), length, ends, parts->rows + row);
  for (int64_t g = 0; status == NDR_OK && g < groups->count; begin = ends[g++])
    if (ends[g] > begin) status = append(parts, part_of_rows(parts->rows + row + begin, ends[g] - begin, row, g));
  free(ends);
  return status;
}

/* Whether an axis beside the labels' is the fastest: then a row is worth copying. */
static bool rows_are_long(const ndr_request *request) {
  enum { LEAST_BYTES = 64 };
  const ndr_problem *problem = &request->problem;
  int last = problem->group_dim + problem->groups->ndim - 1;
  int64_t label = llabs(problem->strides[last]), bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  for (int d = 0; d < problem->ndim; d++) {
    bool other = d < problem->group_dim || d > last;
    if (other && llabs(problem->strides[d]) == 1 && problem->shape[d] * bytes >= LEAST_BYTES && label > 1) return true;
  }
  return false;
}

/* Whether tables are faster than the pieces that have been found: those of few rows cost a plan each. */
static bool tables_pay(const ndr_parts *parts, int64_t length, int64_t row_length) {
  enum { FEW_ROWS = 16 };
  const ndr_request *request = &parts->request;
  int64_t groups = request->problem.groups->count;
  return parts->backend->execute_rows && !request->programs_owner && rows_are_long(request) &&
         row_length <= INT32_MAX && groups <= 4 * row_length && parts->count > length / FEW_ROWS;
}

static ndr_status find_parts(ndr_parts *parts) {
  const ndr_request *request = &parts->request;
  const ndr_groups *groups = request->problem.groups;
  bool apart = has_index(request);
  int64_t length = 1, row_length = ndr_request_label_row(request);
  for (int d = 0; d < groups->ndim; d++) length *= request->problem.shape[request->problem.group_dim + d];
  for (int64_t row = 0; row < length; row += row_length) NDR_TRY(find_pieces(parts, row, row_length, apart));
  if (apart || !tables_pay(parts, length, row_length)) return NDR_OK;
  parts->count = 0;
  parts->rows = malloc((size_t)length * sizeof *parts->rows);
  if (!parts->rows) return ndr_fail(NDR_ERR_MEMORY, "out of memory for %lld labels", (long long)length);
  for (int64_t row = 0; row < length; row += row_length) NDR_TRY(find_tables(parts, row, row_length));
  return NDR_OK;
}

/* Notes which groups have parts, and whether one has several. */
static void see_groups(ndr_parts *parts) {
  for (int64_t at = 0; at < parts->count; at++) {
    const ndr_piece *piece = &parts->parts[at].piece;
    for (int64_t g = 0; g < piece->groups; g++)
      if (see(parts, piece->label + g * piece->label_step)) parts->direct = false;
  }
}

/* ---- plans ---- */

static bool same_shape(const part *one, const part *other) {
  const ndr_piece *a = &one->piece, *b = &other->piece;
  return !one->rows == !other->rows && a->outer == b->outer && a->groups == b->groups && a->inner == b->inner &&
         a->outer_step == b->outer_step && a->label_step == b->label_step;
}

/* An earlier part with the same plan; NULL: there is none among the last ones. */
static const part *find_alike(const ndr_parts *parts, int64_t at) {
  enum { LOOK_BACK = 64 };
  for (int64_t before = at - 1; before >= 0 && before >= at - LOOK_BACK; before--)
    if (same_shape(&parts->parts[before], &parts->parts[at])) return &parts->parts[before];
  return NULL;
}

static ndr_status plan_part(ndr_parts *parts, int64_t at, bool alike, const void *const *data,
                            const ndr_options *options) {
  part *planned = &parts->parts[at];
  ndr_request request;
  const void *moved[NDR_MOST_ARRAYS];
  const ndr_problem *problem = &parts->request.problem;
  NDR_TRY(planned->rows ? ndr_request_make_scattered(&request, &parts->request, planned->piece.inner, planned->row,
                                                     !parts->direct, planned->from)
                        : ndr_request_make_piece(&request, &parts->request, &planned->piece, planned->row,
                                                 !parts->direct, planned->from));
  const part *like = alike ? find_alike(parts, at) : NULL;
  planned->shares = like != NULL;
  planned->plan = like ? like->plan : NULL;
  if (like) return NDR_OK;
  for (int k = 0; data && k <= problem->operand_count; k++) {
    ndr_dtype dtype = k ? problem->operands[k - 1].dtype : problem->dtype;
    moved[k] = (const char *)data[k] + planned->from[k] * (int64_t)ndr_dtype_bytes(dtype);
  }
  return ndr_simple_make(&planned->plan, &request, parts->device, data ? moved : NULL, options);
}

static ndr_status make(ndr_parts *parts, const void *const *data, const ndr_options *options) {
  const ndr_groups *groups = parts->request.problem.groups;
  NDR_TRY(ndr_backend_find(parts->device.device_type, &parts->backend));
  if (!groups) {
    NDR_TRY(append(parts, (part){.plan = NULL}));
    return ndr_simple_make(&parts->parts[0].plan, &parts->request, parts->device, data, options);
  }
  parts->seen = calloc((size_t)groups->count / 8 + 1, 1);
  if (!parts->seen) return ndr_fail(NDR_ERR_MEMORY, "out of memory for %lld groups", (long long)groups->count);
  NDR_TRY(find_parts(parts));
  see_groups(parts);
  /* Plans know where their index and places begin. */
  bool alike = !has_index(&parts->request) && parts->request.place_count == 0;
  for (int64_t at = 0; at < parts->count; at++) NDR_TRY(plan_part(parts, at, alike, data, options));
  return NDR_OK;
}

ndr_status ndr_parts_make(ndr_parts **made, const ndr_request *request, DLDevice device, const void *const *data,
                          const ndr_options *options) {
  ndr_parts *parts = calloc(1, sizeof *parts);
  *made = NULL;
  if (!parts) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the parts of groups");
  atomic_init(&parts->holders, 1);
  parts->request = *request;
  ndr_request_share(&parts->request);
  parts->device = device;
  parts->threads = options->threads;
  parts->direct = !request->partial;
  ndr_status status = make(parts, data, options);
  if (status == NDR_OK)
    *made = parts;
  else
    ndr_parts_drop(parts);
  return status;
}

ndr_parts *ndr_parts_hold(ndr_parts *parts) {
  if (parts) atomic_fetch_add(&parts->holders, 1);
  return parts;
}

void ndr_parts_drop(ndr_parts *parts) {
  if (!parts || atomic_fetch_sub(&parts->holders, 1) > 1) return;
  for (int64_t at = 0; at < parts->count; at++)
    if (!parts->parts[at].shares) ndr_simple_free(parts->parts[at].plan);
  ndr_request_free(&parts->request);
  free(parts->parts);
  free(parts->seen);
  free(parts->rows);
  free(parts);
}

/* ---- memory ---- */

static int64_t round_up(int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/* The most outputs of a part. */
static int64_t most_outputs(const ndr_parts *parts) {
  int64_t most = 0;
  for (int64_t at = 0; at < parts->count; at++)
    if (parts->parts[at].plan->problem.outputs > most) most = parts->parts[at].plan->problem.outputs;
  return most;
}

ndr_status ndr_parts_scratch(const ndr_parts *parts, size_t *bytes) {
  return ndr_states_bytes(&parts->request, most_outputs(parts), bytes);
}

static size_t most_workspace(const ndr_parts *parts) {
  size_t most = 0;
  for (int64_t at = 0; at < parts->count; at++)
    if (parts->parts[at].plan->workspace > most) most = parts->parts[at].plan->workspace;
  return most;
}

/* The states of the whole, or where parts write results those of one output without elements. */
static int64_t state_count(const ndr_parts *parts) {
  return parts->direct ? 1 : ndr_states_outputs(&parts->request);
}

/* The workspace begins with the states; behind them are those of a part, and then what its plan needs. */
static ndr_status state_bytes(const ndr_parts *parts, size_t *states, size_t *scratch) {
  NDR_TRY(ndr_states_bytes(&parts->request, state_count(parts), states));
  NDR_TRY(ndr_parts_scratch(parts, scratch));
  *states = (size_t)round_up((int64_t)*states);
  *scratch = parts->direct ? 0 : (size_t)round_up((int64_t)*scratch);
  return NDR_OK;
}

ndr_status ndr_parts_workspace(const ndr_parts *parts, size_t *bytes) {
  size_t states, scratch;
  NDR_TRY(state_bytes(parts, &states, &scratch));
  *bytes = states + scratch + most_workspace(parts);
  return NDR_OK;
}

/* ---- executing ---- */

static void move_data(const ndr_parts *parts, const part *p, const void *const *data, const void **moved) {
  const ndr_problem *problem = &parts->request.problem;
  for (int k = 0; k <= problem->operand_count; k++) {
    ndr_dtype dtype = k ? problem->operands[k - 1].dtype : problem->dtype;
    moved[k] = data[k] ? (const char *)data[k] + p->from[k] * (int64_t)ndr_dtype_bytes(dtype) : NULL;
  }
}

/* Adds an axis to a walk, or makes the last one longer. */
static void add_axis(ndr_walk *walk, ndr_walk_axis axis) {
  ndr_walk_axis *inner = walk->count ? &walk->axes[walk->count - 1] : NULL;
  if (inner && axis.from == inner->from * inner->size && axis.to == inner->to * inner->size)
    inner->size *= axis.size;
  else if (axis.size != 1)
    walk->axes[walk->count++] = axis;
}

/* Makes a walk from the states of a part to those of the whole, of which the request is a slab. Returns the number of
 * the first output in the whole. */
static int64_t walk_part(const ndr_request *request, const part *p, const ndr_request *whole, ndr_walk *walk) {
  int64_t from = 1, to = 1, start = 0, size;
  walk->count = 0;
  for (int d = request->problem.ndim - 1; d >= 0; d--) {
    if (!ndr_request_keeps(whole, d, &size)) continue;
    ndr_walk_axis axis = {request->problem.shape[d], from, to};
    if (request->reduced[d]) {
      axis = (ndr_walk_axis){p->piece.groups, from, to * p->piece.label_step};
      start += p->piece.label * to;
    } else {
      start += request->offset[d] * to;
    }
    add_axis(walk, axis);
    from *= axis.size;
    to *= size;
  }
  return start;
}

static ndr_status execute_rows(const part *p, const void *const *data, void *const *results, void *workspace,
                               void *stream) {
  const ndr_plan *plan = p->plan;
  void *memory = workspace;
  if (!workspace) NDR_TRY(ndr_plan_borrow_workspace(plan, stream, &memory));
  ndr_status status = plan->backend->execute_rows(plan, p->rows, data, results, memory);
  if (!workspace) ndr_plan_return_workspace(plan, memory, stream);
  return status;
}

/* Without a workspace the plan borrows one. */
static ndr_status execute(const part *p, const void *const *data, void *const *results, void *workspace, void *stream) {
  bool given = workspace && p->plan->workspace > 0;
  if (p->rows && p->plan->problem.outputs) return execute_rows(p, data, results, given ? workspace : NULL, stream);
  return ndr_simple_execute(p->plan, data, results, given ? workspace : NULL, given ? p->plan->workspace : 0, stream);
}

static ndr_status add_part(const ndr_parts *parts, const part *p, const void *const *data, const ndr_request *whole,
                           uint64_t *const *states, int64_t outputs, void *scratch, void *workspace, void *stream) {
  uint64_t *made[NDR_MAX_OPS];
  void *results[NDR_MAX_OPS];
  const void *moved[NDR_MOST_ARRAYS];
  ndr_walk walk;
  int64_t pitch = p->plan->problem.outputs, start = walk_part(&parts->request, p, whole, &walk);
  ndr_states_place(&parts->request, pitch, scratch, made);
  for (int i = 0; i < whole->problem.op_count; i++) results[i] = made[i];
  move_data(parts, p, data, moved);
  NDR_TRY(execute(p, moved, results, workspace, stream));
  for (int i = 0; i < whole->problem.op_count; i++) {
    ndr_state state = ndr_request_state(whole, i);
    NDR_TRY(parts->backend->states_merge(&state, parts->device.device_id, &walk, made[i], pitch, states[i] + start,
                                         outputs, stream));
  }
  return NDR_OK;
}

ndr_status ndr_parts_add(const ndr_parts *parts, const void *const *data, const ndr_request *whole,
                         uint64_t *const *states, int64_t outputs, void *scratch, void *workspace, void *stream) {
  for (int64_t at = 0; at < parts->count; at++)
    NDR_TRY(add_part(parts, &parts->parts[at], data, whole, states, outputs, scratch, workspace, stream));
  return NDR_OK;
}

/* ---- results ---- */

/* Where result i has the first output of a group. */
static void *result_of(const ndr_parts *parts, int i, int64_t label, void *const *results) {
  const ndr_request *request = &parts->request;
  int64_t bytes = (int64_t)ndr_dtype_bytes(request->results[i]);
  return (char *)results[i] + label * request->result_strides[i][request->problem.group_dim] * bytes;
}

static ndr_status write_part(const ndr_parts *parts, const part *p, const void *const *data, void *const *results,
                             void *workspace, void *stream) {
  void *moved_results[NDR_MAX_OPS];
  const void *moved[NDR_MOST_ARRAYS];
  move_data(parts, p, data, moved);
  for (int i = 0; i < parts->request.problem.op_count; i++)
    moved_results[i] = result_of(parts, i, p->piece.label, results);
  return execute(p, moved, moved_results, workspace, stream);
}

/* Parts that threads take one by one. */
typedef struct writing {
  const ndr_parts *parts;
  const void *const *data;
  void *const *results;
  _Atomic int failed; /* the last status that is not NDR_OK */
} writing;

static void write_task(void *context, int64_t number) {
  writing *w = context;
  ndr_status status = write_part(w->parts, &w->parts->parts[number], w->data, w->results, NULL, NULL);
  if (status != NDR_OK) atomic_store(&w->failed, (int)status);
}

/* Where there are many parts, each is one thread's; else the threads share each. */
static ndr_status write_parts(const ndr_parts *parts, const void *const *data, void *const *results, void *workspace,
                              void *stream) {
  if (parts->count == 0) return NDR_OK;
  const ndr_canonical *one = &parts->parts[0].plan->problem;
  int threads = parts->threads > 0 ? parts->threads : ndr_thread_count();
  if (parts->backend->run_tasks && parts->count >= 4 * (int64_t)threads && threads > 1) {
    writing w = {parts, data, results, NDR_OK};
    double bytes = (double)one->outputs * (double)one->length * (double)ndr_dtype_bytes(one->dtype);
    parts->backend->run_tasks(parts->count, threads, (int64_t)(bytes * (double)parts->count / 10), write_task, &w);
    ndr_status status = (ndr_status)atomic_load(&w.failed);
    return status == NDR_OK ? NDR_OK : ndr_fail(status, "a group could not be reduced: %s", ndr_status_name(status));
  }
  for (int64_t at = 0; at < parts->count; at++)
    NDR_TRY(write_part(parts, &parts->parts[at], data, results, workspace, stream));
  return NDR_OK;
}

/* Writes the results of `count` groups without elements, from one state that all their outputs share. */
static ndr_status write_empty(const ndr_parts *parts, int64_t label, int64_t count, uint64_t *const *states,
                              void *const *results, void *stream) {
  const ndr_request *request = &parts->request;
  for (int i = 0; i < request->problem.op_count; i++) {
    ndr_walk walk = {0};
    ndr_state state = ndr_request_state(request, i);
    for (int d = request->problem.ndim - 1; d >= 0; d--) {
      int64_t size;
      if (!ndr_request_keeps(request, d, &size)) continue;
      if (request->reduced[d]) size = count;
      if (size != 1) walk.axes[walk.count++] = (ndr_walk_axis){size, 0, request->result_strides[i][d]};
    }
    NDR_TRY(parts->backend->states_finish(&state, parts->device.device_id, &walk, states[i], 1,
                                          result_of(parts, i, label, results), stream));
  }
  return NDR_OK;
}

static bool has_part(const ndr_parts *parts, int64_t label) {
  return parts->seen[label / 8] >> label % 8 & 1;
}

static ndr_status write_empties(const ndr_parts *parts, uint64_t *const *states, void *const *results, void *stream) {
  int64_t count = parts->request.problem.groups->count;
  for (int64_t label = 0, end; label < count; label = end) {
    for (end = label + 1; end < count && has_part(parts, end) == has_part(parts, label);) end++;
    if (!has_part(parts, label)) NDR_TRY(write_empty(parts, label, end - label, states, results, stream));
  }
  return NDR_OK;
}

static ndr_status write_results(const ndr_parts *parts, uint64_t *const *states, int64_t outputs, void *const *results,
                                void *stream) {
  for (int i = 0; i < parts->request.problem.op_count; i++) {
    ndr_walk walk;
    ndr_state state = ndr_request_state(&parts->request, i);
    ndr_states_walk_result(&parts->request, i, &walk);
    NDR_TRY(
        parts->backend->states_finish(&state, parts->device.device_id, &walk, states[i], outputs, results[i], stream));
  }
  return NDR_OK;
}

/* `memory` has the states, and what lies behind them; plans take their workspace from `rest`, if that is not NULL. */
static ndr_status run(const ndr_parts *parts, const void *const *data, void *const *results, char *memory,
                      size_t state_size, void *rest, void *stream) {
  uint64_t *states[NDR_MAX_OPS];
  int64_t outputs = state_count(parts);
  ndr_states_place(&parts->request, outputs, memory, states);
  for (int i = 0; i < parts->request.problem.op_count; i++) {
    ndr_state state = ndr_request_state(&parts->request, i);
    NDR_TRY(parts->backend->states_identity(&state, parts->device.device_id, states[i], outputs, stream));
  }
  if (!parts->direct) {
    NDR_TRY(ndr_parts_add(parts, data, &parts->request, states, outputs, memory + state_size, rest, stream));
    return write_results(parts, states, outputs, results, stream);
  }
  NDR_TRY(write_empties(parts, states, results, stream));
  return write_parts(parts, data, results, rest, stream);
}

/* Nothing is written where a part's weights are refused. */
static ndr_status check_weights(const ndr_parts *parts, const void *const *data) {
  const void *moved[NDR_MOST_ARRAYS];
  for (int64_t at = 0; !parts->backend->calls && at < parts->count; at++) {
    move_data(parts, &parts->parts[at], data, moved);
    NDR_TRY(ndr_operands_check_weights(&parts->parts[at].plan->problem, moved));
  }
  return NDR_OK;
}

ndr_status ndr_parts_execute(const ndr_parts *parts, const void *const *data, void *const *results, void *workspace,
                             void *stream) {
  size_t states, scratch;
  void *memory = workspace;
  NDR_TRY(check_weights(parts, data));
  NDR_TRY(state_bytes(parts, &states, &scratch));
  if (!workspace) NDR_TRY(parts->backend->allocate(parts->device.device_id, states + scratch, stream, &memory));
  ndr_status status =
      run(parts, data, results, memory, states, workspace ? (char *)workspace + states + scratch : NULL, stream);
  if (!workspace) parts->backend->release(parts->device.device_id, memory, stream);
  return status;
}

void ndr_parts_describe(const ndr_parts *parts, char *text, size_t capacity, size_t *length) {
  const part *largest = NULL;
  double most = -1;
  int64_t plans = 0;
  for (int64_t at = 0; at < parts->count; at++) {
    const part *p = &parts->parts[at];
    double elements = (double)p->plan->problem.outputs * (double)p->plan->problem.length;
    plans += !p->shares;
    if (elements > most) {
      most = elements;
      largest = p;
    }
  }
  ndr_text_append(text, capacity, length, "groups  %lld, in %lld parts of %lld shapes, %s\n",
                  (long long)parts->request.problem.groups->count, (long long)parts->count, (long long)plans,
                  parts->direct ? "each of which writes its results" : "whose states are merged");
  if (largest) ndr_plan_describe_choice(largest->plan, text, capacity, length);
}
