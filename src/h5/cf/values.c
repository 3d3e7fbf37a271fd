/* See values.h. Large datasets are read in reader.c. */
#include "h5/cf/values.h"

#include "h5/file/dtype.h"

/* How elements become f64; a dtype that is not packed is widened all the same. */
static bool find_unpack(hid_t dataset, bool raw, ndr_unpack *unpack, hid_t *memory, ndr_misfit *misfit) {
  ndr_dtype stored;
  ndr_misfits misfits = {.count = 0};
  hid_t type = H5Dget_type(dataset);
  H5T_class_t kind = H5Tget_class(type);
  bool good = (kind == H5T_INTEGER || kind == H5T_FLOAT) && !ndr_hdf_dtype(type, &stored) &&
              !ndr_hdf_find_unpack(dataset, type, kind, stored, raw, unpack, &misfits);
  for (int i = 0; i < misfits.count; i++) {
    if (!misfits.list[i].scales) continue;
    if (misfit) *misfit = misfits.list[i];
    good = false;
  }
  *memory = good ? ndr_hdf_memory_type(stored, type) : H5I_INVALID_HID;
  if (type >= 0) H5Tclose(type);
  if (*memory < 0) return false;
  *unpack = ndr_unpack_native(unpack);
  unpack->to = NDR_F64;
  return true;
}

bool ndr_values_read(hid_t dataset, bool raw, hid_t selected, int64_t count, double *values, ndr_misfit *misfit) {
  ndr_unpack unpack;
  hid_t memory;
  hsize_t size = (hsize_t)count;
  if (!find_unpack(dataset, raw, &unpack, &memory, misfit)) return false;
  /* Stored elements are no larger: they lie at the end of the room that they are unpacked into. */
  char *stored = (char *)values + count * (int64_t)(sizeof(double) - ndr_dtype_bytes(unpack.from));
  hid_t to = H5Screate_simple(1, &size, NULL);
  bool good = to >= 0 && H5Dread(dataset, memory, to, selected, H5P_DEFAULT, stored) >= 0;
  if (good) ndr_unpack_run(&unpack, stored, 1, values, count);
  if (to >= 0) H5Sclose(to);
  H5Tclose(memory);
  return good;
}
