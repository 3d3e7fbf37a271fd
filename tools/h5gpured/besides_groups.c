/* Arrays of --with that have one step for each group of times: the groups, and which arrays these are. The library
 * pairs them. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/search.h"

/* Sets *d to the one dim of the text DIM:KEY, in which `key` is where KEY begins. */
static bool find_grouped(const search *s, const char *text, const char *key, int *d) {
  char dim[DIM_CHARS];
  int dims[NDR_MAX_DIMS], count;
  snprintf(dim, sizeof dim, "%.*s", (int)(key - 1 - text), text);
  if (ndr_h5_dims_parse(dim, s->info->ndim, s->info->dim_names, &count, dims) != NDR_OK)
    return search_refuse(s, "--pair-by");
  *d = dims[0];
  if (count != 1) complain("%s: --pair-by: %s are several dims, must be one", s->where, dim);
  return count == 1;
}

bool search_make_groups(const search *s) {
  const h5gpured_options *options = s->options;
  bool timed = options->by && !where_is_dataset(options->by_what);
  const char *text = options->pair_by ? options->pair_by : timed ? options->by : NULL;
  int d = 0;
  if (!text || s->b->groups) return true;
  const char *key = strchr(text, ':') + 1;
  if (!find_grouped(s, text, key, &d)) return false;
  if (ndr_h5_groups_by_time(&s->b->groups, s->dataset, d, key) == NDR_OK) return true;
  complain("--pair-by: %s", ndr_last_error());
  return false;
}

/* Whether each step of the array along dim d is of another group, by the key of these. */
static bool has_distinct_groups(const ndr_h5_groups *groups, const ndr_h5_dataset *array, int d) {
  ndr_h5_groups *own = NULL;
  const char *key = strrchr(ndr_h5_groups_text(groups), ':') + 1;
  bool are = ndr_h5_groups_by_time(&own, array, d, key) == NDR_OK &&
             ndr_h5_groups_count(own) == ndr_h5_describe(array)->shape[d];
  ndr_h5_groups_destroy(own);
  return are;
}

bool search_is_of_groups(const search *s, const ndr_h5_dataset *array) {
  const ndr_h5_groups *groups = s->b->groups;
  const ndr_h5_info *info = ndr_h5_describe(array);
  bool is = false;
  for (int d = 0; d < info->ndim && groups && !is; d++) {
    const char *name = info->dim_names[d], *own = ndr_h5_groups_dim_name(groups);
    if (!name || info->shape[d] == 1) continue; /* one step is repeated */
    is = strcmp(name, strrchr(ndr_h5_groups_text(groups), ':') + 1) == 0 ||
         (own && strcmp(name, own) == 0 && has_distinct_groups(groups, array, d));
  }
  return is;
}

bool names_groups(const char *name) {
  static const char *const keys[] = {"month", "season", "year", "day", "dayofyear", "hour"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(name, keys[i]) == 0) return true;
  return false;
}

bool fail_weights_of_groups(const h5gpured_options *options, const char *error) {
  complain(
      "%s; an operator of one's own pairs groups, such as months: --op 'm(x, w): s += w * f64(x), a += w -> s / a' "
      "--with w=%s --pair-by DIM:KEY",
      error, options->weights);
  return false;
}

bool besides_fail(const h5gpured_options *options, const besides *b, int needs_groups) {
  static const char how[] = "--pair-by DIM:KEY pairs groups, such as months";
  const char *error = ndr_last_error();
  if (needs_groups < 0) return fail();
  switch (b->operands[needs_groups].role) {
  case NDR_WEIGHTS: return fail_weights_of_groups(options, error);
  case NDR_WHERE: complain("%s; --where m --with m=%s %s", error, options->where, how); return false;
  default: complain("%s; %s", error, how); return false;
  }
}

bool search_note_groups(const search *s, int i) {
  besides *b = s->b;
  const char *text = ndr_h5_groups_text(b->groups);
  char *source = malloc(strlen(b->sources[i]) + strlen(text) + sizeof " by ");
  if (!source) return search_fail_memory(s);
  sprintf(source, "%s by %s", b->sources[i], text);
  free(b->sources[i]);
  b->sources[i] = source;
  b->grouped[i] = true;
  return true;
}
