/* See coordinates.h. Units are converted for a series alone; what they mean otherwise is in cf/series_axis.c. */
#include "h5/cf/coordinates.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/values.h"
#include "h5/file/attributes.h"
#include "h5/file/netcdf.h"
#include "h5/file/seam.h"

#define MOST_TEXT ((int64_t)64 << 20)

/* The next four functions return 1, 0, or a negative number if the file cannot be read. A scale without elements counts
 * as written: a file without records already says what its time will be. */
static htri_t is_written(const ndr_h5_dataset *dataset, hid_t scale, int64_t length) {
  hid_t creation = H5Dget_create_plist(scale);
  int external = H5Pget_external_count(creation);
  H5D_layout_t layout = H5Pget_layout(creation);
  hsize_t bytes;
  if (creation >= 0) H5Pclose(creation);
  if (external < 0 || layout == H5D_LAYOUT_ERROR) return -1;
  if (external > 0 || layout == H5D_VIRTUAL) return ndr_links_check(dataset->links, scale) == NDR_OK;
  return ndr_hdf_storage_bytes(scale, &bytes) ? bytes > 0 || length == 0 : -1;
}

/* Texts are read whole, which a file may make as long as it likes. */
static htri_t is_short(hid_t scale, hid_t type) {
  htri_t variable = H5Tis_variable_str(type);
  if (variable <= 0) return variable < 0 ? -1 : 1;
  int64_t bytes = ndr_hdf_text_bytes(scale, type);
  return bytes < 0 ? -1 : bytes <= MOST_TEXT;
}

/* No number has more, whatever a damaged file claims: HDF5 would take as much memory for each coordinate. */
enum { MOST_NUMBER_BYTES = 64 };

/* That of a new dim is a single number. */
static htri_t holds_elements(hid_t scale, int64_t length, int dims, bool texts) {
  hid_t type = H5Dget_type(scale), space = H5Dget_space(scale);
  H5T_class_t kind = H5Tget_class(type);
  int ndim = H5Sget_simple_extent_ndims(space);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  htri_t holds = kind == H5T_INTEGER || kind == H5T_FLOAT || (texts && kind == H5T_STRING);
  bool huge = kind != H5T_STRING && type >= 0 && H5Tget_size(type) > MOST_NUMBER_BYTES;
  if (kind == H5T_NO_CLASS || ndim < 0 || count < 0 || (holds > 0 && huge)) holds = -1;
  if (holds > 0) holds = ndim == dims && count == length;
  if (holds > 0 && kind == H5T_STRING) holds = is_short(scale, type);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return holds;
}

static int scale_dims(const ndr_h5_dataset *dataset, int d) {
  return d < dataset->new_dims ? 0 : 1;
}

static htri_t is_useful(const ndr_h5_dataset *dataset, int d, bool texts, hid_t scale) {
  if (scale < 0) return -1;
  htri_t bare = ndr_netcdf_is_bare(scale);
  if (bare != 0) return bare < 0 ? -1 : 0;
  htri_t written = is_written(dataset, scale, dataset->extent[d]);
  return written > 0 ? holds_elements(scale, dataset->extent[d], scale_dims(dataset, d), texts) : written;
}

ndr_status ndr_hdf_fail_coordinates(const ndr_h5_dataset *dataset) {
  return ndr_hdf_fail_late(dataset->where, "the coordinates of a dim cannot be read");
}

ndr_status ndr_hdf_open_scale(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale) {
  *scale = H5I_INVALID_HID;
  if (!dataset->scales[d]) return NDR_OK;
  hid_t opened = H5Dopen2(dataset->file_id, dataset->scales[d], dataset->links->access);
  htri_t useful = is_useful(dataset, d, texts, opened);
  if (useful > 0)
    *scale = opened;
  else if (opened >= 0)
    H5Dclose(opened);
  return useful < 0 ? ndr_hdf_fail_coordinates(dataset) : NDR_OK;
}

/* The datasets whose coordinates follow each other along dim d. */
static int find_parts(const ndr_h5_dataset *dataset, int d, const ndr_h5_dataset *const **parts,
                      const ndr_h5_dataset *const *self) {
  bool series = dataset->part_count > 0 && d == dataset->series_dim;
  *parts = series ? (const ndr_h5_dataset *const *)dataset->parts : self;
  return series ? dataset->part_count : 1;
}

ndr_status ndr_hdf_open_coordinates(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale) {
  const ndr_h5_dataset *const *parts;
  int count = find_parts(dataset, d, &parts, &dataset), described = parts == &dataset ? 0 : dataset->axis_part;
  *scale = H5I_INVALID_HID;
  if (parts != &dataset && dataset->axis == NDR_AXIS_NONE) return NDR_OK;
  return ndr_hdf_open_scale(parts[described], d, texts && count == 1, scale);
}

bool ndr_hdf_is_converted(const ndr_h5_dataset *dataset, int d) {
  bool series = dataset->part_count > 0 && d == dataset->series_dim;
  return series ? dataset->axis == NDR_AXIS_CONVERTED : dataset->turn[d] != 0 || ndr_has_seam(dataset, d);
}

/* The scale of a part and its elements that are selected; false where there is none, or it cannot be read. */
static bool open_selected(const ndr_h5_dataset *part, int d, const ndr_run *run, bool texts, hid_t *scale,
                          hid_t *space) {
  *space = H5I_INVALID_HID;
  if (ndr_hdf_open_scale(part, d, texts, scale) != NDR_OK || *scale < 0) return false;
  *space = H5Dget_space(*scale);
  return ndr_hdf_select(*space, scale_dims(part, d), &run->from, &part->step[d], &run->count);
}

static void close_selected(hid_t scale, hid_t space) {
  if (space >= 0) H5Sclose(space);
  if (scale >= 0) H5Dclose(scale);
}

/* The part has no seam: coordinates of one with a seam are converted, and read as values. */
static bool read_part(const ndr_h5_dataset *part, int d, hid_t type, void *data) {
  hsize_t count = (hsize_t)part->info.shape[d];
  const ndr_run run = {0, part->info.shape[d], part->from[d], 0};
  hid_t scale, from;
  if (count == 0) return true;
  bool good = open_selected(part, d, &run, H5Tget_class(type) == H5T_STRING, &scale, &from);
  hid_t to = good ? H5Screate_simple(1, &count, NULL) : H5I_INVALID_HID;
  good = to >= 0 && H5Dread(scale, type, to, from, H5P_DEFAULT, data) >= 0;
  if (to >= 0) H5Sclose(to);
  close_selected(scale, from);
  return good;
}

bool ndr_hdf_read_coordinates(const ndr_h5_dataset *dataset, int d, hid_t type, void *data) {
  const ndr_h5_dataset *const *parts;
  int count = find_parts(dataset, d, &parts, &dataset);
  char *at = data;
  size_t bytes = H5Tget_size(type);
  if (bytes == 0) return false;
  for (int i = 0; i < count; i++) {
    if (!read_part(parts[i], d, type, at)) return false;
    at += (size_t)parts[i]->info.shape[d] * bytes;
  }
  return true;
}

/* ---- Values that are kept ---------------------------------------------------------------------------------------- */

void ndr_hdf_keep_coordinates(ndr_h5_dataset *part, int d) {
  if (!part->kept) part->kept = calloc(1, sizeof *part->kept);
  if (!part->kept || (part->kept->of == part && part->kept->d == d)) return;
  free(part->kept->values);
  *part->kept = (ndr_kept_values){.of = part, .d = d};
}

void ndr_hdf_forget_coordinates(ndr_h5_dataset *part) {
  if (part->kept) free(part->kept->values);
  free(part->kept);
  part->kept = NULL;
}

static ndr_kept_values *find_kept(const ndr_h5_dataset *part, int d, bool raw) {
  bool keeps = part->kept && part->kept->of == part && part->kept->d == d;
  return keeps && !raw && !ndr_has_seam(part, d) ? part->kept : NULL;
}

/* Those of the part, which may be smaller than when they were read. */
static bool take_kept(const ndr_kept_values *kept, const ndr_h5_dataset *part, double *values) {
  int64_t first = part->from[kept->d] - kept->from, step = part->step[kept->d], count = part->info.shape[kept->d];
  bool same = first == 0 && step == kept->step && count == kept->count;
  bool within = kept->step == 1 && first >= 0 && first + (count - 1) * step < kept->count;
  if (!kept->values || !(same || within)) return false;
  for (int64_t i = 0; i < count; i++) values[i] = kept->values[same ? i : first + i * step];
  return true;
}

static void keep(ndr_kept_values *kept, const ndr_h5_dataset *part, const double *values) {
  size_t bytes = (size_t)part->info.shape[kept->d] * sizeof *values;
  double *copy = malloc(bytes);
  if (!copy) return; /* then they are read again */
  free(kept->values);
  kept->values = memcpy(copy, values, bytes);
  kept->from = part->from[kept->d];
  kept->step = part->step[kept->d];
  kept->count = part->info.shape[kept->d];
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static ndr_status read_run(const ndr_h5_dataset *part, int d, const ndr_run *run, bool raw, double *values) {
  hid_t scale, space;
  ndr_misfit misfit = {.name = NULL};
  bool good = open_selected(part, d, run, false, &scale, &space) &&
              ndr_values_read(scale, raw, space, run->count, values, &misfit);
  close_selected(scale, space);
  if (misfit.name)
    return ndr_fail(NDR_ERR_FILE, "%s: the coordinates %s cannot be read: their attribute %s %s", part->where,
                    part->names[d] ? part->names[d] : "of a dim", misfit.name, misfit.what);
  return good ? NDR_OK : ndr_hdf_fail_coordinates(part);
}

static ndr_status read_values(const ndr_h5_dataset *part, int d, bool raw, double *values) {
  ndr_run runs[2];
  ndr_kept_values *kept = find_kept(part, d, raw);
  if (part->info.shape[d] == 0 || (kept && take_kept(kept, part, values))) return NDR_OK;
  const int count = ndr_seam_runs(part, d, 0, part->info.shape[d], runs);
  for (int i = 0; i < count; i++) NDR_TRY(read_run(part, d, &runs[i], raw, values + runs[i].begin));
  if (kept) keep(kept, part, values);
  return NDR_OK;
}

/* Adds the turns of longitudes, to each run its own. */
static void turn_values(const ndr_h5_dataset *part, int d, double *values) {
  ndr_run runs[2];
  const int count = ndr_seam_runs(part, d, 0, part->info.shape[d], runs);
  for (int r = 0; r < count; r++)
    for (int64_t i = 0; i < runs[r].count && runs[r].turn != 0; i++) values[runs[r].begin + i] += runs[r].turn;
}

ndr_status ndr_hdf_coordinate_values(const ndr_h5_dataset *dataset, int d, bool raw, double *values) {
  const ndr_h5_dataset *const *parts;
  int count = find_parts(dataset, d, &parts, &dataset);
  bool converts = ndr_hdf_is_converted(dataset, d);
  for (int p = 0; p < count; p++) {
    int64_t size = parts[p]->info.shape[d];
    NDR_TRY(read_values(parts[p], d, raw && !converts, values));
    for (int64_t i = 0; i < size && converts && parts[p]->timed; i++)
      values[i] = ndr_time_convert(&parts[p]->time, &parts[dataset->axis_part]->time, values[i]);
    turn_values(parts[p], d, values);
    values += size;
  }
  return NDR_OK;
}
