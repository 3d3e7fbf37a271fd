/* See group_scale.h. */
#include "h5/write/group_scale.h"

#include <string.h>

#include "h5/cf/coordinates.h"
#include "h5/cf/period.h"

/* In the type of the dataset of labels, as its attributes, like flag_values, are. */
static ndr_status read_labels(const ndr_h5_groups *groups, const ndr_h5_dataset *source, hid_t *dataset,
                              ndr_elements *elements) {
  size_t count = (size_t)groups->count;
  const ndr_h5_dataset *labels = groups->label_source;
  hid_t type = H5Dget_type(labels->part_count ? labels->parts[0]->id : labels->id);
  bool integers = H5Tget_class(type) == H5T_INTEGER;
  NDR_TRY(ndr_elements_reserve_values(elements, groups->count, source->where));
  memcpy(elements->data, groups->numbers, count * sizeof *groups->numbers);
  H5Tclose(elements->type);
  elements->type = integers ? type : H5Tcopy(H5T_NATIVE_INT64);
  if (!integers) H5Tclose(type);
  elements->bytes = count * H5Tget_size(elements->type);
  *dataset = labels->part_count ? labels->parts[0]->id : labels->id;
  if (H5Iinc_ref(*dataset) < 0) *dataset = H5I_INVALID_HID;
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
