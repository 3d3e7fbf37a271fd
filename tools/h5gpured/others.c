/* The other variables of a file that is reduced as a whole: those that have none of the reduced dims are copied, as CDO
 * and NCO do. What only describes results has come with them. */
#include <stdlib.h>
#include <string.h>

#include "h5gpured/members.h"
#include "h5gpured/output.h"

enum { SHOWN = 3 };

/* Variables that are left out, for one reason. */
typedef struct {
  const char *reason;
  int count;
  const char *shown[SHOWN];
} left_out;

typedef struct {
  const members *m;
  const destination *to;
  left_out partial, no_numbers, strange, unequal;
} search;

static bool leave(left_out *list, const member *one) {
  if (list->count < SHOWN) list->shown[list->count] = one->path;
  list->count++;
  return true;
}

static void tell(const search *s, const left_out *list, const char *more) {
  const char *const *p = list->shown;
  char rest[32] = "";
  int count = list->count;
  if (count == 0 || s->m->options->quiet) return;
  if (count > SHOWN) snprintf(rest, sizeof rest, " and %d more", count - SHOWN);
  complain("%s: left out %s%s: %s%s%s%s%s%s", s->m->file, list->reason, more, p[0], count > 1 ? ", " : "",
           count > 1 ? p[1] : "", count > 2 ? ", " : "", count > 2 ? p[2] : "", rest);
}

/* As stored, but for files that follow each other, whose coordinates are converted. */
static ndr_h5_access access_of(const search *s) {
  ndr_h5_access access = input_access(s->m->options);
  access.any_type = 1;
  access.structure = NULL; /* see members_leave_ranks */
  access.raw = !s->m->options->concat || concat_new_dim(s->m->options);
  return access;
}

static bool write_copy(search *s, const member *one, const ndr_h5_dataset *dataset) {
  const char *name;
  const h5gpured_options *options = s->m->options;
  ndr_status status = NDR_OK;
  int same = 1;
  const ndr_h5_access access = access_of(s);
  bool compares = concat_new_dim(options) && !one->equal;
  if (compares && !member_compare(s->m, one, dataset, &access, &status, &same)) return false;
  if (status == NDR_OK && !same) return leave(&s->unequal, one);
  if (status == NDR_OK) status = ndr_h5_writer_copy(s->to->writer, dataset, &name);
  if (status == NDR_ERR_DTYPE) return leave(&s->strange, one);
  if (status == NDR_ERR_MEMORY) complain("%s; 'FILE:/**' copies no other variables", ndr_last_error());
  if (status != NDR_OK) return status != NDR_ERR_MEMORY && fail();
  if (!name && one->equal) name = one->path + 1; /* the writer has copied it already, with a result that it describes */
  if (!name) return true;
  print_copied(options, ndr_h5_describe(dataset), name, s->to->said);
  if (options->json) print_copied_json(options, ndr_h5_describe(dataset), one->joined, stdout);
  return true;
}

/* Numbers that only describe others come with the results, if they are the same in all stacked files. */
static bool is_left_to_results(const search *s, const member *one) {
  return concat_new_dim(s->m->options) && one->kind == MEMBER_NUMBERS && !one->data;
}

static bool copy_other(search *s, const member *one) {
  const ndr_h5_access access = access_of(s);
  ndr_h5_dataset *dataset;
  if (is_left_to_results(s, one) || one->same_as >= 0) return true;
  if (one->kind == MEMBER_UNKNOWN) return leave(&s->strange, one);
  if (!member_is_sound(s->m, one)) return false;
  if (one->scale) return true;
  if (one->has_some && one->kind == MEMBER_OTHERS) return leave(&s->no_numbers, one);
  if (one->has_some) return !one->data || leave(&s->partial, one);
  /* Bounds that one file lacks go without a word; texts are told. */
  if (one->absent) return (one->joined && one->kind == MEMBER_NUMBERS) || leave(&s->unequal, one);
  if (!member_open(s->m, one, &access, &dataset)) return false;
  bool good = write_copy(s, one, dataset);
  ndr_h5_close(dataset);
  return good;
}

static bool is_chosen(const members *m, int i) {
  for (int c = 0; c < m->chosen_count; c++)
    if (m->chosen[c] == i) return true;
  return false;
}

bool others_copy(const members *m, const destination *to) {
  search s = {m,
              to,
              {.reason = "what has only some of the dims "},
              {.reason = "what has the dims and no numbers"},
              {.reason = "what cannot be copied"},
              {.reason = "what is not in all files, or not the same in them"}};
  bool good = true;
  for (int i = 0; i < m->count && good; i++) {
    complaints_begin(m->all[i].path);
    good = is_chosen(m, i) || copy_other(&s, &m->all[i]);
  }
  complaints_begin(NULL);
  char *dims = members_dims(m->options);
  if (good && !dims) good = members_refuse(m, "out of memory");
  if (good) tell(&s, &s.partial, dims);
  free(dims);
  if (!good) return false;
  tell(&s, &s.no_numbers, "");
  tell(&s, &s.strange, "");
  tell(&s, &s.unequal, "");
  return true;
}
