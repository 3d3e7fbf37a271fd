#include <stdlib.h>
#include <string.h>

#include "h5/dataset.h"

typedef struct {
  ndr_h5_dataset *dataset; /* each dataset in turn is described in it */
  ndr_h5_visitor visit;
  void *user;
  bool full; /* there was no memory to describe one */
} listing;

/* A reason is the sentence without the "FILE:/PATH: " that it starts with. */
static const char *reason_of(const ndr_h5_dataset *dataset) {
  const char *sentence = ndr_last_error();
  size_t prefix = dataset->where ? strlen(dataset->where) : 0;
  bool same = prefix > 0 && strncmp(sentence, dataset->where, prefix) == 0 && strlen(sentence) > prefix + 2;
  return same ? sentence + prefix + 2 : sentence;
}

static int list_entry(void *user, const char *path, bool is_dataset) {
  listing *l = user;
  if (!is_dataset) return 0;
  l->dataset->id = H5Dopen2(l->dataset->file_id, path, l->dataset->links->access);
  if (l->dataset->id < 0) return l->visit(l->user, path, NULL, "cannot be opened");
  ndr_status status = ndr_hdf_describe(l->dataset, path);
  l->full = status == NDR_ERR_MEMORY;
  int stop = l->full            ? -1
             : status == NDR_OK ? l->visit(l->user, path, &l->dataset->info, NULL)
                                : l->visit(l->user, path, NULL, reason_of(l->dataset));
  H5Dclose(l->dataset->id);
  l->dataset->id = H5I_INVALID_HID;
  ndr_hdf_forget(l->dataset);
  return stop;
}

ndr_status ndr_hdf_list(ndr_h5_dataset *dataset, ndr_h5_visitor visit, void *user) {
  listing l = {dataset, visit, user, false};
  if (ndr_hdf_visit(dataset->file_id, list_entry, &l) >= 0) return NDR_OK;
  if (l.full) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->file);
  return ndr_hdf_fail(NDR_ERR_FILE, dataset->file, "its datasets cannot be listed");
}

/* ---- The dataset that is meant when none is named --------------------------------------------------------------- */

#define SHOWN 8

typedef struct {
  bool scales;        /* whether dimension scales count */
  int ndim, count;    /* the largest rank so far and how many have it */
  char *paths[SHOWN]; /* the first of these */
  int refused;        /* datasets that cannot be reduced, and the first one's reason */
  char reason[400];
} search;

static void forget_paths(search *s) {
  for (int i = 0; i < SHOWN; i++) free(s->paths[i]);
  memset(s->paths, 0, sizeof s->paths);
  s->count = 0;
}

static int keep_candidate(void *user, const char *path, const ndr_h5_info *info, const char *reason) {
  search *s = user;
  if (!info && s->refused++ == 0) snprintf(s->reason, sizeof s->reason, "%s %s", path, reason);
  if (!info || (info->is_scale && !s->scales) || info->ndim < s->ndim) return 0;
  if (info->ndim > s->ndim) forget_paths(s);
  s->ndim = info->ndim;
  if (s->count++ < SHOWN) s->paths[s->count - 1] = strdup(path);
  return 0;
}

static ndr_status fail_ambiguous(const search *s, const char *file) {
  char list[400] = "";
  size_t used = 0;
  for (int i = 0; i < SHOWN && i < s->count && s->paths[i] && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", s->paths[i]);
  if (s->count > SHOWN && used < sizeof list)
    snprintf(list + used, sizeof list - used, " and %d more", s->count - SHOWN);
  return ndr_fail(NDR_ERR_FILE, "%s: which dataset? %d have %d dims: %s", file, s->count, s->ndim, list);
}

ndr_status ndr_hdf_find_largest(ndr_h5_dataset *dataset, char **path) {
  search s = {.ndim = -1};
  *path = NULL;
  ndr_status status = ndr_hdf_list(dataset, keep_candidate, &s);
  if (status == NDR_OK && s.count == 0) {
    s.scales = true;
    status = ndr_hdf_list(dataset, keep_candidate, &s);
  }
  if (status == NDR_OK && s.count == 0)
    status = ndr_fail(NDR_ERR_FILE, "%s: has no dataset that can be reduced%s%s", dataset->file, s.refused ? ": " : "",
                      s.reason);
  if (status == NDR_OK && s.count > 1) status = fail_ambiguous(&s, dataset->file);
  if (status == NDR_OK) {
    *path = s.paths[0];
    s.paths[0] = NULL;
    if (!*path) status = ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->file);
  }
  forget_paths(&s);
  return status;
}
