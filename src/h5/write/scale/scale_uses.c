/* See scales.h: which variables use which scale. Each variable lists the scales of its dims (DIMENSION_LIST), and each
 * scale the variables that use it (REFERENCE_LIST). */
#include <stdlib.h>
#include <string.h>

#include "h5/file/attributes.h"
#include "h5/write/scale/scales.h"

static ndr_status fail_memory(void) {
  return ndr_fail(NDR_ERR_MEMORY, "out of memory for the uses of scales");
}

/* ---- A variable's scales ---------------------------------------------------------------------------------------- */

static ndr_status add_use(ndr_scale *scale, const char *variable, int dim) {
  ndr_scale_use *uses = realloc(scale->uses, (size_t)(scale->use_count + 1) * sizeof *uses);
  if (!uses) return fail_memory();
  scale->uses = uses;
  char *name = strdup(variable);
  if (!name) return fail_memory();
  uses[scale->use_count++] = (ndr_scale_use){name, dim};
  return NDR_OK;
}

static bool write_dimension_list(hid_t file, const char *variable, int ndim, hvl_t *lists) {
  hid_t dataset = H5Dopen2(file, variable, H5P_DEFAULT), type = H5Tvlen_create(H5T_STD_REF_OBJ);
  bool good = dataset >= 0 && ndr_hdf_put(dataset, "DIMENSION_LIST", type, (hsize_t)ndim, lists);
  H5Tclose(type);
  if (dataset >= 0) H5Dclose(dataset);
  return good;
}

static bool has_names(const ndr_scales *scales, const ndr_h5_dataset *source, int ndim, const int *from) {
  for (int i = 0; i < ndim; i++)
    if (ndr_scales_input_name(scales, source, from[i])) return true;
  return false;
}

/* Whether the name of a dim that has been reduced is also that of one that has not, as in a matrix [x, x]. */
static bool yields(const ndr_h5_dataset *source, int ndim, const int *from, int i) {
  const char *name = from[i] < 0 ? source->names[~from[i]] : NULL;
  for (int j = 0; j < ndim && name; j++)
    if (ndr_scales_is_kept(from[j]) && source->names[from[j]] && strcmp(source->names[from[j]], name) == 0) return true;
  return false;
}

static ndr_status refer(ndr_scales *scales, const ndr_h5_dataset *source, const char *variable, int i, int from,
                        hobj_ref_t *reference) {
  ndr_scale *scale;
  NDR_TRY(ndr_scales_find(scales, source, from, &scale));
  if (H5Rcreate(reference, scales->file, scale->name, H5R_OBJECT, H5I_INVALID_HID) < 0)
    return ndr_hdf_fail(NDR_ERR_FILE, scale->name, "this scale cannot be referred to");
  return add_use(scale, variable, i);
}

ndr_status ndr_scales_attach(ndr_scales *scales, const ndr_h5_dataset *source, const char *variable, int ndim,
                             const int *from) {
  hobj_ref_t references[NDR_MAX_DIMS];
  hvl_t lists[NDR_MAX_DIMS];
  if (!has_names(scales, source, ndim, from)) return NDR_OK;
  for (int late = 0; late < 2; late++)
    for (int i = 0; i < ndim; i++)
      if (yields(source, ndim, from, i) == (late == 1))
        NDR_TRY(refer(scales, source, variable, i, from[i], &references[i]));
  for (int i = 0; i < ndim; i++) lists[i] = (hvl_t){1, &references[i]};
  if (!write_dimension_list(scales->file, variable, ndim, lists))
    return ndr_hdf_fail(NDR_ERR_FILE, variable, "its scales cannot be attached");
  return NDR_OK;
}

const char *ndr_scales_name(const ndr_scales *scales, const char *variable, int dim) {
  for (int i = 0; i < scales->count; i++)
    for (int u = 0; u < scales->all[i].use_count; u++)
      if (scales->all[i].uses[u].dim == dim && strcmp(scales->all[i].uses[u].variable, variable) == 0)
        return scales->all[i].name;
  return NULL;
}

/* ---- A scale's variables ---------------------------------------------------------------------------------------- */

/* One entry of REFERENCE_LIST; its layout in memory is that of HDF5's own ds_list_t. */
typedef struct {
  hobj_ref_t variable;
  int dim;
} back_reference;

static hid_t back_reference_type(void) {
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(back_reference));
  if (H5Tinsert(type, "dataset", HOFFSET(back_reference, variable), H5T_STD_REF_OBJ) >= 0 &&
      H5Tinsert(type, "dimension", HOFFSET(back_reference, dim), H5T_NATIVE_INT) >= 0)
    return type;
  if (type >= 0) H5Tclose(type);
  return H5I_INVALID_HID;
}

static bool write_reference_list(hid_t file, const ndr_scale *scale, back_reference *list) {
  for (int i = 0; i < scale->use_count; i++) {
    list[i].dim = scale->uses[i].dim;
    if (H5Rcreate(&list[i].variable, file, scale->uses[i].variable, H5R_OBJECT, H5I_INVALID_HID) < 0) return false;
  }
  hid_t dataset = H5Dopen2(file, scale->name, H5P_DEFAULT), type = back_reference_type();
  bool good = dataset >= 0 && ndr_hdf_put(dataset, "REFERENCE_LIST", type, (hsize_t)scale->use_count, list);
  H5Tclose(type);
  if (dataset >= 0) H5Dclose(dataset);
  return good;
}

ndr_status ndr_scales_finish(ndr_scales *scales) {
  for (int i = 0; i < scales->count; i++) {
    const ndr_scale *scale = &scales->all[i];
    if (scale->use_count == 0) continue;
    back_reference *list = calloc((size_t)scale->use_count, sizeof *list);
    if (!list) return fail_memory();
    bool good = write_reference_list(scales->file, scale, list);
    free(list);
    if (!good) return ndr_hdf_fail(NDR_ERR_FILE, scale->name, "its variables cannot be listed");
  }
  return NDR_OK;
}
