/* Dates of one column of a table have the same precision, whatever each of them needs by itself. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/output.h"
#include "h5gpured/ranks.h"

/* What makes a date of each precision one of the next. */
static const char *const zeros[] = {[DATE_DAYS] = "T00:00:00", [DATE_SECONDS] = ".000", [DATE_MILLIS] = "000"};

/* The precision of "2001-01-31", "2001-01-31T12:00:00", and that with .123 or .123456; false of another text. */
static bool read_precision(const char *text, date_precision *precision) {
  static const char day[] = "-dd-dd", clock[] = "Tdd:dd:dd", fraction[] = ".ddd", rest[] = "ddd";
  const char *const parts[] = {day, clock, fraction, rest};
  const char *at = text + (*text == '-' || *text == '+');
  size_t years = strspn(at, "0123456789");
  at += years;
  for (int i = 0; i <= DATE_MICROS && years >= 4; i++) {
    for (const char *c = parts[i]; *c; c++, at++)
      if (*c == 'd' ? !isdigit((unsigned char)*at) : *at != *c) return false;
    *precision = (date_precision)i;
    if (!*at) return true;
  }
  return false;
}

date_precision dates_precision(int64_t count, date *dates) {
  date_precision most = DATE_DAYS, own;
  for (int64_t i = 0; i < count; i++)
    if (read_precision(dates[i], &own) && own > most) most = own;
  return most;
}

void dates_refine(int64_t count, date *dates, date_precision precision) {
  date_precision own;
  for (int64_t i = 0; i < count; i++)
    if (read_precision(dates[i], &own))
      for (size_t length = strlen(dates[i]); own < precision && length + strlen(zeros[own]) < sizeof *dates; own++)
        length = (size_t)(stpcpy(dates[i] + length, zeros[own]) - dates[i]);
}

/* ---- Several datasets -------------------------------------------------------------------------------------------- */

date_precision table_precision(const table_columns *columns, const char *dim) {
  for (int i = 0; columns && dim && i < columns->count; i++)
    if (strcmp(columns->dates[i].dim, dim) == 0) return columns->dates[i].precision;
  return DATE_DAYS;
}

/* Raises the precision of the dates along a dim to this one at least. */
static void note(table_columns *columns, const char *dim, date_precision precision) {
  int i = 0;
  while (i < columns->count && strcmp(columns->dates[i].dim, dim) != 0) i++;
  if (i == NDR_MAX_DIMS) return;
  if (i == columns->count) {
    snprintf(columns->dates[i].dim, DIM_CHARS, "%.300s", dim);
    columns->dates[i].precision = DATE_DAYS;
    columns->count++;
  }
  if (precision > columns->dates[i].precision) columns->dates[i].precision = precision;
}

/* Whether coordinates of a dim of that name are printed: with --coords or --scan of any, else of kept ones. */
static bool is_printed(const h5gpured_options *options, const char *name) {
  if (!name) return false;
  if (options->scans || options->coords) return true;
  size_t length = strlen(name);
  return strcmp(options->dims, "all") != 0 && !list_has(options->dims, name, length) &&
         !list_has(options->grouped, name, length);
}

static bool has_printed_dim(const h5gpured_options *options, const member *one) {
  bool has = false;
  for (int d = 0; d < one->ndim; d++) has |= is_printed(options, one->names[d]);
  return has;
}

static bool note_dim(const h5gpured_options *options, const ndr_h5_dataset *dataset, int d, table_columns *columns) {
  const ndr_h5_info *info = ndr_h5_describe(dataset);
  const int64_t count = info->shape[d];
  date *dates = NULL;
  if (!is_printed(options, info->dim_names[d]) || ndr_h5_dates(dataset, d, 0, NULL, NULL) != NDR_OK) return true;
  double *values = malloc((size_t)count * sizeof *values + 1);
  bool good = values != NULL;
  if (!good) complain("%s:%s: out of memory for coordinates", info->file, info->dataset);
  good = good && (ndr_h5_coordinate(dataset, d, values) == NDR_OK || fail());
  good = good && dates_of(dataset, d, count, values, &dates);
  if (dates) note(columns, info->dim_names[d], dates_precision(count, dates));
  free(values);
  free(dates);
  return good;
}

/* Opens datasets that are opened again when their turn comes: to keep many open would take memory. One that cannot be
 * opened is passed over here, and complained of when its turn comes. */
bool members_find_dates(const members *m, table_columns *columns) {
  ndr_h5_access access = input_access(m->options);
  bool good = true;
  access.on_remark = NULL;
  if (m->options->format != FORMAT_CSV || m->chosen_count < 2 || !ranks_leads()) return true;
  for (int c = 0; c < m->chosen_count && good; c++) {
    ndr_h5_dataset *dataset = NULL;
    ndr_status status;
    if (!has_printed_dim(m->options, &m->all[m->chosen[c]])) continue;
    if (!member_try_to_open(m, &m->all[m->chosen[c]], &access, &dataset, &status)) return false;
    if (status != NDR_OK) continue;
    for (int d = 0; d < ndr_h5_describe(dataset)->ndim && good; d++) good = note_dim(m->options, dataset, d, columns);
    ndr_h5_close(dataset);
  }
  return good;
}
