/* See cf/variable.h. A piece is the variable in one file; the whole joins the pieces of all files. */
#include "h5/cf/variable.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/values.h"
#include "h5/file/attributes.h"
#include "h5/file/seam.h"

static ndr_status fail_memory(const ndr_h5_dataset *source) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the variables that describe it", source->where);
}

static ndr_status fail_read(const ndr_h5_dataset *source) {
  return ndr_hdf_fail_late(source->where, "a variable that describes it cannot be read");
}

/* ---- In one file ------------------------------------------------------------------------------------------------ */

/* If the name leads nowhere, or not to a dataset, *opened is negative, as if there were nothing. */
static ndr_status open_near(const ndr_h5_dataset *source, const char *name, char path[1024], hid_t *opened) {
  char group[1024] = "";
  ssize_t length = H5Iget_name(source->id, group, sizeof group);
  htri_t exists = 0;
  *opened = H5I_INVALID_HID;
  if (length <= 0) return fail_read(source);
  if (length >= (ssize_t)sizeof group || !*name || strpbrk(name, "/.")) return NDR_OK;
  for (char *slash; exists == 0 && (slash = strrchr(group, '/'));) {
    *slash = 0;
    if (snprintf(path, 1024, "%s/" NDR_HIDDEN_VARIABLE "%s", group, name) < 1024)
      exists = H5Lexists(source->file_id, path, H5P_DEFAULT);
    if (exists == 0 && snprintf(path, 1024, "%s/%s", group, name) < 1024)
      exists = H5Lexists(source->file_id, path, H5P_DEFAULT);
  }
  if (exists > 0) exists = H5Oexists_by_name(source->file_id, path, source->links->access);
  if (exists > 0) exists = ndr_hdf_is_dataset(source->file_id, path, source->links->access);
  if (exists > 0) *opened = H5Dopen2(source->file_id, path, source->links->access);
  return exists < 0 || (exists > 0 && *opened < 0) ? fail_read(source) : NDR_OK;
}

static void close_piece(ndr_h5_dataset *piece) {
  ndr_hdf_forget(piece);
  H5Dclose(piece->id);
  free(piece);
}

/* NULL where there is none. */
static ndr_status open_piece(const ndr_h5_dataset *source, const char *name, ndr_h5_dataset **opened) {
  char path[1024];
  hid_t id;
  *opened = NULL;
  NDR_TRY(open_near(source, name, path, &id));
  if (id < 0) return NDR_OK;
  ndr_h5_dataset *piece = calloc(1, sizeof *piece);
  if (!piece) {
    H5Dclose(id);
    return fail_memory(source);
  }
  *piece = (ndr_h5_dataset){.file = source->file, .file_id = source->file_id, .links = source->links, .id = id};
  piece->raw = true;
  ndr_status status = ndr_hdf_describe(piece, path);
  if (status == NDR_OK || status == NDR_ERR_DTYPE) {
    *opened = piece;
    return NDR_OK;
  }
  close_piece(piece);
  return status == NDR_ERR_MEMORY || status == NDR_ERR_FILE ? status : NDR_OK;
}

static bool same_cut(const ndr_h5_dataset *source, int a, int b) {
  const ndr_seam *x = &source->seam[a], *y = &source->seam[b];
  return source->from[a] == source->from[b] && source->step[a] == source->step[b] &&
         source->turn[a] == source->turn[b] && source->info.shape[a] == source->info.shape[b] && x->at == y->at &&
         x->from == y->from && x->turn == y->turn;
}

/* Cuts dim i of a piece as the source's dim *d is cut: the one that is not reduced and has the same scale; -1 if there
 * is none. False if dim i has no scale, if its dim is reduced, or if two such dims are cut in different ways. */
static bool cut_dim(const ndr_h5_dataset *source, const bool *reduced, ndr_h5_dataset *piece, int i, int *d) {
  bool gone = false;
  *d = -1;
  if (!piece->scales[i]) return false;
  for (int e = 0; e < source->info.ndim; e++) {
    if (!source->scales[e] || strcmp(source->scales[e], piece->scales[i]) != 0) continue;
    if (reduced[e])
      gone = true;
    else if (*d >= 0 && !same_cut(source, *d, e))
      return false;
    else
      *d = e;
  }
  if (*d < 0) return !gone;
  if (piece->extent[i] != source->extent[*d]) return false;
  ndr_seam_copy(piece, i, source, *d);
  return true;
}

/* *along is the dim of the piece that corresponds to the source's dim `series`, or -1. */
static bool cut(const ndr_h5_dataset *source, int series, const bool *reduced, ndr_h5_dataset *piece, int *along) {
  int d;
  *along = -1;
  for (int i = 0; i < piece->info.ndim; i++) {
    if (!cut_dim(source, reduced, piece, i, &d)) return false;
    if (d < 0 || d != series) continue;
    if (*along >= 0) return false;
    *along = i;
  }
  return true;
}

/* ---- In several ------------------------------------------------------------------------------------------------- */

static bool same_shape(const ndr_h5_dataset *a, const ndr_h5_dataset *b, int along) {
  if (a->info.ndim != b->info.ndim || a->info.is_scale != b->info.is_scale) return false;
  for (int i = 0; i < a->info.ndim; i++)
    if (i != along && a->info.shape[i] != b->info.shape[i]) return false;
  return true;
}

/* Whether numbers are in the units of the coordinates that they belong to, as those of bounds without any are. */
static htri_t has_units_of(const ndr_h5_dataset *piece, const ndr_h5_dataset *part) {
  char *units = NULL, *calendar = NULL;
  ndr_time_units own;
  htri_t same = ndr_hdf_get_text(piece->id, "units", &units) && ndr_hdf_get_text(piece->id, "calendar", &calendar);
  if (!same) same = -1;
  if (same > 0 && units && part->timed)
    same = ndr_time_units_parse(units, calendar ? calendar : ndr_calendar_name(part->time.calendar), &own) &&
           own.calendar == part->time.calendar && own.unit == part->time.unit &&
           own.reference.day == part->time.reference.day &&
           own.reference.microsecond == part->time.reference.microsecond;
  free(units);
  free(calendar);
  return same;
}

/* Whether a variable is what the coordinate of a new dim is made of, one number a file. */
static bool is_of_one_member(const ndr_h5_dataset *source, const ndr_h5_dataset *piece) {
  return source->new_dims && source->scales[0] && strcmp(piece->path, source->scales[0]) == 0;
}

static ndr_status add_piece(ndr_cf_variable *c, const ndr_h5_dataset *source, const bool *reduced, int series,
                            const char *name, int *along) {
  ndr_h5_dataset *piece;
  NDR_TRY(open_piece(source, name, &piece));
  c->fits = piece && !is_of_one_member(source, piece) && cut(source, series, reduced, piece, along);
  if (piece) c->pieces[c->count++] = piece;
  return NDR_OK;
}

static ndr_status add_other_pieces(ndr_cf_variable *c, const ndr_h5_dataset *source, const bool *reduced,
                                   const char *name, int along) {
  int64_t size = c->whole.info.shape[along];
  htri_t first = c->converted ? has_units_of(c->pieces[0], source->parts[0]) : 1;
  if (first < 0) return fail_read(source);
  c->pieces[0]->timed = source->parts[0]->timed;
  c->pieces[0]->time = source->parts[0]->time;
  c->fits = first > 0 && !(c->converted && ndr_hdf_is_short(c->pieces[0]));
  for (int p = 1; p < source->part_count && c->fits; p++) {
    int other;
    NDR_TRY(add_piece(c, source->parts[p], reduced, source->series_dim, name, &other));
    if (!c->fits) return NDR_OK;
    htri_t same = other == along && same_shape(c->pieces[0], c->pieces[p], along);
    if (same && c->converted)
      same = has_units_of(c->pieces[p], source->parts[p]);
    else if (same)
      same = ndr_hdf_same_meaning(c->pieces[0]->id, c->pieces[p]->id);
    if (same < 0) return fail_read(source->parts[p]);
    if (c->converted && (c->pieces[p]->elements || ndr_hdf_is_short(c->pieces[p])))
      same = 0; /* fill values are no times */
    c->fits = same > 0 && !__builtin_add_overflow(size, c->pieces[p]->info.shape[along], &size);
    c->pieces[p]->timed = source->parts[p]->timed;
    c->pieces[p]->time = source->parts[p]->time;
  }
  c->whole.part_count = c->count;
  c->whole.parts = c->pieces;
  c->whole.series_dim = along;
  c->whole.axis = source->axis;
  c->whole.axis_part = source->axis_part;
  c->whole.info.shape[along] = size;
  return NDR_OK;
}

ndr_status ndr_cf_variable_open(ndr_cf_variable *v, const ndr_h5_dataset *source, const bool *reduced, const char *name,
                                bool bounds) {
  int along = -1, most = source->part_count ? source->part_count : 1;
  *v = (ndr_cf_variable){.count = 0};
  v->pieces = calloc((size_t)most, sizeof *v->pieces);
  if (!v->pieces) return fail_memory(source);
  NDR_TRY(add_piece(v, source->part_count ? source->parts[0] : source, reduced,
                    source->part_count ? source->series_dim : -1, name, &along));
  if (!v->pieces[0]) return NDR_OK;
  v->whole = *v->pieces[0];
  const ndr_h5_dataset *first = v->pieces[0];
  bool turned = first->info.ndim > 0 && (first->turn[0] != 0 || ndr_has_seam(first, 0)), inside = along > 0;
  v->converted = bounds && (turned || (along >= 0 && source->axis == NDR_AXIS_CONVERTED));
  for (int d = 1; d < first->info.ndim; d++) inside |= ndr_has_seam(first, d);
  if (v->converted && (inside || first->elements)) v->fits = false; /* which are no numbers */
  return v->fits && along >= 0 ? add_other_pieces(v, source, reduced, name, along) : NDR_OK;
}

void ndr_cf_variable_close(ndr_cf_variable *v) {
  for (int i = 0; i < v->count; i++) close_piece(v->pieces[i]);
  free(v->pieces);
  *v = (ndr_cf_variable){.count = 0};
}

/* ---- What it holds ---------------------------------------------------------------------------------------------- */

int64_t ndr_cf_variable_bytes(const ndr_cf_variable *v, int64_t most) {
  hid_t type = H5Dget_type(v->whole.id);
  H5T_class_t kind = H5Tget_class(type);
  htri_t variable = kind == H5T_STRING ? H5Tis_variable_str(type) : 0;
  int64_t bytes = (int64_t)H5Tget_size(type), texts = 0;
  bool known = kind != H5T_NO_CLASS && variable >= 0 && bytes > 0;
  bool plain = kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_STRING;
  for (int d = 0; d < v->whole.info.ndim; d++)
    if (v->whole.info.shape[d] < 0 || __builtin_mul_overflow(bytes, v->whole.info.shape[d], &bytes)) bytes = most + 1;
  for (int i = 0; i < v->count && known && variable > 0 && bytes <= most && texts >= 0 && texts <= most; i++) {
    int64_t more = ndr_hdf_text_bytes(v->pieces[i]->id, type);
    texts = more < 0 ? -1 : more > most ? most + 1 : texts + more;
  }
  if (type >= 0) H5Tclose(type);
  if (!known || texts < 0) return -1;
  return plain && bytes <= most && texts <= most - bytes ? bytes + texts : most + 1;
}

/* Reads one side of a piece, which begins at at[] of the whole, into the selection of `to`. */
static bool read_side(const ndr_h5_dataset *piece, const ndr_side *side, const int64_t *at, hid_t to, hid_t type,
                      void *data) {
  int ndim = piece->info.ndim;
  int64_t shape[NDR_MAX_DIMS], place[NDR_MAX_DIMS];
  for (int d = 0; d < ndim; d++) {
    place[d] = at[d] + side->begin[d];
    shape[d] = ndr_hdf_present(piece, d, side->from[d], side->size[d]);
    if (shape[d] == 0) return true;
  }
  hid_t from = H5Dget_space(piece->id);
  bool good = ndr_hdf_select(from, ndim, side->from, piece->step, shape) &&
              ndr_hdf_select(to, ndim, place, NULL, shape) &&
              H5Dread(piece->id, type, to, from, H5P_DEFAULT, data) >= 0;
  if (from >= 0) H5Sclose(from);
  return good;
}

static bool read_piece(const ndr_h5_dataset *piece, const int64_t *at, hid_t to, hid_t type, void *data) {
  static const int64_t begin[NDR_MAX_DIMS];
  const int count = ndr_seam_sides(piece, begin, piece->info.shape);
  bool good = true;
  for (int i = 0; i < count && good; i++) {
    const ndr_side side = ndr_seam_side(piece, begin, piece->info.shape, i);
    good = read_side(piece, &side, at, to, type, data);
  }
  return good;
}

/* Elements that no file has are fill values; texts of variable length, none. */
static bool fill_whole(const ndr_cf_variable *c, hid_t type, void *data) {
  bool is_short = false;
  size_t count = 1, bytes = H5Tget_size(type);
  for (int i = 0; i < c->count; i++) is_short = is_short || ndr_hdf_is_short(c->pieces[i]);
  if (!is_short || H5Tget_class(type) == H5T_STRING) return true;
  hid_t creation = H5Dget_create_plist(c->whole.id);
  char *element = bytes > 0 ? ndr_hdf_noted(malloc(bytes)) : NULL;
  bool good = element && H5Pget_fill_value(creation, type, element) >= 0;
  for (int d = 0; d < c->whole.info.ndim; d++) count *= (size_t)c->whole.info.shape[d];
  for (size_t i = 0; i < count && good; i++) memcpy((char *)data + i * bytes, element, bytes);
  free(element);
  if (creation >= 0) H5Pclose(creation);
  return good;
}

/* Reads the values of a piece along one run of its first dim; *count becomes how many they are. */
static bool read_values(const ndr_cf_variable *v, const ndr_h5_dataset *piece, const ndr_run *run, double *values,
                        int64_t *count) {
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS];
  *count = 1;
  for (int d = 0; d < piece->info.ndim; d++) {
    begin[d] = d ? piece->from[d] : run->from;
    size[d] = d ? piece->info.shape[d] : run->count;
    *count *= size[d];
  }
  if (*count == 0) return true;
  hid_t from = H5Dget_space(piece->id);
  bool good = ndr_hdf_select(from, piece->info.ndim, begin, piece->step, size) &&
              ndr_values_read(piece->id, false, from, *count, values, NULL);
  if (from >= 0) H5Sclose(from);
  for (int64_t i = 0; i < *count && good && piece->timed; i++)
    values[i] = ndr_time_convert(&piece->time, &v->pieces[v->whole.axis_part]->time, values[i]);
  for (int64_t i = 0; i < *count && good && v->converted; i++) values[i] += run->turn;
  return good;
}

bool ndr_cf_variable_read_values(const ndr_cf_variable *v, double *values) {
  for (int p = 0; p < v->count; p++) {
    const ndr_h5_dataset *piece = v->pieces[p];
    ndr_run runs[2] = {{.count = 1}}; /* of a single number */
    const int parts = piece->info.ndim ? ndr_seam_runs(piece, 0, 0, piece->info.shape[0], runs) : 1;
    for (int r = 0; r < parts; r++) {
      int64_t count;
      if (!read_values(v, piece, &runs[r], values, &count)) return false;
      values += count;
    }
  }
  return true;
}

bool ndr_cf_variable_read(const ndr_cf_variable *v, hid_t type, void *data) {
  int64_t at[NDR_MAX_DIMS] = {0};
  hsize_t size[NDR_MAX_DIMS];
  int along = v->whole.series_dim;
  for (int d = 0; d < v->whole.info.ndim; d++) size[d] = (hsize_t)v->whole.info.shape[d];
  hid_t to = H5Screate_simple(v->whole.info.ndim, size, NULL);
  bool good = to >= 0 && fill_whole(v, type, data);
  for (int i = 0; i < v->count && good; i++) {
    good = read_piece(v->pieces[i], at, to, type, data);
    at[along] += v->pieces[i]->info.shape[along];
  }
  if (to >= 0) H5Sclose(to);
  return good;
}

char *ndr_cf_variable_origin(const ndr_cf_variable *v) {
  const ndr_h5_dataset *whole = &v->whole, *last = v->pieces[v->count - 1];
  size_t capacity = strlen(whole->where) + strlen(last->file) + 32 + 128 * NDR_MAX_DIMS;
  char *text = malloc(capacity);
  if (!text) return NULL;
  size_t length = (size_t)snprintf(text, capacity, "%s in %d to %s", whole->where, v->count, last->file);
  for (int d = 0; d < whole->info.ndim; d++)
    length +=
        (size_t)snprintf(text + length, capacity - length, " %lld by %lld %lld at %.17g", (long long)whole->from[d],
                         (long long)whole->step[d], (long long)whole->info.shape[d], whole->turn[d]);
  return text;
}
