/* The names of a dataset's dims. Three conventions, the most exact first:
 *   DIMENSION_LIST     references to the scale of each dim (HDF5's dimension scales, hence netCDF-4), or for a variable
 *                      that is a scale itself _Netcdf4Coordinates, the scales' numbers
 *   _ARRAY_DIMENSIONS  a list of names (xarray)
 *   DIMENSION_LABELS   a list of labels (HDF5's dimension scales, set by hand)
 * A 1-d scale names its own dim. Whatever in them makes no sense is as if it were not there. */
#include <stdlib.h>
#include <string.h>

#include "h5/bytes/header.h"
#include "h5/file/dataset.h"
#include "h5/find/scale_path.h"

/* Notes a call that has failed, be it of HDF5 or for memory. */
static bool good(ndr_h5_dataset *dataset, bool success) {
  if (!success) dataset->unnamed = true;
  return success;
}

/* Notes that an attribute could not be looked at. If the attribute itself is malformed, only a remark is made: names
 * can do without it. */
static bool legible(ndr_h5_dataset *dataset, const char *name, bool success) {
  char reason[NDR_HDF_REASON];
  if (success || !ndr_hdf_is_malformed()) return good(dataset, success);
  ndr_hdf_reason(reason);
  ndr_remark(&dataset->remarks, "%s: its attribute %s cannot be read: %s", dataset->where, name, reason);
  return false;
}

static void *made(ndr_h5_dataset *dataset, void *text) {
  good(dataset, ndr_hdf_noted(text) != NULL);
  return text;
}

/* Opens the attribute if it has one entry for each dim, else returns a negative id. */
static hid_t open_list(ndr_h5_dataset *dataset, const char *name) {
  htri_t exists = ndr_header_has_attribute(dataset->id, name);
  if (!good(dataset, exists >= 0) || exists == 0) return H5I_INVALID_HID;
  hid_t attribute = ndr_header_open(dataset->id, name);
  if (!legible(dataset, name, attribute >= 0)) return H5I_INVALID_HID;
  hid_t space = H5Aget_space(attribute);
  hsize_t count = 0;
  int ndim = H5Sget_simple_extent_ndims(space);
  if (ndim == 1 && H5Sget_simple_extent_dims(space, &count, NULL) != 1) ndim = -1;
  good(dataset, ndim >= 0);
  if (space >= 0) H5Sclose(space);
  if (ndim == 1 && count == (hsize_t)dataset->info.ndim) return attribute;
  if (attribute >= 0) H5Aclose(attribute);
  return H5I_INVALID_HID;
}

/* A dim is unlimited if its scale is. A netCDF variable with fewer records than its unlimited dim counts as long as the
 * dim, whose length is its scale's. */
static void lengthen(ndr_h5_dataset *dataset, int d, hid_t scale) {
  hsize_t length, most;
  hid_t space = H5Dget_space(scale);
  int ndim = H5Sget_simple_extent_ndims(space);
  bool unlimited = ndim == 1 && H5Sget_simple_extent_dims(space, &length, &most) == 1 && most == H5S_UNLIMITED;
  if (space >= 0) H5Sclose(space);
  if (good(dataset, ndim >= 0) && unlimited && dataset->unlimited[d] && length <= INT64_MAX &&
      (int64_t)length > dataset->stored[d])
    dataset->info.shape[d] = dataset->extent[d] = (int64_t)length;
  dataset->unlimited[d] = unlimited;
}

/* The path of the dataset that a reference leads to, which is the scale of dim d. NULL if it has been deleted or is a
 * group: the dim then has no name, and its data are as before. */
static char *follow(ndr_h5_dataset *dataset, int d, const hobj_ref_t *reference) {
  char *path = NULL;
  hid_t object = H5Rdereference2(dataset->id, dataset->links->access, H5R_OBJECT, reference);
  if (!good(dataset, object >= 0 || !ndr_hdf_failed_to_read()) || object < 0) return NULL;
  H5I_type_t kind = H5Iget_type(object);
  bool scale = good(dataset, kind != H5I_BADID) && kind == H5I_DATASET;
  if (scale) good(dataset, ndr_scale_path(dataset->id, dataset->links->access, object, &path));
  if (scale) lengthen(dataset, d, object);
  H5Oclose(object);
  return path;
}

static void read_scales(ndr_h5_dataset *dataset, hid_t attribute) {
  hid_t space = H5Aget_space(attribute), type = H5Tvlen_create(H5T_STD_REF_OBJ);
  hvl_t lists[NDR_MAX_DIMS] = {{0, NULL}};
  if (good(dataset, type >= 0 && space >= 0) &&
      legible(dataset, "DIMENSION_LIST", ndr_header_read(attribute, type, lists) >= 0)) {
    for (int d = 0; d < dataset->info.ndim; d++) {
      if (lists[d].len > 0) dataset->scales[d] = follow(dataset, d, lists[d].p);
      if (dataset->scales[d]) dataset->names[d] = made(dataset, strdup(ndr_hdf_leaf(dataset->scales[d])));
    }
    ndr_hdf_reclaim(type, space, H5P_DEFAULT, lists);
  }
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
}

static void name_by_scales(ndr_h5_dataset *dataset) {
  hid_t attribute = open_list(dataset, "DIMENSION_LIST");
  if (attribute < 0) return;
  hid_t type = H5Aget_type(attribute);
  H5T_class_t kind = H5Tget_class(type);
  hid_t element = kind == H5T_VLEN ? H5Tget_super(type) : H5I_INVALID_HID;
  htri_t refers = kind == H5T_VLEN ? H5Tequal(element, H5T_STD_REF_OBJ) : false;
  if (good(dataset, kind != H5T_NO_CLASS && refers >= 0) && refers > 0) read_scales(dataset, attribute);
  if (element >= 0) H5Tclose(element);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
}

static void name_by_ids(ndr_h5_dataset *dataset) {
  good(dataset, ndr_netcdf_find_dims(dataset->id, dataset->links->access, dataset->info.ndim, dataset->scales));
  for (int d = 0; d < dataset->info.ndim; d++)
    if (dataset->scales[d] && !dataset->names[d])
      dataset->names[d] = made(dataset, strdup(ndr_hdf_leaf(dataset->scales[d])));
}

static void set_name(ndr_h5_dataset *dataset, int d, const char *text, size_t length) {
  if (!dataset->names[d] && length > 0 && text[0]) dataset->names[d] = made(dataset, strndup(text, length));
}

static void read_variable_texts(ndr_h5_dataset *dataset, const char *name, hid_t attribute, hid_t type) {
  char *texts[NDR_MAX_DIMS] = {NULL};
  hid_t space = H5Aget_space(attribute);
  if (good(dataset, space >= 0) && legible(dataset, name, ndr_header_read(attribute, type, texts) >= 0)) {
    for (int d = 0; d < dataset->info.ndim; d++)
      if (texts[d]) set_name(dataset, d, texts[d], strlen(texts[d]));
    ndr_hdf_reclaim(type, space, H5P_DEFAULT, texts);
  }
  if (space >= 0) H5Sclose(space);
}

static void read_fixed_texts(ndr_h5_dataset *dataset, const char *name, hid_t attribute, hid_t type) {
  size_t bytes = H5Tget_size(type);
  good(dataset, bytes > 0);
  char *texts = bytes > 0 && bytes < 4096 ? made(dataset, calloc((size_t)dataset->info.ndim, bytes)) : NULL;
  if (texts && legible(dataset, name, ndr_header_read(attribute, type, texts) >= 0))
    for (int d = 0; d < dataset->info.ndim; d++) {
      size_t length = bytes;
      while (length > 0 && (texts[(size_t)d * bytes + length - 1] == ' ' || !texts[(size_t)d * bytes + length - 1]))
        length--;
      set_name(dataset, d, texts + (size_t)d * bytes, length);
    }
  free(texts);
}

static void name_by_texts(ndr_h5_dataset *dataset, const char *name) {
  hid_t attribute = open_list(dataset, name);
  if (attribute < 0) return;
  hid_t type = H5Aget_type(attribute);
  H5T_class_t kind = H5Tget_class(type);
  htri_t variable = kind == H5T_STRING ? H5Tis_variable_str(type) : false;
  good(dataset, kind != H5T_NO_CLASS && variable >= 0);
  if (variable > 0)
    read_variable_texts(dataset, name, attribute, type);
  else if (variable == 0 && kind == H5T_STRING)
    read_fixed_texts(dataset, name, attribute, type);
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
}

static bool is_scale(ndr_h5_dataset *dataset) {
  char text[32] = "";
  htri_t exists = ndr_header_has_attribute(dataset->id, "CLASS");
  if (!good(dataset, exists >= 0) || exists == 0) return false;
  hid_t attribute = ndr_header_open(dataset->id, "CLASS");
  if (!legible(dataset, "CLASS", attribute >= 0)) return false;
  hid_t type = H5Aget_type(attribute);
  H5T_class_t kind = H5Tget_class(type);
  htri_t variable = kind == H5T_STRING ? H5Tis_variable_str(type) : true;
  if (good(dataset, kind != H5T_NO_CLASS && variable >= 0) && !variable) {
    size_t bytes = H5Tget_size(type), stored = H5Aget_storage_size(attribute);
    if (good(dataset, bytes > 0 && stored > 0) && bytes < sizeof text && stored < sizeof text)
      legible(dataset, "CLASS", ndr_header_read(attribute, type, text) >= 0);
  }
  if (type >= 0) H5Tclose(type);
  H5Aclose(attribute);
  return strcmp(text, "DIMENSION_SCALE") == 0;
}

ndr_status ndr_hdf_name_dims(ndr_h5_dataset *dataset) {
  dataset->unnamed = false;
  ndr_h5_info *info = &dataset->info;
  info->is_scale = is_scale(dataset);
  dataset->bare = false;
  if (info->is_scale) {
    htri_t bare = ndr_netcdf_is_bare(dataset->id);
    dataset->bare = legible(dataset, "NAME", bare >= 0) && bare > 0 && info->ndim == 1;
  }
  if (info->ndim > 0) {
    name_by_scales(dataset);
    if (info->is_scale && info->ndim == 1 && !dataset->names[0]) {
      dataset->names[0] = made(dataset, strdup(ndr_hdf_leaf(dataset->path)));
      good(dataset, ndr_hdf_path(dataset->id, &dataset->scales[0]));
    }
    if (info->is_scale && info->ndim > 1) name_by_ids(dataset);
    name_by_texts(dataset, "_ARRAY_DIMENSIONS");
    name_by_texts(dataset, "DIMENSION_LABELS");
  }
  for (int d = 0; d < info->ndim; d++) info->dim_names[d] = dataset->names[d];
  return dataset->unnamed ? ndr_hdf_fail_late(dataset->where, "the names of its dims cannot be read") : NDR_OK;
}
