/* Measurements as text: a line is the key, then the families that were timed, the chosen one first.
 *
 *   sum f32 [16384,16384] /1 on cuda 132 SMs sm_90: tree 231.4 us, thread 1804 us */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/backends.h"
#include "core/measure/measurements.h"
#include "core/number.h"

enum { LINE_BYTES = NDR_MEASUREMENT_KEY + 512 };

/* ---- printing ---- */

typedef struct sheet {
  char *text;
  size_t capacity, length;
} sheet;

static void print_timing(sheet *s, const ndr_measurement *m, int family, const char *before) {
  char micros[NDR_NUMBER_TEXT];
  ndr_number_print_digits(m->timings.seconds[family] * 1e6, 4, micros);
  ndr_text_append(s->text, s->capacity, &s->length, "%s %s %s us", before, m->backend->families[family]->name, micros);
}

static void print_line(const ndr_measurement *m, void *context) {
  sheet *s = context;
  ndr_text_append(s->text, s->capacity, &s->length, "%s:", m->key);
  for (int f = 0; m->backend->families[f]; f++)
    if (m->backend->families[f] == m->timings.choice) print_timing(s, m, f, "");
  for (int f = 0; m->backend->families[f]; f++)
    if (m->backend->families[f] != m->timings.choice && m->timings.seconds[f] > 0) print_timing(s, m, f, ",");
  ndr_text_append(s->text, s->capacity, &s->length, "\n");
}

size_t ndr_measurements_export(char *text, size_t capacity) {
  sheet s = {text, text ? capacity : 0, 0};
  if (s.capacity) text[0] = 0;
  ndr_measurements_visit(print_line, &s);
  return s.length;
}

/* ---- reading a line ---- */

static bool take(const char **at, const char *expected) {
  size_t length = strlen(expected);
  if (strncmp(*at, expected, length) != 0) return false;
  *at += length;
  return true;
}

/* Reads a word of letters and digits. A word that is too long is cut, and then matches no name. */
static void take_word(const char **at, char *word, size_t capacity) {
  size_t length = 0;
  for (; isalnum((unsigned char)**at) || **at == '_'; ++*at)
    if (length + 1 < capacity) word[length++] = **at;
  word[length] = 0;
}

static bool take_count(const char **at, int *count) {
  char *end;
  if (!isdigit((unsigned char)**at)) return false;
  long value = strtol(*at, &end, 10);
  *at = end;
  *count = (int)value;
  return value > 0 && value <= 1 << 20;
}

static ndr_status read_problem(const char *text, ndr_canonical *problem) {
  ndr_problem parsed = NDR_PROBLEM_INIT;
  ndr_request request;
  NDR_TRY(ndr_problem_parse(text, &parsed));
  if (parsed.groups) return ndr_fail(NDR_ERR_PARSE, "problems with groups are not measured");
  NDR_TRY(ndr_request_make(&request, &parsed));
  ndr_status status = ndr_canonical_make(problem, &request);
  ndr_request_free(&request);
  if (status != NDR_OK) return status;
  if (problem->outputs == 0 || problem->length == 0) return ndr_fail(NDR_ERR_PARSE, "there is nothing to reduce");
  return NDR_OK;
}

/* "cuda 132 SMs sm_90" or "cpu 16 threads" */
static ndr_status read_device(const char **at, ndr_plan *plan) {
  char name[16];
  take_word(at, name, sizeof name);
  plan->backend = ndr_backend_named(name);
  if (!plan->backend) return ndr_fail(NDR_ERR_PARSE, "this build has no backend '%s'", name);
  bool cpu = plan->backend->owns(kDLCPU);
  plan->device.type = cpu ? kDLCPU : kDLCUDA;
  bool fine = take(at, " ") && take_count(at, &plan->device.units);
  if (cpu)
    fine = fine && take(at, " threads");
  else
    fine = fine && take(at, " SMs sm_") && take_count(at, &plan->device.capability);
  if (fine && take(at, ": ")) return NDR_OK;
  return ndr_fail(NDR_ERR_PARSE, "after 'on %s' comes '%s'", name, cpu ? "N threads: " : "N SMs sm_N: ");
}

static ndr_status read_timing(const char **at, const ndr_backend *backend, ndr_timings *timings) {
  char name[16];
  const char *why;
  int f = 0;
  take_word(at, name, sizeof name);
  while (backend->families[f] && strcmp(backend->families[f]->name, name) != 0) f++;
  if (!backend->families[f]) return ndr_fail(NDR_ERR_PARSE, "backend %s has no family '%s'", backend->name, name);
  if (timings->seconds[f] > 0) return ndr_fail(NDR_ERR_PARSE, "family %s is named twice", name);
  double micros = 0;
  *at += **at == ' ';
  size_t length = ndr_number_take(*at, &micros, &why);
  bool fine = length > 0 && !why && isfinite(micros) && micros > 0;
  *at += length;
  if (!fine || !take(at, " us"))
    return ndr_fail(NDR_ERR_PARSE, "family %s has no time; it is written as '%s 12.3 us'", name, name);
  timings->seconds[f] = micros * 1e-6;
  if (!timings->choice) timings->choice = backend->families[f];
  return NDR_OK;
}

/* What follows the problem. */
static ndr_status read_rest(const char *at, ndr_plan *plan, ndr_measurement **made) {
  char key[NDR_MEASUREMENT_KEY];
  ndr_timings timings = {.choice = NULL};
  NDR_TRY(read_device(&at, plan));
  do {
    NDR_TRY(read_timing(&at, plan->backend, &timings));
  } while (take(&at, ", "));
  if (*at) return ndr_fail(NDR_ERR_PARSE, "'%.40s' follows the last time", at);
  if (!ndr_measurement_key(plan, key)) return ndr_fail(NDR_ERR_PARSE, "choices for this problem are not remembered");
  *made = ndr_measurement_make(key, plan->backend, &timings);
  return *made ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for a measurement");
}

static ndr_status read_line(char *line, ndr_measurement **made) {
  static const char separator[] = " on ";
  ndr_plan plan = {.threads = 0};
  char *device = strstr(line, separator);
  if (!device) return ndr_fail(NDR_ERR_PARSE, "'%.60s' does not say on which device", line);
  *device = 0;
  ndr_status status = read_problem(line, &plan.problem);
  if (status == NDR_OK) status = read_rest(device + sizeof separator - 1, &plan, made);
  ndr_canonical_free(&plan.problem);
  return status;
}

/* ---- reading a text ---- */

typedef struct reading {
  int count;
  ndr_measurement *made[NDR_MOST_MEASUREMENTS];
} reading;

static ndr_status read_one(reading *all, const char *text, size_t length) {
  char line[LINE_BYTES];
  while (length > 0 && isspace((unsigned char)*text)) text++, length--;
  while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
  if (length == 0 || *text == '#') return NDR_OK;
  if (length >= sizeof line) return ndr_fail(NDR_ERR_PARSE, "it is longer than %d bytes", LINE_BYTES - 1);
  if (all->count == NDR_MOST_MEASUREMENTS)
    return ndr_fail(NDR_ERR_PARSE, "at most %d measurements are kept", NDR_MOST_MEASUREMENTS);
  memcpy(line, text, length);
  line[length] = 0;
  NDR_TRY(read_line(line, &all->made[all->count]));
  all->count++;
  return NDR_OK;
}

static ndr_status read_all(reading *all, const char *text) {
  char reason[512];
  for (int number = 1; *text; number++) {
    size_t length = strcspn(text, "\n");
    ndr_status status = read_one(all, text, length);
    if (status == NDR_ERR_MEMORY) return status;
    if (status != NDR_OK) {
      snprintf(reason, sizeof reason, "%s", ndr_last_error());
      return ndr_fail(NDR_ERR_PARSE, "line %d: %s", number, reason);
    }
    text += length + (text[length] == '\n');
  }
  return NDR_OK;
}

ndr_status ndr_measurements_import(const char *text) {
  if (!text) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_measurements_import: null pointer");
  reading *all = calloc(1, sizeof *all);
  if (!all) return ndr_fail(NDR_ERR_MEMORY, "out of memory for measurements");
  ndr_status status = read_all(all, text);
  if (status == NDR_OK)
    ndr_measurements_remember(all->count, all->made);
  else
    while (all->count > 0) free(all->made[--all->count]);
  free(all);
  return status;
}

void ndr_measurements_forget(void) {
  ndr_measurements_drop_all();
}
