/* See fill_value.h. What marks missing elements of the input is found in unpack_cf.c. */
#include "h5/write/storage/fill_value.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "h5/bytes/header.h"
#include "h5/file/attributes.h"
#include "h5/run/job/host.h"

/* The only number of an attribute, NaN where there is none; false where it cannot be read. */
static bool read_number(hid_t object, const char *name, double *value) {
  htri_t exists = ndr_header_has_attribute(object, name);
  *value = NAN;
  if (exists <= 0) return exists == 0;
  hid_t attribute = ndr_header_open(object, name), type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  H5T_class_t kind = H5Tget_class(type);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  bool good = kind != H5T_NO_CLASS && count >= 0;
  if (good && (kind == H5T_INTEGER || kind == H5T_FLOAT) && count == 1)
    good = ndr_header_read(attribute, H5T_NATIVE_DOUBLE, value) >= 0;
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  return good;
}

/* A packed number that marks missing elements marks nothing among unpacked ones. */
static ndr_status input_mark(const ndr_h5_dataset *source, double *mark) {
  *mark = NAN;
  if (source->unpack.scaled) return NDR_OK;
  bool good = read_number(source->id, "_FillValue", mark);
  if (good && isnan(*mark)) good = read_number(source->id, "missing_value", mark);
  return good ? NDR_OK
              : ndr_fail(NDR_ERR_FILE, "%s: the attributes that mark missing elements cannot be read", source->where);
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

static bool holds(ndr_dtype dtype, double mark) {
  if (!isfinite(mark)) return false;
  return dtype == NDR_F64 || (dtype == NDR_F32 && fabs(mark) <= FLT_MAX && (double)(float)mark == mark);
}

static bool has(ndr_dtype dtype, const void *data, int64_t count, double mark) {
  return dtype == NDR_F64 ? has_double(data, count, mark) : has_float(data, count, (float)mark);
}

static void replace(ndr_dtype dtype, const void *data, int64_t count, double mark, void *marked) {
  if (dtype == NDR_F64)
    mark_double(data, count, mark, marked);
  else
    mark_float(data, count, (float)mark, marked);
}

/* Sets whether missing results are marked, and by which value where the input has none for that. */
static void expect_own(const ndr_label *label, ndr_fill_value *fill) {
  bool index = label->op == NDR_ARGMIN || label->op == NDR_ARGMAX;
  bool real = ndr_dtype_to_dlpack(label->dtype).code == kDLFloat;
  *fill = (ndr_fill_value){ndr_label_may_miss(label) && (real || index), real ? NAN : -1, NULL};
}

ndr_status ndr_fill_value_expect(const ndr_label *label, ndr_fill_value *fill) {
  double mark;
  expect_own(label, fill);
  if (!fill->marked) return NDR_OK;
  NDR_TRY(input_mark(label->source, &mark));
  if (holds(label->dtype, mark)) fill->value = mark;
  return NDR_OK;
}

void ndr_fill_value_mark(const ndr_fill_value *fill, const ndr_label *label, void *data, int64_t count, bool *clashes) {
  if (!fill->marked || !holds(label->dtype, fill->value)) return;
  *clashes = *clashes || has(label->dtype, data, count, fill->value);
  replace(label->dtype, data, count, fill->value, data);
}

ndr_status ndr_fill_value_choose(const ndr_label *label, const DLTensor *result, ndr_fill_value *fill) {
  expect_own(label, fill);
  if (!ndr_label_may_miss(label)) return NDR_OK;
  const void *data = ndr_host_address(result);
  int64_t count = 1;
  for (int d = 0; d < result->ndim; d++) count *= result->shape[d];
  double mark;
  NDR_TRY(input_mark(label->source, &mark));
  if (!holds(label->dtype, mark) || has(label->dtype, data, count, mark)) return NDR_OK;
  fill->value = mark;
  fill->data = malloc((size_t)count * (result->dtype.bits / 8) + 1);
  if (!fill->data) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory to mark missing elements", label->source->where);
  replace(label->dtype, data, count, mark, fill->data);
  return NDR_OK;
}

bool ndr_fill_value_put(const ndr_fill_value *fill, const ndr_h5_dataset *source, hid_t variable, hid_t type) {
  double value[2] = {fill->value, 0};
  if (!fill->marked) return true;
  htri_t both = ndr_header_has_attribute(source->id, "missing_value");
  return both >= 0 && H5Tconvert(H5T_NATIVE_DOUBLE, type, 1, value, NULL, H5P_DEFAULT) >= 0 &&
         ndr_hdf_put(variable, "_FillValue", type, 1, value) &&
         (!both || ndr_hdf_put(variable, "missing_value", type, 1, value));
}

void ndr_fill_value_free(ndr_fill_value *fill) {
  free(fill->data);
}
