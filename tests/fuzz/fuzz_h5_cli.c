/* Paths, dims and parts as typed on h5gpured's command line, any bytes: "PATH\nDIMS\nPART". Splitting a path must give
 * back its text; dims that are accepted are different and in range, and mean the same when written as numbers; parts
 * that are accepted lie within the array, and mean the same when written out; what coordinates select lies on the axis,
 * and in the order of the axis. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "h5/cf/value_range.h"
#include "h5/file/select.h"
#include "h5/find/path.h"
#include "ndreduce/h5.h"

enum { NDIM = 4 };

/* A file exists for every prefix whose bytes add up to a multiple of 3: any pattern of hits and misses can come up. */
static bool is_file(void *user, const char *text, size_t length) {
  unsigned sum = 0;
  for (size_t i = 0; i < length; i++) sum += (unsigned char)text[i];
  ++*(size_t *)user;
  return sum % 3 == 0;
}

static void check_path(const char *text) {
  const char *rest = NULL;
  size_t asked = 0, length = ndr_path_split(text, is_file, &asked, &rest), guess = ndr_path_guess(text);
  require(guess <= strlen(text) && (guess > 0 || !*text));
  require(asked <= strlen(text));
  if (length == 0) return;
  size_t joint = text[length] == ':';
  require(length <= strlen(text) && is_file(&asked, text, length));
  require(rest ? rest == text + length + joint && *rest : text[length + joint] == 0);
}

static void check_dims(const char *text) {
  static const char *const names[NDIM] = {"time", NULL, "lat", "0"};
  int dims[NDIM], again[NDIM], count = -1, more = -1;
  char numbers[8 * NDIM] = "";
  ndr_status status = ndr_h5_dims_parse(text, NDIM, names, &count, dims);
  require(status == NDR_OK || status == NDR_ERR_PARSE || status == NDR_ERR_DIMS);
  if (status != NDR_OK) {
    require(ndr_last_error()[0] != 0 && count == -1);
    return;
  }
  require(count >= 1 && count <= NDIM);
  for (int i = 0; i < count; i++) {
    require(dims[i] >= 0 && dims[i] < NDIM);
    for (int j = 0; j < i; j++) require(dims[i] != dims[j]);
    snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%s%d", i ? "," : "", dims[i] - NDIM);
  }
  require(ndr_h5_dims_parse(numbers, NDIM, NULL, &more, again) == NDR_OK);
  require(more == count && memcmp(dims, again, sizeof *dims * (size_t)count) == 0);
}

/* All runs lie on the axis, and the values of one go up as those of the axis do. */
static void check_runs(const ndr_value_axis *axis, const ndr_index_runs *runs) {
  double before = -1e300;
  require(runs->count == 1 || runs->count == 2);
  for (int r = 0; r < runs->count; r++) {
    const ndr_index_run *run = &runs->run[r];
    require(run->from >= 0 && run->count >= 1 && run->from + run->count <= axis->count);
    require(run->shift == 0 || (axis->turn > 0 && run->shift / axis->turn == (int)(run->shift / axis->turn)));
    for (int64_t i = run->from; i < run->from + run->count; i++) {
      require(axis->values[i] + run->shift > before);
      before = axis->values[i] + run->shift;
    }
  }
}

/* Times of a calendar that the text chooses, or numbers, or longitudes. */
static void check_values(int d, const char *text, int length) {
  static const char *const calendars[] = {"standard", "noleap", "all_leap", "360_day", "julian", "proleptic_gregorian"};
  double values[48];
  ndr_time_units units;
  ndr_index_runs runs;
  ndr_value_axis axis = {"x", 48, values, 0x1p-51, NULL, d == 2 ? 360 : 0, d == 1 ? "hPa" : NULL, d == 1 ? "m" : NULL};
  for (int i = 0; i < 48; i++) values[i] = d == 0 ? 30.5 * i : 7.5 * i - 90;
  if (d == 0) axis.time = &units;
  require(ndr_time_units_parse("days since 2000-01-01", calendars[length % 6], &units));
  ndr_status status = ndr_value_range_find(&axis, text, length, &runs);
  require(status == NDR_OK || status == NDR_ERR_PARSE || status == NDR_ERR_DIMS);
  if (status == NDR_OK)
    check_runs(&axis, &runs);
  else
    require(ndr_last_error()[0] != 0);
}

static void check_part(const char *text) {
  static const int64_t shape[NDIM] = {7, 0, INT64_MAX, 1};
  static const char *const names[NDIM] = {"time", "lat", "lon", NULL};
  ndr_selection parts[NDIM], again[NDIM];
  char written[NDIM * 70] = "";
  ndr_status status = ndr_select_parse(text, NDIM, shape, names, parts);
  require(status == NDR_OK || status == NDR_ERR_PARSE || status == NDR_ERR_DIMS);
  for (int d = 0; status == NDR_OK && d < NDIM; d++) {
    const ndr_selection *s = &parts[d];
    require(!s->values || (s->values >= text && s->values + s->length <= text + strlen(text)));
    if (s->values) check_values(d, s->values, s->length);
    require(s->step >= 1 && s->count >= 0 && s->from >= 0 && s->from <= shape[d]);
    require(s->count == 0 || s->from + (s->count - 1) * s->step < shape[d]);
    int64_t end = s->count ? s->from + (s->count - 1) * s->step + 1 : s->from;
    snprintf(written + strlen(written), sizeof written - strlen(written), "%s%lld:%lld:%lld", d ? "," : "",
             (long long)s->from, (long long)end, (long long)s->step);
  }
  if (status != NDR_OK) return;
  require(ndr_select_parse(written, NDIM, shape, NULL, again) == NDR_OK);
  for (int d = 0; d < NDIM; d++) require(again[d].from == parts[d].from && again[d].count == parts[d].count);
}

/* The line that text starts with, ended; *text moves to the next one, or stays at the last. */
static const char *next_line(char **text) {
  char *line = *text, *end = strchr(line, '\n');
  if (end) {
    *end = 0;
    *text = end + 1;
  }
  return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = 0;
  char *rest = text;
  check_path(next_line(&rest));
  check_dims(next_line(&rest));
  check_part(next_line(&rest));
  free(text);
  return 0;
}
