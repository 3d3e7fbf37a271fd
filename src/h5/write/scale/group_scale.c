/* See group_scale.h. */
#include "h5/write/scale/group_scale.h"

#include <string.h>

#include "h5/cf/coordinates.h"
#include "h5/time/period.h"

/* The type of the dataset of labels, as its attributes, like flag_values, are; i64 for enumerations and the like.
 * Negative where it cannot be read. */
static hid_t type_of_labels(hid_t dataset) {
  hid_t type = H5Dget_type(dataset);
  H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  if (type < 0 || kind == H5T_INTEGER) return type;
  H5Tclose(type);
  return kind == H5T_NO_CLASS ? H5I_INVALID_HID : H5Tcopy(H5T_NATIVE_INT64);
}

static ndr_status read_labels(const ndr_h5_groups *groups, const ndr_h5_dataset *source, hid_t *dataset,
                              ndr_elements *elements) {
  size_t count = (size_t)groups->count;
  const ndr_h5_dataset *labels = groups->label_source;
  hid_t id = labels->part_count ? labels->parts[0]->id : labels->id;
  NDR_TRY(ndr_elements_reserve_values(elements, (hsize_t)count, source->where));
  memcpy(elements->data, groups->numbers, count * sizeof *groups->numbers);
  H5Tclose(elements->type);
  elements->type = type_of_labels(id);
  size_t bytes = elements->type < 0 ? 0 : H5Tget_size(elements->type);
  elements->bytes = count * bytes;
  *dataset = bytes > 0 && H5Iinc_ref(id) >= 0 ? id : H5I_INVALID_HID;
  if (*dataset >= 0 && H5Tconvert(H5T_NATIVE_INT64, elements->type, count, elements->data, NULL, H5P_DEFAULT) >= 0)
    return NDR_OK;
  return ndr_hdf_fail(NDR_ERR_FILE, labels->where, "its labels cannot be copied");
}

ndr_status ndr_group_scale_read(const ndr_h5_groups *groups, const ndr_h5_dataset *source, hid_t *dataset,
                                ndr_hdf_attribute_test *keeps, ndr_elements *elements) {
  *dataset = H5I_INVALID_HID;
  *keeps = NULL;
  *elements = (ndr_elements){.type = H5I_INVALID_HID};
  if (groups->how == NDR_GROUPING_LABELS) return read_labels(groups, source, dataset, elements);
  if (!groups->coordinates) return NDR_OK;
  *keeps = ndr_period_keeps;
  NDR_TRY(ndr_hdf_open_coordinates(source, groups->dim, false, dataset));
  NDR_TRY(ndr_elements_reserve_values(elements, (hsize_t)groups->count, source->where));
  memcpy(elements->data, groups->coordinates, (size_t)groups->count * sizeof *groups->coordinates);
  return NDR_OK;
}
