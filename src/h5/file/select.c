/* A part of a dataset, as NumPy writes it: [0:100, :, ::4], [..., 3]; or by coordinates, [lat=30:60]. What coordinates
 * mean is found in cf/value_range.c. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "h5/file/dims.h"
#include "h5/file/select.h"
#include "ndreduce/h5.h"

/* start:stop:step of one dim as written, with what is left out marked. */
typedef struct {
  int64_t value[3];
  bool given[3];
  int parts; /* 1: an index, else a range */
} range;

static void skip_blanks(const char **text) {
  while (isspace((unsigned char)**text)) (*text)++;
}

/* Reads one entry up to the comma or the end. */
static bool read_range(const char **text, range *r) {
  *r = (range){{0, 0, 1}, {false, false, false}, 1};
  for (;; r->parts++) {
    skip_blanks(text);
    if (**text == '-' || **text == '+' || isdigit((unsigned char)**text)) {
      char *end;
      errno = 0;
      r->value[r->parts - 1] = strtoll(*text, &end, 10);
      if (errno || end == *text) return false;
      r->given[r->parts - 1] = true;
      *text = end;
    }
    skip_blanks(text);
    if (**text != ':') break;
    if (r->parts == 3) return false;
    (*text)++;
  }
  return (**text == ',' || **text == 0) && (r->parts > 1 || r->given[0]);
}

static int64_t clamp(int64_t index, int64_t size) {
  if (index < 0) index = index < -size ? 0 : index + size;
  return index < size ? index : size;
}

/* `dim` is what errors call it. */
static ndr_status apply(const range *r, const char *dim, int64_t size, ndr_selection *s) {
  int64_t step = r->given[2] ? r->value[2] : 1;
  if (r->parts == 1) {
    int64_t index = r->value[0];
    if (index < -size || index >= size)
      return ndr_fail(NDR_ERR_DIMS, "index %lld is out of range for %s of size %lld", (long long)index, dim,
                      (long long)size);
    *s = (ndr_selection){.from = index < 0 ? index + size : index, .step = 1, .count = 1};
    return NDR_OK;
  }
  if (step < 1) return ndr_fail(NDR_ERR_PARSE, "the step of %s is %lld; it must be positive", dim, (long long)step);
  int64_t from = r->given[0] ? clamp(r->value[0], size) : 0, to = r->given[1] ? clamp(r->value[1], size) : size;
  int64_t count = to > from ? (to - from - 1) / step + 1 : 0;
  *s = (ndr_selection){.from = from, .step = count > 1 ? step : 1, .count = count};
  return NDR_OK;
}

static bool is_dots(const char *text) {
  return strncmp(text, "...", 3) == 0;
}

/* ---- Entries with a name ---------------------------------------------------------------------------------------- */

/* Where the '=' of an entry is; NULL if it has none. */
static const char *find_equals(const char *entry) {
  const char *end = entry + strcspn(entry, ",=");
  return *end == '=' ? end : NULL;
}

/* Whether an entry is NAME=VALUE. */
static bool is_value(const char *entry) {
  return find_equals(entry) && entry[strcspn(entry, ",:")] != ':';
}

/* The dim of a name or number. */
static ndr_status find_dim(const char *name, int length, int ndim, const char *const *names, int *d) {
  char text[512];
  int count, dims[NDR_MAX_DIMS];
  snprintf(text, sizeof text, "%.*s", length, name);
  NDR_TRY(ndr_h5_dims_parse(text, ndim, names, &count, dims));
  if (count != 1) return ndr_fail(NDR_ERR_DIMS, "no dim is named '%s'", text);
  *d = dims[0];
  return NDR_OK;
}

int ndr_select_next_name(const char **text, const char **name) {
  for (const char *entry = *text; *entry;) {
    const char *equals = find_equals(entry);
    if (!equals) {
      entry += strcspn(entry, ",");
      entry += *entry == ',';
      continue;
    }
    skip_blanks(&entry);
    const char *end = equals;
    while (end > entry && isspace((unsigned char)end[-1])) end--;
    *name = entry;
    *text = equals + 1;
    return end - entry > INT_MAX ? INT_MAX : (int)(end - entry);
  }
  return -1;
}

/* The entry at *text, which has a name; *text is moved behind it. */
static ndr_status read_named(const char **text, int ndim, const char *const *names, bool *taken, ndr_selection *all) {
  const char *name;
  char called[NDR_DIM_TEXT];
  int d, length = ndr_select_next_name(text, &name);
  if (length <= 0) return ndr_fail(NDR_ERR_PARSE, "'=%s' lacks the name of a dim", *text);
  NDR_TRY(find_dim(name, length, ndim, names, &d));
  if (taken[d]) return ndr_fail(NDR_ERR_PARSE, "%s is selected twice", ndr_dim_text(d, names, called));
  taken[d] = true;
  size_t values = strcspn(*text, ",");
  all[d].values = *text;
  all[d].length = values > INT_MAX ? INT_MAX : (int)values;
  *text += values;
  return NDR_OK;
}

/* ---- All entries ------------------------------------------------------------------------------------------------ */

/* Entries of the list without a name, "..." not counted; -1 where that occurs twice. */
static int count_entries(const char *text, bool *dots) {
  int count = 0;
  *dots = false;
  for (const char *rest = text; rest; rest = strchr(rest, ',')) {
    rest += *rest == ',';
    skip_blanks(&rest);
    if (find_equals(rest)) continue;
    if (!is_dots(rest)) {
      count++;
      continue;
    }
    if (*dots) return -1;
    *dots = true;
  }
  return count;
}

/* [lat=30,60] is meant as a range of latitudes, and would be an index of the first dim. `named` is the entry before. */
static ndr_status refuse_index(const char *named, int64_t index) {
  int length = (int)strcspn(named, ",");
  while (length > 0 && isspace((unsigned char)named[length - 1])) length--;
  return ndr_fail(NDR_ERR_PARSE, "'%.*s,%lld' is no range: write %.*s:%lld; an index of another dim comes before names",
                  length, named, (long long)index, length, named, (long long)index);
}

/* `value` is the entry before if that is NAME=VALUE, else NULL. */
static ndr_status read_index(const char **text, const char *whole, const char *value, int d, const int64_t *shape,
                             const char *const *names, bool *taken, ndr_selection *all) {
  char called[NDR_DIM_TEXT];
  range r;
  if (!read_range(text, &r))
    return ndr_fail(NDR_ERR_PARSE,
                    "'[%s]' is not a part of an array: write START:STOP:STEP for each dim, or NAME=FROM:TO", whole);
  if (value && r.parts == 1) return refuse_index(value, r.value[0]);
  if (taken[d]) return ndr_fail(NDR_ERR_PARSE, "%s is selected twice", ndr_dim_text(d, names, called));
  taken[d] = true;
  return apply(&r, ndr_dim_text(d, names, called), shape[d], &all[d]);
}

ndr_status ndr_select_parse(const char *text, int ndim, const int64_t *shape, const char *const *names,
                            ndr_selection *selections) {
  bool dots, taken[NDR_MAX_DIMS] = {false};
  const char *value = NULL;
  int count = count_entries(text, &dots), d = 0;
  if (count < 0) return ndr_fail(NDR_ERR_PARSE, "'[%s]' has '...' twice", text);
  if (count > ndim)
    return ndr_fail(NDR_ERR_DIMS, "'[%s]' has %d entr%s for an array of %d dim%s", text, count,
                    count == 1 ? "y" : "ies", ndim, NDR_PLURAL(ndim));
  for (int i = 0; i < ndim; i++) selections[i] = (ndr_selection){.from = 0, .step = 1, .count = shape[i]};
  for (const char *rest = text;; rest++) {
    skip_blanks(&rest);
    const char *entry = rest;
    if (is_dots(rest)) {
      d += ndim - count;
      rest += 3;
      skip_blanks(&rest);
    } else if (find_equals(rest)) {
      NDR_TRY(read_named(&rest, ndim, names, taken, selections));
    } else {
      NDR_TRY(read_index(&rest, text, value, d, shape, names, taken, selections));
      d++;
    }
    value = is_value(entry) ? entry : NULL;
    if (*rest != ',') return *rest ? ndr_fail(NDR_ERR_PARSE, "'[%s]' is not a part of an array", text) : NDR_OK;
  }
}
