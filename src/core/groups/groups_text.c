/* See groups_text.h. */
#include "core/groups/groups_text.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/fork.h"
#include "core/text.h"

/* Labels of all groups that the process keeps because a text named them. */
#define MOST_LABELS (INT64_C(1) << 25)
/* Each of these groups counts as that many labels more. */
#define ENTRY_LABELS 4096

typedef struct kept_groups {
  struct kept_groups *next;
  ndr_groups *groups;
} kept_groups;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept_groups *kept;
static int64_t kept_labels;

NDR_GUARD_FORKS(lock)

ndr_status ndr_groups_keep(ndr_groups *made, const ndr_groups **groups) {
  kept_groups *entry = malloc(sizeof *entry);
  pthread_mutex_lock(&lock);
  kept_groups *found = kept;
  while (found && !ndr_groups_equal(found->groups, made)) found = found->next;
  bool fits = kept_labels + made->length + ENTRY_LABELS <= MOST_LABELS;
  if (!found && fits && entry) {
    *entry = (kept_groups){kept, made};
    kept_labels += made->length + ENTRY_LABELS;
    kept = found = entry;
  }
  pthread_mutex_unlock(&lock);
  if (found != entry || !found) free(entry);
  if (!found || found->groups != made) ndr_groups_destroy(made);
  if (!found)
    return ndr_fail(NDR_ERR_MEMORY, "the groups of all texts have more than %lld labels", (long long)MOST_LABELS);
  *groups = found->groups;
  return NDR_OK;
}

/* ---- parsing ---- */

typedef struct reader {
  const char *at;
  const char *expected;
  int64_t filled;
  ndr_groups *groups;
} reader;

static bool fail(reader *r, const char *expected) {
  r->expected = expected;
  return false;
}

static bool take(reader *r, char expected) {
  if (*r->at != expected) return false;
  r->at++;
  return true;
}

static bool take_integer(reader *r, int64_t least, int64_t most, const char *expected, int64_t *out) {
  const char *digits = r->at + (*r->at == '-');
  char *end;
  if (!isdigit((unsigned char)*digits)) return fail(r, expected);
  errno = 0;
  long long value = strtoll(r->at, &end, 10);
  if (errno == ERANGE || value < least || value > most) return fail(r, expected);
  r->at = end;
  *out = value;
  return true;
}

typedef struct item {
  int64_t times, first, end, step, length;
} item;

static bool take_label(reader *r, int64_t *label) {
  return take_integer(r, -1, r->groups->count - 1, "a label from -1 to below the number of groups", label);
}

static bool take_labels(reader *r, item *i) {
  if (!take_label(r, &i->first)) return false;
  i->end = i->first + 1;
  if (take(r, ':')) {
    if (!take_integer(r, -2, r->groups->count, "an end, at most the number of groups", &i->end)) return false;
    if (take(r, ':') && !take_integer(r, INT32_MIN, INT32_MAX, "a step", &i->step)) return false;
  }
  if (i->step == 0 || (i->end - i->first) * i->step <= 0) return fail(r, "an end that the step leads to");
  return !take(r, 'x') || take_integer(r, 1, INT32_MAX, "how often a label is repeated", &i->length);
}

static bool take_item(reader *r, item *i) {
  const char *start = r->at;
  int64_t times;
  *i = (item){.times = 1, .step = 1, .length = 1};
  if (isdigit((unsigned char)*r->at) && take_integer(r, 1, INT32_MAX, "a label", &times) && take(r, '(')) {
    i->times = times;
    return take_labels(r, i) && (take(r, ')') || fail(r, "')'"));
  }
  r->at = start;
  return take_labels(r, i);
}

static bool fill(reader *r, const item *i) {
  for (int64_t time = 0; time < i->times; time++)
    for (int64_t label = i->first; i->step > 0 ? label < i->end : label > i->end; label += i->step) {
      if (label < -1 || i->length > r->groups->length - r->filled)
        return fail(r, "no more labels than the dim has elements");
      for (int64_t n = 0; n < i->length; n++) r->groups->labels[r->filled++] = (int32_t)label;
    }
  return true;
}

static bool take_items(reader *r) {
  item i;
  if (!take(r, '[')) return fail(r, "'['");
  while (!take(r, ']')) {
    if (!take_item(r, &i) || !fill(r, &i)) return false;
    if (*r->at != ']' && !take(r, ',')) return fail(r, "',' or ']'");
  }
  return r->filled == r->groups->length || fail(r, "a label for each element of the dim before ']'");
}

static bool take_windows(reader *r, int ndim, const int64_t *shape, ndr_windows *windows) {
  for (int d = 0; d < ndim; d++) {
    ndr_windows *w = &windows[d];
    w->size = shape[d];
    if (d && !take(r, ',')) return fail(r, "',' and the windows of each dim");
    if (!take_integer(r, 0, shape[d] - 1, "where windows begin, within the dim", &w->begin)) return false;
    if (!take(r, ':')) return fail(r, "':' and where windows end");
    if (!take_integer(r, w->begin + 1, shape[d], "where windows end, within the dim", &w->end)) return false;
    if (!take(r, ':')) return fail(r, "':' and the size of windows");
    if (!take_integer(r, 1, INT64_MAX, "the size of windows", &w->window)) return false;
  }
  return take(r, '}') || fail(r, "'}'");
}

static ndr_status parse_windows(reader *r, int ndim, const int64_t *shape) {
  ndr_windows windows[NDR_MAX_DIMS];
  return take_windows(r, ndim, shape, windows) ? ndr_groups_boxes(&r->groups, ndim, windows) : NDR_ERR_PARSE;
}

ndr_status ndr_groups_parse(const char **text, int ndim, const int64_t *shape, ndr_groups **groups,
                            const char **expected) {
  reader r = {.at = *text};
  int64_t count, length = 1;
  if (take(&r, '{')) {
    ndr_status status = parse_windows(&r, ndim, shape);
    *text = r.at;
    *expected = r.expected;
    *groups = r.groups;
    return status;
  }
  for (int d = 0; d < ndim; d++)
    if (__builtin_mul_overflow(length, shape[d], &length) || length > MOST_LABELS) length = MOST_LABELS + 1;
  bool read = length <= MOST_LABELS || fail(&r, "a dim of fewer elements, as its labels are listed");
  read = read && take_integer(&r, 1, INT32_MAX, "the number of groups", &count);
  if (read) {
    NDR_TRY(ndr_groups_allocate(&r.groups, ndim, shape, count));
    read = take_items(&r);
  }
  *text = r.at;
  *expected = r.expected;
  *groups = read ? r.groups : NULL;
  if (read) return NDR_OK;
  ndr_groups_destroy(r.groups);
  return NDR_ERR_PARSE;
}

/* ---- printing ---- */

static void print_piece(const ndr_piece *piece, char *text, size_t capacity, size_t *length) {
  int64_t last = piece->label + (piece->groups - 1) * piece->label_step,
          end = piece->label_step > 0 ? last + 1 : last - 1;
  if (piece->outer > 1) ndr_text_append(text, capacity, length, "%lld(", (long long)piece->outer);
  ndr_text_append(text, capacity, length, "%lld", (long long)piece->label);
  if (piece->groups > 1) ndr_text_append(text, capacity, length, ":%lld", (long long)end);
  if (piece->groups > 1 && piece->label_step != 1)
    ndr_text_append(text, capacity, length, ":%lld", (long long)piece->label_step);
  if (piece->inner > 1) ndr_text_append(text, capacity, length, "x%lld", (long long)piece->inner);
  if (piece->outer > 1) ndr_text_append(text, capacity, length, ")");
}

static void print_windows(const ndr_groups *groups, char *text, size_t capacity, size_t *length) {
  for (int d = 0; d < groups->ndim; d++) {
    const ndr_windows *w = &groups->windows[d];
    ndr_text_append(text, capacity, length, "%s%lld:%lld:%lld", d ? "," : "{", (long long)w->begin, (long long)w->end,
                    (long long)w->window);
  }
  ndr_text_append(text, capacity, length, "}");
}

void ndr_groups_print(const ndr_groups *groups, int64_t most, char *text, size_t capacity, size_t *length) {
  if (groups->windows) {
    print_windows(groups, text, capacity, length);
    return;
  }
  ndr_piece piece;
  int64_t at = 0, before = 0, printed = 0;
  const char *comma = "";
  ndr_text_append(text, capacity, length, "%lld[", (long long)groups->count);
  for (bool more = true; more && printed < most; before = at, comma = ",", printed++) {
    more = ndr_groups_next(groups, &at, groups->length, &piece);
    int64_t none = (more ? piece.first : groups->length) - before;
    if (none > 0) ndr_text_append(text, capacity, length, none > 1 ? "%s-1x%lld" : "%s-1", comma, (long long)none);
    if (none > 0) comma = ",";
    if (!more) break;
    ndr_text_append(text, capacity, length, "%s", comma);
    print_piece(&piece, text, capacity, length);
  }
  if (before < groups->length && printed == most)
    ndr_text_append(text, capacity, length, ",... %lld labels", (long long)groups->length);
  ndr_text_append(text, capacity, length, "]");
}
