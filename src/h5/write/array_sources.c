/* See array_sources.h. */
#include "h5/write/array_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operator_text.h"
#include "ndreduce/h5_reduce.h"

void ndr_array_sources_free(ndr_array_sources *all) {
  for (int i = 0; all->arrays && i < all->count; i++) {
    free(all->arrays[i].name);
    free(all->arrays[i].source);
  }
  free(all->arrays);
  *all = (ndr_array_sources){.count = 0};
}

bool ndr_array_sources_set(ndr_array_sources *all, int count, const char *const *names, const char *const *sources) {
  ndr_array_sources_free(all);
  all->arrays = calloc((size_t)count + 1, sizeof *all->arrays);
  bool good = all->arrays != NULL;
  for (int i = 0; i < count && good; i++) {
    struct ndr_array_source *array = &all->arrays[all->count++];
    array->name = strdup(names[i]);
    array->source = strdup(sources[i]);
    good = array->name && array->source;
  }
  if (!good) ndr_array_sources_free(all);
  return good;
}

bool ndr_array_sources_text(const ndr_array_sources *all, ndr_op op, const char *where, char **text) {
  size_t length;
  bool condition = where && all->count && ndr_h5_condition_check(where) == NDR_OK;
  *text = NULL;
  FILE *to = NULL;
  for (int i = 0; i < all->count; i++) {
    const char *name = all->arrays[i].name;
    if (!ndr_operator_reads(op, ndr_operator_array(op, name)) && !(condition && ndr_expression_has_name(where, name)))
      continue;
    if (!to && !(to = open_memstream(text, &length))) return false;
    fprintf(to, "%s%s: %s", ftell(to) > 0 ? "; " : "", name, all->arrays[i].source);
  }
  if (!to || fclose(to) == 0) return true;
  free(*text);
  *text = NULL;
  return false;
}
