/* Cuts the labels of a request into pieces; where these are many and small, sorts the labels. */
#include <stdlib.h>
#include <string.h>

#include "api/parts/parts_inside.h"

static bool see(ndr_parts *parts, int64_t label) {
  uint8_t bit = (uint8_t)(1 << label % 8), *byte = &parts->seen[label / 8];
  bool before = *byte & bit;
  *byte |= bit;
  return before;
}

#define MOST_TABLE_LABELS (INT64_C(1) << 30) /* an int of the table counts them, and more */

/* A part takes about 150 bytes of memory. */
#define MOST_PARTS (INT64_C(1) << 22)

ndr_status ndr_parts_append(ndr_parts *parts, part added) {
  if (parts->count == MOST_PARTS)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "the labels are in more than %lld pieces: sort the array by them",
                    (long long)MOST_PARTS);
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

/* The index that argmin and argmax give begins elsewhere in every group, and a plan has one beginning. */
static ndr_status append_piece(ndr_parts *parts, part found, bool apart) {
  int64_t groups = found.piece.groups;
  if (!apart) return ndr_parts_append(parts, found);
  for (int64_t g = 0; g < groups; g++) {
    part one = found;
    one.piece.groups = 1;
    one.piece.first += g * found.piece.inner;
    one.piece.label += g * found.piece.label_step;
    NDR_TRY(ndr_parts_append(parts, one));
  }
  return NDR_OK;
}

/* Cuts the labels of a row into pieces, until there are more than `most`. */
static ndr_status find_pieces(ndr_parts *parts, int64_t row, int64_t length, int64_t most) {
  const ndr_request *request = &parts->request;
  int64_t first = ndr_request_first_label(request, row), at = first;
  bool apart = ndr_request_has_index(request);
  part found = {.row = row};
  while (parts->count <= most && ndr_groups_next(request->problem.groups, &at, first + length, &found.piece)) {
    found.piece.first -= first;
    NDR_TRY(append_piece(parts, found, apart));
  }
  return NDR_OK;
}

/* ---- scattered labels: a table for each group ---- */

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
  if (ends) ndr_groups_sort(groups, ndr_request_first_label(&parts->request, row), length, ends, parts->rows + row);
  for (int64_t g = 0; status == NDR_OK && g < groups->count; begin = ends[g++])
    if (ends[g] > begin)
      status = ndr_parts_append(parts, part_of_rows(parts->rows + row + begin, ends[g] - begin, row, g));
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

static ndr_status make_tables(ndr_parts *parts, int64_t length, int64_t row_length) {
  parts->rows = calloc((size_t)length + NDR_ROWS_BEHIND, sizeof *parts->rows);
  if (!parts->rows) return ndr_fail(NDR_ERR_MEMORY, "out of memory for %lld labels", (long long)length);
  for (int64_t row = 0; row < length; row += row_length) NDR_TRY(find_tables(parts, row, row_length));
  return NDR_OK;
}

/* ---- scattered labels: one table for all groups ---- */

static ndr_status append_table(ndr_parts *parts, int64_t row, int64_t length) {
  const ndr_groups *groups = parts->request.problem.groups;
  part made = {.piece = {0, 1, 1, groups->count, 1, 0, 1}, .row = row, .labels = length};
  NDR_TRY(ndr_table_make(&made.table, groups, ndr_request_first_label(&parts->request, row), length));
  ndr_status status = ndr_parts_append(parts, made);
  if (status != NDR_OK) ndr_table_free(made.table);
  return status;
}

/* Whether a device can read a table. It is made for a device that is there, which is read. */
static bool may_tabulate(const ndr_parts *parts, int64_t row_length, const ndr_options *options, ndr_device *device) {
  return parts->backend->make_table && !options->device && !options->force_family && row_length > 1 &&
         row_length <= MOST_TABLE_LABELS && parts->request.problem.groups->count <= 4 * row_length &&
         parts->backend->device(parts->device.device_id, device) == NDR_OK && device->compiles;
}

/* Whether gathering takes about as long as reading does: whole sectors of rows, or labels along the fastest axis, whose
 * groups' states fit in shared memory. */
static bool gathers_quickly(const ndr_request *request, const ndr_device *device) {
  enum { SECTOR_BYTES = 32, STATE_BYTES = 8 };
  const ndr_problem *problem = &request->problem;
  int last = problem->group_dim + problem->groups->ndim - 1;
  if (llabs(problem->strides[last]) == 1)
    return problem->groups->count * STATE_BYTES * problem->op_count < device->shared_bytes_per_block;
  for (int d = 0; d < problem->ndim; d++)
    if (!request->reduced[d] && llabs(problem->strides[d]) == 1)
      return problem->shape[d] * (int64_t)ndr_dtype_bytes(problem->dtype) >= SECTOR_BYTES;
  return false;
}

/* ---- the same on the host ---- */

/* Whether a table serves a request on the host: elements of a label lie apart, and are enough to be folded side by
 * side. */
static bool serves_on_host(const ndr_parts *parts, int64_t row_length, const ndr_options *options) {
  enum { LEAST_LANES = 8, MOST_GROUPS = 1 << 14 }; /* each thread has the states of all groups and 16 lanes */
  const ndr_request *request = &parts->request;
  const ndr_problem *problem = &request->problem;
  int last = problem->group_dim + problem->groups->ndim - 1;
  if (!parts->backend->execute_rows || options->device || options->force_family || request->programs_owner)
    return false;
  if (row_length < 2 || row_length > INT32_MAX || problem->groups->count > MOST_GROUPS) return false;
  if (problem->groups->count > 4 * row_length || rows_are_long(request)) return false;
  for (int d = 0; d < problem->ndim; d++) {
    bool other = d < problem->group_dim || d > last;
    if (other && problem->shape[d] >= LEAST_LANES && !(request->reduced[d] && ndr_request_has_index(request)))
      return true;
  }
  return false;
}

/* ---- which of them ---- */

/* The most pieces that are worth a launch each, where the others are gathered. Single elements cost a sector each. */
static int64_t most_launches(const ndr_request *request, const ndr_device *device) {
  enum { FEW = 4, MANY = 4096, SECTOR_BYTES = 32 };
  static const double LAUNCH = 5e-6;
  double seconds = SECTOR_BYTES / device->bandwidth;
  if (gathers_quickly(request, device)) return FEW;
  for (int d = 0; d < request->problem.ndim; d++) seconds *= (double)request->problem.shape[d];
  return seconds / LAUNCH < MANY ? FEW + (int64_t)(seconds / LAUNCH) : MANY;
}

/* Whether labels may be sorted where their pieces are small: on the host, where no index is asked for. */
static bool may_sort(const ndr_parts *parts, int64_t row_length, const ndr_options *options) {
  const ndr_request *request = &parts->request;
  return parts->backend->execute_rows && !ndr_request_has_index(request) && request->place_count == 0 &&
         !options->device && !options->force_family && row_length <= INT32_MAX &&
         request->problem.groups->count <= 4 * row_length;
}

/* Pieces of few labels cost more than sorting: each has a plan. */
static int64_t most_pieces(int64_t length) {
  enum { FEW_LABELS = 64, FEW_PARTS = 64 };
  return length / FEW_LABELS < FEW_PARTS ? FEW_PARTS : length / FEW_LABELS;
}

/* The most pieces that cost no more than a table: one, or longer ones, each of which is read in the order of memory. */
static int64_t pieces_beside_table(const ndr_problem *problem, int64_t length) {
  enum { LONG_BYTES = 16384 };
  int64_t most = length * (int64_t)ndr_dtype_bytes(problem->dtype) / LONG_BYTES;
  return most > 1 ? most : 1;
}

static ndr_status find_parts(ndr_parts *parts, const ndr_options *options) {
  const ndr_request *request = &parts->request;
  const ndr_problem *problem = &request->problem;
  int64_t length = 1, row_length = ndr_request_label_row(request), most = INT64_MAX;
  for (int d = 0; d < problem->groups->ndim; d++) length *= problem->shape[problem->group_dim + d];
  ndr_device device;
  bool gathers = may_tabulate(parts, row_length, options, &device);
  bool served = serves_on_host(parts, row_length, options);
  if (served)
    most = pieces_beside_table(problem, length);
  else if (gathers)
    most = most_launches(request, &device);
  else if (may_sort(parts, row_length, options))
    most = most_pieces(length);
  for (int64_t row = 0; row < length && parts->count <= most; row += row_length)
    NDR_TRY(find_pieces(parts, row, row_length, most));
  if (parts->count <= most) return NDR_OK;
  parts->count = 0;
  gathers = gathers || served;
  for (int64_t row = 0; gathers && row < length; row += row_length) NDR_TRY(append_table(parts, row, row_length));
  if (gathers) return NDR_OK;
  if (rows_are_long(request) && !request->programs_owner) return make_tables(parts, length, row_length);
  parts->sorted = true;
  parts->direct = false;
  return NDR_OK;
}

/* ---- windows ---- */

static ndr_status append_box(ndr_parts *parts, const ndr_box *found) {
  const ndr_groups *groups = parts->request.problem.groups;
  part made = {.box = malloc(sizeof *found)};
  if (!made.box) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the parts of groups");
  *made.box = *found;
  for (int d = 0; d < groups->ndim; d++)
    made.piece.label = made.piece.label * ndr_groups_windows_along(groups, d) + found->window[d];
  ndr_status status = ndr_parts_append(parts, made);
  if (status != NDR_OK) free(made.box);
  return status;
}

static ndr_status find_boxes(ndr_parts *parts) {
  const ndr_problem *problem = &parts->request.problem;
  const int64_t *offset = parts->request.offset + problem->group_dim, *shape = problem->shape + problem->group_dim;
  ndr_box box;
  for (int64_t at = 0; ndr_groups_box(problem->groups, offset, shape, at, &box); at++) NDR_TRY(append_box(parts, &box));
  if (parts->count) memset(parts->seen, 0xff, (size_t)problem->groups->count / 8 + 1);
  return NDR_OK;
}

/* The index that argmin, argmax and index(d) have begins elsewhere in every window, and a plan has one beginning. On
 * the host those of argmin and argmax are moved afterwards (parts_one.c); else windows are labels like any others. */
static ndr_status label_boxes(ndr_parts *parts) {
  ndr_problem *problem = &parts->request.problem;
  ndr_groups *made;
  NDR_TRY(ndr_groups_label_boxes(problem->groups, parts->request.offset + problem->group_dim,
                                 problem->shape + problem->group_dim, &made));
  parts->given = problem->groups;
  problem->groups = made;
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

static bool is_empty(const ndr_problem *problem) {
  for (int d = 0; d < problem->ndim; d++)
    if (problem->shape[d] == 0) return true;
  return false;
}

ndr_status ndr_parts_find(ndr_parts *parts, const ndr_options *options) {
  const ndr_request *request = &parts->request;
  if (is_empty(&request->problem)) return NDR_OK; /* all groups are empty */
  bool boxes = request->problem.groups->windows != NULL, indexed = ndr_request_has_index(request);
  if (boxes && request->place_count == 0 && !(indexed && parts->backend->calls)) {
    parts->direct = parts->direct && !indexed;
    return find_boxes(parts);
  }
  if (boxes) NDR_TRY(label_boxes(parts));
  NDR_TRY(find_parts(parts, options));
  see_groups(parts);
  return NDR_OK;
}
