#include "h5/missing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "h5/attributes.h"

/* The first number of an attribute; NaN where there is none. */
static double read_number(hid_t object, const char *name) {
  double value = NAN;
  if (H5Aexists(object, name) <= 0) return value;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  H5T_class_t kind = H5Tget_class(type);
  if ((kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Sget_simple_extent_npoints(space) == 1)
    if (H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0) value = NAN;
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return value;
}

/* Packed numbers that mark missing elements mean nothing among unpacked ones. */
static double input_mark(const ndr_h5_dataset *source) {
  if (source->unpack.scaled) return NAN;
  double mark = read_number(source->id, "_FillValue");
  return isnan(mark) ? read_number(source->id, "missing_value") : mark;
}

/* Whether an element is equal to value; and a copy in which value stands for NaN. */
#define DEFINE_FOR(type)                                                                                               \
  static bool has_##type(const type *data, int64_t count, type value) {                                                \
    for (int64_t i = 0; i < count; i++)                                                                                \
      if (data[i] == value) return true;                                                                               \
    return false;                                                                                                      \
  }                                                                                                                    \
  static void mark_##type(const type *data, int64_t count, type value, type *marked) {                                 \
    for (int64_t i = 0; i < count; i++) marked[i] = isnan(data[i]) ? value : data[i];                                  \
  }
DEFINE_FOR(float)
DEFINE_FOR(double)

static bool can_mark(ndr_dtype dtype, const void *data, int64_t count, double mark) {
  if (!isfinite(mark)) return false;
  if (dtype == NDR_F64) return !has_double(data, count, mark);
  return dtype == NDR_F32 && fabs(mark) <= FLT_MAX && (double)(float)mark == mark &&
         !has_float(data, count, (float)mark);
}

ndr_status ndr_missing_find(const ndr_label *label, const DLTensor *result, ndr_missing *missing) {
  *missing = (ndr_missing){false, NAN, NULL};
  if (!label->source->info.masked) return NDR_OK;
  const void *data = (const char *)result->data + (int64_t)result->byte_offset;
  int64_t count = 1;
  for (int d = 0; d < result->ndim; d++) count *= result->shape[d];
  missing->marked = result->dtype.code == kDLFloat || label->op == NDR_ARGMIN || label->op == NDR_ARGMAX;
  if (missing->marked && result->dtype.code != kDLFloat) missing->fill = -1;
  double mark = input_mark(label->source);
  if (!can_mark(label->dtype, data, count, mark)) return NDR_OK;
  missing->fill = mark;
  missing->data = malloc((size_t)count * (result->dtype.bits / 8) + 1);
  if (!missing->data)
    return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory to mark what is missing", label->source->where);
  if (label->dtype == NDR_F64)
    mark_double(data, count, mark, missing->data);
  else
    mark_float(data, count, (float)mark, missing->data);
  return NDR_OK;
}

bool ndr_missing_put(const ndr_missing *missing, hid_t variable, hid_t type) {
  double value[2] = {missing->fill, 0};
  return !missing->marked || (H5Tconvert(H5T_NATIVE_DOUBLE, type, 1, value, NULL, H5P_DEFAULT) >= 0 &&
                              ndr_hdf_put(variable, "_FillValue", type, 1, value));
}

void ndr_missing_free(ndr_missing *missing) {
  free(missing->data);
}
