/* Refuses --where, --with, --weights or --by that names a file alone, and lists the datasets of the file that fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/besides.h"
#include "h5gpured/members.h"

enum { MOST_LIST = 400 };

typedef struct {
  const ndr_h5_info *info; /* of the dataset that is reduced */
  int along;               /* its dim of --concat, of which one file has a part; -1: none */
  char list[MOST_LIST];
  char *first; /* owned; NULL: there is none */
  size_t used;
  int left_out; /* for lack of room */
} search;

bool names_file_alone(const char *text) {
  char *file, *path;
  if (!names_file(text) || ndr_h5_split(text, &file, &path) != NDR_OK) return false;
  bool alone = path_is_file_alone(path);
  free(file);
  free(path);
  return alone;
}

/* Whether dim i of an array is one of the dataset's: by name, or where one of them has none, by size. */
static bool has_dim(const search *s, const ndr_h5_info *array, int i) {
  for (int d = 0; d < s->info->ndim; d++) {
    const char *own = s->info->dim_names[d], *other = array->dim_names[i];
    bool same_size = s->info->shape[d] == array->shape[i], named = own && other;
    if (named ? strcmp(own, other) == 0 && (same_size || d == s->along) : same_size) return true;
  }
  return false;
}

static int list_fitting(void *user, const char *path, const ndr_h5_info *array, const char *reason) {
  search *s = user;
  (void)reason;
  bool fits = array && !array->is_scale && array->ndim > 0;
  for (int i = 0; fits && i < array->ndim; i++) fits = has_dim(s, array, i);
  if (!fits) return 0;
  if (!s->first && !(s->first = strdup(path))) return 1;
  if (s->used + strlen(path) + 3 > sizeof s->list)
    s->left_out++;
  else
    s->used += (size_t)sprintf(s->list + s->used, "%s%s", s->used ? ", " : "", path);
  return 0;
}

bool refuse_file_alone(const h5gpured_options *options, const ndr_h5_info *info, const char *where, const char *option,
                       const char *text, const char *lacking) {
  ndr_h5_access access = input_access(options);
  search s = {.info = info, .along = concat_dim(options, info)};
  char *file, *unused, more[32] = "";
  access.on_remark = NULL;
  if (ndr_h5_split(text, &file, &unused) != NDR_OK) return fail();
  free(unused);
  const char *blank = option[strlen(option) - 1] == '=' ? "" : " ";
  bool listed = ndr_h5_list(file, &access, list_fitting, &s) == NDR_OK || fail();
  const char *fitting = !s.first ? "; none of that file has only dims of this one" : *s.list ? "; these fit: " : "";
  if (s.left_out) snprintf(more, sizeof more, " and %d more", s.left_out);
  if (listed)
    complain("%s: %s%s%s: %s%s%s%sname a dataset%s, as %s:%s%s%s%s", where, option, blank, text, lacking ? file : "",
             lacking ? " has no " : "", lacking ? lacking : "", lacking ? "; " : "", s.first ? " of that file" : "",
             file, s.first ? s.first : "/NAME", fitting, s.list, more);
  free(s.first);
  free(file);
  return false;
}
