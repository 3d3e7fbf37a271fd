/* Finds the variables that are the same in all files of --concat new:NAME. One without times, such as the area of cells
 * or a mask of the land, is no field of an ensemble: it is copied and not reduced over the members. */
#include <stdlib.h>

#include "h5gpured/members.h"

enum { SHOWN = 5 };

/* A larger variable counts as a field, so that it is not read twice. */
static const int64_t most_bytes = INT64_C(256) << 20;

bool member_compare(const members *m, const member *one, const ndr_h5_dataset *first, const ndr_h5_access *access,
                    ndr_status *status, int *same) {
  ndr_h5_dataset *other;
  *status = NDR_OK;
  *same = 1;
  for (int i = 1; i < m->options->input_count && *same; i++) {
    if (!member_try_to_open_in(m, i, one, access, &other, status)) return false;
    if (*status != NDR_OK) return true;
    *status = ndr_h5_same(first, other, same);
    ndr_h5_close(other);
    if (*status != NDR_OK) return true;
  }
  return true;
}

static bool is_small(const ndr_h5_info *info) {
  int64_t bytes = (int64_t)ndr_dtype_bytes(info->stored_dtype);
  for (int d = 0; d < info->ndim; d++)
    if (__builtin_mul_overflow(bytes, info->shape[d], &bytes)) return false;
  return bytes <= most_bytes;
}

/* Fails where that cannot be told. */
static ndr_status find_times(const ndr_h5_dataset *dataset, bool *has_times) {
  ndr_status status = NDR_ERR_DIMS;
  for (int d = 0; d < ndr_h5_describe(dataset)->ndim && status == NDR_ERR_DIMS; d++)
    status = ndr_h5_dates(dataset, d, 0, NULL, NULL);
  *has_times = status == NDR_OK;
  return status == NDR_ERR_DIMS ? NDR_OK : status;
}

/* Whether to do without a comparison that has failed: a file of results must not depend on whether a read fails once.
 */
static bool goes_on(const members *m, ndr_status status) {
  return (status != NDR_ERR_MEMORY && !(status == NDR_ERR_FILE && members_are_copied(m))) || fail();
}

/* Sets one->equal. The same elements at other coordinates, as of a file from north to south, are not the same. What
 * cannot be read is left to its reduction, which will say so. After a complaint false. */
static bool find_equal(const members *m, member *one) {
  ndr_h5_access access = input_access(m->options);
  ndr_h5_dataset *first;
  ndr_status status = NDR_OK;
  int same = 0;
  access.on_remark = NULL;
  access.raw = 0; /* times are known by their units */
  if (one->reason) return true;
  if (!member_try_to_open_in(m, 0, one, &access, &first, &status)) return false;
  if (status != NDR_OK) return goes_on(m, status);
  access.raw = 1; /* in another file, an attribute that is wrong is a difference and no error */
  bool good = true, has_times = false, small = is_small(ndr_h5_describe(first));
  if (small) status = find_times(first, &has_times);
  if (small && status == NDR_OK && !has_times) good = member_compare(m, one, first, &access, &status, &same);
  bool has_places = ndr_h5_describe(first)->ndim > 0;
  ndr_h5_close(first);
  if (good && status == NDR_OK && same && has_places) good = member_try_to_join(m, one, &access, &status);
  one->equal = good && status == NDR_OK && same;
  return good && goes_on(m, status);
}

/* Where results are printed, names what is left out: nothing is copied. */
static void tell(const members *m) {
  char list[DIM_CHARS] = "";
  int count = 0;
  size_t used = 0;
  if (m->options->quiet || members_are_copied(m)) return;
  for (int i = 0; i < m->count; i++)
    if (m->all[i].equal && count++ < SHOWN && used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", m->all[i].path);
  if (count)
    complain("%s: left out what is the same in all files, and has no times: %s%s; named, as FILE:/NAME, it is reduced",
             m->file, list, count > SHOWN ? ", ..." : "");
}

/* Drops the equal ones from those that are chosen. */
static void drop_equal(members *m) {
  int kept = 0;
  for (int c = 0; c < m->chosen_count; c++) {
    member *one = &m->all[m->chosen[c]];
    if (one->equal)
      one->chosen = one->joined = false;
    else
      m->chosen[kept++] = m->chosen[c];
  }
  m->chosen_count = kept;
}

bool members_set_aside(members *m) {
  bool varies = false;
  if (m->path || !concat_new_dim(m->options)) return true;
  for (int c = 0; c < m->chosen_count; c++) {
    member *one = &m->all[m->chosen[c]];
    if (!one->has_some && !find_equal(m, one)) return false;
    varies |= !one->equal;
  }
  for (int c = 0; c < m->chosen_count && !varies; c++) m->all[m->chosen[c]].equal = false;
  if (!varies) return true;
  drop_equal(m);
  tell(m);
  return true;
}
