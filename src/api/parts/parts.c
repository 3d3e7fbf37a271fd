/* See parts.h. Plans parts, and says what memory they need. */
#include <stdlib.h>
#include <string.h>

#include "api/parts/parts_inside.h"

/* ---- plans ---- */

/* A plan takes about 24 KB. */
#define MOST_PLANS (INT64_C(1) << 16)

static bool same_box(const ndr_box *a, const ndr_box *b, int ndim) {
  size_t bytes = (size_t)ndim * sizeof *a->groups;
  return memcmp(a->groups, b->groups, bytes) == 0 && memcmp(a->inner, b->inner, bytes) == 0;
}

static bool same_shape(const ndr_parts *parts, const part *one, const part *other) {
  const ndr_piece *a = &one->piece, *b = &other->piece;
  bool direct = parts->direct;
  if (one->box) return same_box(one->box, other->box, parts->request.problem.groups->ndim);
  return !one->rows == !other->rows && a->outer == b->outer && a->groups == b->groups && a->inner == b->inner &&
         a->outer_step == b->outer_step && (!direct || a->label_step == b->label_step);
}

/* An earlier part with the same plan; NULL: there is none among the last ones. */
static const part *find_alike(const ndr_parts *parts, int64_t at) {
  enum { LOOK_BACK = 64 };
  for (int64_t before = at - 1; before >= 0 && before >= at - LOOK_BACK; before--)
    if (same_shape(parts, &parts->parts[before], &parts->parts[at])) return &parts->parts[before];
  return NULL;
}

static ndr_status make_request(const ndr_parts *parts, part *planned, ndr_request *request) {
  const ndr_request *whole = &parts->request;
  const ndr_piece *piece = &planned->piece;
  bool partial = !parts->direct;
  if (planned->box) return ndr_request_make_box(request, whole, planned->box, partial, planned->from);
  if (planned->table)
    return ndr_request_make_table(request, whole, planned->table, planned->labels, planned->row, partial,
                                  planned->from);
  if (planned->rows)
    return ndr_request_make_scattered(request, whole, piece->inner, planned->row, partial, planned->from);
  return ndr_request_make_piece(request, whole, piece, planned->row, partial, planned->from);
}

ndr_status ndr_parts_plan(ndr_parts *parts, int64_t at, bool alike, const ndr_options *options) {
  part *planned = &parts->parts[at];
  ndr_request request;
  NDR_TRY(make_request(parts, planned, &request));
  const part *like = alike && !planned->table ? find_alike(parts, at) : NULL;
  planned->shares = like != NULL;
  planned->plan = like ? like->plan : NULL;
  if (like) return NDR_OK;
  if (++parts->plans > MOST_PLANS)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "the labels are in pieces of more than %lld shapes: sort the array by them",
                    (long long)MOST_PLANS);
  NDR_TRY(ndr_simple_make(&planned->plan, &request, parts->device, NULL, options));
  return planned->table ? parts->backend->make_table(planned->plan, &planned->table->memory) : NDR_OK;
}

static ndr_status make(ndr_parts *parts, const void *const *data, const ndr_options *options) {
  const ndr_groups *groups = parts->request.problem.groups;
  NDR_TRY(ndr_backend_find(parts->device.device_type, &parts->backend));
  if (!groups) {
    NDR_TRY(ndr_parts_append(parts, (part){.plan = NULL}));
    return ndr_simple_make(&parts->parts[0].plan, &parts->request, parts->device, data, options);
  }
  parts->seen = calloc((size_t)groups->count / 8 + 1, 1);
  if (!parts->seen) return ndr_fail(NDR_ERR_MEMORY, "out of memory for %lld groups", (long long)groups->count);
  NDR_TRY(ndr_parts_find(parts, options));
  /* Plans know where their index and places begin. */
  bool alike = !ndr_request_has_index(&parts->request) && parts->request.place_count == 0;
  ndr_options how = *options;
  how.planning = NDR_ESTIMATE; /* there may be thousands of shapes */
  for (int64_t at = 0; at < parts->count; at++) NDR_TRY(ndr_parts_plan(parts, at, alike, &how));
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
  parts->options = *options;
  parts->options.device = NULL;
  parts->options.force_family = NULL;
  parts->options.planning = NDR_ESTIMATE;
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

void ndr_parts_free_plans(ndr_parts *parts) {
  for (int64_t at = 0; at < parts->count; at++) {
    const part *p = &parts->parts[at];
    if (!p->shares) ndr_simple_free(p->plan);
    if (p->table) parts->backend->free_table(parts->device.device_id, p->table->memory);
    ndr_table_free(p->table);
    free(p->box);
  }
  parts->count = parts->plans = 0;
}

void ndr_parts_drop(ndr_parts *parts) {
  if (!parts || atomic_fetch_sub(&parts->holders, 1) > 1) return;
  ndr_parts_free_plans(parts);
  ndr_request_free(&parts->request);
  ndr_groups_destroy((ndr_groups *)(uintptr_t)parts->given);
  free(parts->parts);
  free(parts->seen);
  free(parts->rows);
  free(parts);
}

/* ---- memory ---- */

/* Tables take memory of a device, 4 to 8 bytes a label. */
static int64_t table_labels(const ndr_parts *parts) {
  int64_t labels = 0;
  for (int64_t at = 0; at < parts->count; at++)
    if (parts->parts[at].table) labels += parts->parts[at].labels;
  return labels;
}

bool ndr_parts_are_few(const ndr_parts *parts) {
  enum { FEW_PARTS = 16384, FEW_PLANS = 512, FEW_LABELS = 1 << 25 };
  return !parts || (parts->count <= FEW_PARTS && parts->plans <= FEW_PLANS && table_labels(parts) <= FEW_LABELS);
}

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
  *bytes = 0;
  return parts->request.merges ? NDR_OK : ndr_states_bytes(&parts->request, most_outputs(parts), bytes);
}

static size_t most_workspace(const ndr_parts *parts) {
  size_t most = 0;
  for (int64_t at = 0; at < parts->count; at++)
    if (parts->parts[at].plan->workspace > most) most = parts->parts[at].plan->workspace;
  return most;
}

/* The states of the whole, or where parts write results those of one output without elements. */
int64_t ndr_parts_state_count(const ndr_parts *parts) {
  return parts->direct ? 1 : ndr_states_outputs(&parts->request);
}

/* The workspace begins with the states; behind them are those of a part, and then what its plan needs. */
ndr_status ndr_parts_state_bytes(const ndr_parts *parts, size_t *states, size_t *scratch) {
  NDR_TRY(ndr_states_bytes(&parts->request, ndr_parts_state_count(parts), states));
  NDR_TRY(ndr_parts_scratch(parts, scratch));
  *states = (size_t)round_up((int64_t)*states);
  *scratch = parts->direct ? 0 : (size_t)round_up((int64_t)*scratch);
  return NDR_OK;
}

ndr_status ndr_parts_workspace(const ndr_parts *parts, size_t *bytes) {
  size_t states, scratch;
  NDR_TRY(ndr_parts_state_bytes(parts, &states, &scratch));
  *bytes = states + scratch + most_workspace(parts);
  return NDR_OK;
}

void ndr_parts_describe(const ndr_parts *parts, char *text, size_t capacity, size_t *length) {
  const part *largest = NULL;
  double most = -1;
  for (int64_t at = 0; at < parts->count; at++) {
    const part *p = &parts->parts[at];
    double elements = (double)p->plan->problem.outputs * (double)p->plan->problem.length;
    if (elements > most) {
      most = elements;
      largest = p;
    }
  }
  if (parts->sorted) {
    ndr_text_append(text, capacity, length,
                    "groups  %lld, of labels that are sorted, and blocks of elements with them\n",
                    (long long)parts->request.problem.groups->count);
    return;
  }
  ndr_text_append(text, capacity, length, "groups  %lld, in %lld parts of %lld shapes, %s\n",
                  (long long)parts->request.problem.groups->count, (long long)parts->count, (long long)parts->plans,
                  parts->direct ? "each of which writes its results" : "whose states are merged");
  if (largest) ndr_plan_describe_choice(largest->plan, text, capacity, length);
}
