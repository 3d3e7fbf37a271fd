/* Finds the arrays that --where, --weights and operators of one's own read beside a dataset. A name is what --with
 * says, else the coordinate of a dim of that name, else a dataset of the same file. The library reads them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operator_text.h"
#include "h5gpured/members.h"
#include "h5gpured/search.h"

/* The file that the dataset is in; of a series, the first one. To be freed. */
static char *file_of(const search *s) {
  char *file, *unused;
  if (!s->options->concat) return strdup(s->info->file);
  if (ndr_h5_split(s->options->inputs[0], &file, &unused) != NDR_OK) return NULL;
  free(unused);
  return file;
}

/* ---- Datasets ---------------------------------------------------------------------------------------------------- */

/* A mask means what its attributes say; --raw is about the elements that are reduced, and those beside them. */
static ndr_h5_access access_for(const search *s, ndr_role role) {
  ndr_h5_access access = input_access(s->options);
  if (role == NDR_WHERE) access.raw = 0;
  return access;
}

bool names_file(const char *text) {
  char *file, *path;
  if (text[0] != '/') return true;
  if (ndr_h5_split(text, &file, &path) != NDR_OK) return false;
  free(file);
  free(path);
  return true;
}

ndr_status open_path(const char *text, const char *file, const ndr_h5_access *access, ndr_h5_dataset **dataset) {
  char *named, *path;
  if (!names_file(text)) return ndr_h5_open(dataset, file, text, access);
  ndr_status status = ndr_h5_split(text, &named, &path);
  if (status != NDR_OK) return status;
  status = ndr_h5_open(dataset, named, path, access);
  free(named);
  free(path);
  return status;
}

static ndr_status open_text(const search *s, const char *text, const ndr_h5_access *access, ndr_h5_dataset **dataset) {
  char *file = file_of(s);
  ndr_status status = open_path(text, file, access, dataset);
  free(file);
  return status;
}

/* Refuses FILE alone, as with_text leaves it if the file has no dataset of the same path. */
static bool check_file_alone(const search *s, const named_value *with, const char *text) {
  char option[DIM_CHARS];
  if (!names_file_alone(text)) return true;
  snprintf(option, sizeof option, "--with %.*s=", with->length < 300 ? with->length : 300, with->name);
  return refuse_file_alone(s->options, s->info, s->where, option, text, s->info->dataset);
}

/* Opens the datasets that --with has for the name as one series. Each gets `part` unless it has its own. Sets *source.
 */
static bool open_series(const search *s, const named_value *name, const char *part, const ndr_h5_access *access,
                        ndr_h5_dataset **dataset, char **source) {
  const size_t most = (size_t)s->options->with_count;
  char **texts = calloc(2 * most, sizeof *texts), **parts = texts ? texts + most : NULL;
  int count = 0;
  bool good = true;
  if (!texts) return search_fail_memory(s);
  for (int w = 0; w < s->options->with_count && good; w++) {
    const named_value *with = &s->options->withs[w];
    if (!is_named(with, name->name, name->length)) continue;
    texts[count] = with_text(s->options, s->info->dataset, with->value);
    parts[count] = texts[count] ? with_part(texts[count], part) : NULL;
    good = (parts[count] || search_fail_memory(s)) && check_file_alone(s, with, texts[count]);
    count++;
  }
  good = good && ((*source = with_source(count, (const char *const *)texts)) || search_fail_memory(s));
  good = good && input_open_series(s->options, count, (const char *const *)parts, access, dataset);
  for (int i = 0; i < count; i++) {
    free(texts[i]);
    free(parts[i]);
  }
  free(texts);
  return good;
}

const named_value *find_with(const h5gpured_options *options, const char *name, int *count) {
  const named_value *found = NULL;
  *count = 0;
  for (int w = 0; w < options->with_count; w++) {
    const named_value *with = &options->withs[w];
    if (!is_named(with, name, (int)strlen(name))) continue;
    if (!found) found = with;
    ++*count;
  }
  return found;
}

/* `count` datasets, one after the other. Sets *source to what they are, without `part`; it is freed before. */
static bool open_with(const search *s, const named_value *with, int count, const char *part, ndr_h5_dataset **dataset,
                      char **source) {
  const ndr_h5_access access = access_for(s, NDR_WITH);
  char option[DIM_CHARS], *text, *whole;
  snprintf(option, sizeof option, "--with %.*s", with->length < 300 ? with->length : 300, with->name);
  free(*source);
  *source = NULL;
  if (count > 1) return open_series(s, with, part, &access, dataset, source);
  if (!(text = with_text(s->options, s->info->dataset, with->value))) return search_fail_memory(s);
  if (!check_file_alone(s, with, text)) {
    free(text);
    return false;
  }
  *source = with_source(1, (const char *const *)&text);
  whole = with_part(text, part);
  bool good = *source && whole ? open_text(s, whole, &access, dataset) == NDR_OK || search_refuse(s, option)
                               : search_fail_memory(s);
  free(whole);
  free(text);
  return good;
}

/* Whether an array has the dim along which files follow each other, but is not as long. */
static bool is_other_along_series(const search *s, const ndr_h5_dataset *array) {
  const ndr_h5_info *info = ndr_h5_describe(array);
  int own = concat_dim(s->options, s->info), d = concat_dim(s->options, info);
  if (own < 0 || d < 0) return false;
  const char *name = s->info->dim_names[own], *other = info->dim_names[d];
  return name && other && strcmp(name, other) == 0 && info->shape[d] != 1 && info->shape[d] != s->info->shape[own];
}

static bool add_with(const search *s, const char *name, const named_value *with, int count) {
  ndr_h5_operand *operand = search_add(s, NDR_WITH);
  if (!operand || !search_make_groups(s)) return false;
  const ndr_h5_access access = access_for(s, NDR_WITH);
  const int i = s->b->count - 1;
  char **source = &s->b->sources[i];
  operand->name = name;
  operand->groups = s->b->groups;
  if (!open_with(s, with, count, "", &operand->dataset, source)) return false;
  const bool of_input = !names_file(with->value), whole = count == 1 && !*part_of(with->value);
  if (of_input && whole && !search_open_in_each(s, operand, &access)) return false;
  if (search_is_of_groups(s, operand->dataset)) return search_note_groups(s, i);
  if (of_input || !s->options->select_along || !is_other_along_series(s, operand->dataset)) return true;
  ndr_h5_close(operand->dataset);
  operand->dataset = NULL;
  return open_with(s, with, count, s->options->select_along, &operand->dataset, source);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* /GROUP/NAME beside the dataset, else /NAME. */
static ndr_status open_named(const search *s, const char *name, ndr_h5_dataset **dataset) {
  const ndr_h5_access access = access_for(s, NDR_WITH);
  const char *slash = strrchr(s->info->dataset, '/');
  int length = slash ? (int)(slash - s->info->dataset) : 0;
  size_t capacity = (size_t)length + strlen(name) + 2;
  char *path = malloc(capacity);
  if (!path) return NDR_ERR_MEMORY;
  snprintf(path, capacity, "%.*s/%s", length, s->info->dataset, name);
  ndr_status status = open_text(s, path, &access, dataset);
  if (status != NDR_OK && length > 0) {
    snprintf(path, capacity, "/%s", name);
    status = open_text(s, path, &access, dataset);
  }
  free(path);
  return status;
}

/* Who writes 'month == 7' looks for groups. */
static const char *key_hint(const char *name, char hint[64]) {
  hint[0] = 0;
  if (names_groups(name)) snprintf(hint, 64, "; --by DIM:%s makes groups of times", name);
  return hint;
}

/* `name` is kept. */
static bool add_name(const search *s, const char *name, const char *option) {
  const ndr_h5_access access = access_for(s, NDR_WITH);
  int count, dim;
  char hint[64];
  const named_value *with = find_with(s->options, name, &count);
  if (count == 1 && (dim = search_find_weighed_dim(s, with->value)) >= 0)
    return search_add_weighed(s, name, dim, with->value);
  if (with) return add_with(s, name, with, count);
  if ((dim = search_find_dim(s, name)) >= 0) return search_add_coordinate(s, name, dim);
  ndr_h5_dataset *dataset;
  if (open_named(s, name, &dataset) != NDR_OK) {
    complain("%s: %s: there is no array '%s': neither --with %s=FILE:/PATH, nor a coordinate or a dataset of that "
             "name%s%s",
             s->where, option, name, name, strcmp(option, "--where") == 0 ? ", nor a number of --set" : "",
             key_hint(name, hint));
    return false;
  }
  ndr_h5_operand *operand = search_add(s, NDR_WITH);
  if (!operand) {
    ndr_h5_close(dataset);
    return false;
  }
  operand->name = name;
  operand->dataset = dataset;
  char **source = &s->b->sources[s->b->count - 1];
  *source = with_source(1, &ndr_h5_describe(dataset)->dataset);
  return (*source || search_fail_memory(s)) && search_open_in_each(s, operand, &access);
}

static bool is_added(const besides *b, const char *name, int length) {
  for (int i = 0; i < b->count; i++)
    if (b->operands[i].name && (int)strlen(b->operands[i].name) == length &&
        strncmp(b->operands[i].name, name, (size_t)length) == 0)
      return true;
  return false;
}

/* ---- --where ----------------------------------------------------------------------------------------------------- */

static bool is_set(const h5gpured_options *options, const char *name, int length) {
  for (int i = 0; i < options->set_count; i++)
    if (is_named(&options->sets[i], name, length)) return true;
  return false;
}

/* A name of --set that is an array's, too, would mean another thing than without --set. */
static bool check_sets(const search *s) {
  const char *rest = s->options->where_given, *name;
  int length;
  while (s->options->condition && (length = expression_name(&rest, &name)) > 0) {
    ndr_h5_dataset *dataset = NULL;
    if (!is_set(s->options, name, length)) continue;
    char *copy = strndup(name, (size_t)length);
    if (!copy) return search_fail_memory(s);
    bool taken = search_find_dim(s, copy) >= 0 || open_named(s, copy, &dataset) == NDR_OK;
    ndr_h5_close(dataset);
    if (taken)
      complain("%s: --where: '%s' is an array of the file, and a number of --set: call the number otherwise", s->where,
               copy);
    free(copy);
    if (taken) return false;
  }
  return true;
}

static bool add_condition(const search *s) {
  const char *rest = s->options->where, *name;
  int length;
  const char *wrong = expression_number_dims(rest, s->info, &s->b->condition);
  if (wrong) complain("%s: --where '%s': %s", s->where, rest, wrong);
  if (wrong || !check_sets(s)) return false;
  while ((length = expression_name(&rest, &name)) > 0) {
    if ((length == 1 && *name == 'x') || is_added(s->b, name, length)) continue;
    char *copy = strndup(name, (size_t)length);
    if (!copy) return search_fail_memory(s);
    int before = s->b->count;
    bool good = add_name(s, copy, "--where");
    if (s->b->count > before)
      s->b->names[before] = copy;
    else
      free(copy);
    if (!good) return false;
  }
  return true;
}

/* Who writes 'mask.nc:/land > 0' looks for --with, and who writes '/land > 0' for land. */
static bool refuse_mask(const search *s) {
  const char *where = s->options->where;
  if (!compares(where)) return search_refuse(s, "--where");
  complain("%s: --where: %s%s", s->where, ndr_last_error(),
           *where == '/' ? "; in a condition datasets of the file have names without '/'" : NAMED_FILES);
  return false;
}

static bool add_mask(const search *s) {
  const ndr_h5_access access = access_for(s, NDR_WHERE);
  if (names_file_alone(s->options->where))
    return refuse_file_alone(s->options, s->info, s->where, "--where", s->options->where, NULL);
  ndr_h5_operand *operand = search_add(s, NDR_WHERE);
  if (!operand) return false;
  if (open_text(s, s->options->where, &access, &operand->dataset) != NDR_OK) return refuse_mask(s);
  return names_file(s->options->where) || *part_of(s->options->where) || search_open_in_each(s, operand, &access);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static bool protect(const search *s, const ndr_h5_writer *writer) {
  if (!writer) return true;
  if (s->b->by.dataset && ndr_h5_writer_protect(writer, s->b->by.dataset) != NDR_OK)
    return search_refuse(s, "--weights");
  for (int i = 0; i < s->b->count; i++)
    if (s->b->operands[i].dataset && ndr_h5_writer_protect(writer, s->b->operands[i].dataset) != NDR_OK)
      return search_refuse(s, s->b->operands[i].role == NDR_WHERE ? "--where" : "--with");
  return true;
}

static bool open_all(const search *s) {
  const h5gpured_options *options = s->options;
  bool condition = options->where && !where_is_dataset(options->where);
  if (options->weights && !weights_read(options, s->dataset, s->where, &s->b->by)) return false;
  if (options->where && !condition && !add_mask(s)) return false;
  for (int i = 0; i < options->array_count; i++)
    if (!add_name(s, options->arrays[i], "--op")) return false;
  return !condition || add_condition(s);
}

bool besides_open(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                  const ndr_h5_writer *writer, besides *b) {
  *b = (besides){.count = 0};
  const search s = {options, dataset, ndr_h5_describe(dataset), where, b};
  if (!open_all(&s)) return false;
  if (b->by.dataset) {
    ndr_h5_operand *operand = search_add(&s, NDR_WEIGHTS);
    if (!operand) return false;
    operand->dataset = b->by.dataset;
    operand->dims = b->by.dims;
  }
  return protect(&s, writer);
}

void besides_close(besides *b) {
  for (int i = 0; i < b->count; i++) {
    if (b->operands[i].dataset != b->by.dataset) ndr_h5_close(b->operands[i].dataset);
    free(b->tensors[i].data);
    free(b->names[i]);
    free(b->sources[i]);
  }
  free(b->condition);
  ndr_h5_groups_destroy(b->groups);
  weights_free(&b->by);
}

bool besides_is_read_by(const besides *b, int i, ndr_op op) {
  const char *name = b->operands[i].name;
  return name && (ndr_operator_reads(op, ndr_operator_array(op, name)) ||
                  (b->condition && ndr_expression_has_name(b->condition, name)));
}

bool besides_tell(const besides *b, ndr_h5_writer *writer) {
  const char *names[MOST_BESIDES], *sources[MOST_BESIDES];
  int count = 0;
  for (int i = 0; i < b->count; i++) {
    if (!b->operands[i].name) continue;
    names[count] = b->operands[i].name;
    sources[count++] = b->sources[i];
  }
  return (ndr_h5_writer_array_sources(writer, count, names, sources) == NDR_OK &&
          ndr_h5_writer_weight_units(writer, b->by.units) == NDR_OK) ||
         fail();
}

void besides_put(const h5gpured_options *options, const besides *b, ndr_h5_options *how) {
  if (options->weights && !b->by.dataset) {
    how->weights = &b->by.tensor;
    how->weight_dims = b->by.dims;
  }
  how->operands = b->pointers;
  how->operand_count = b->count;
  how->where = b->condition;
}
