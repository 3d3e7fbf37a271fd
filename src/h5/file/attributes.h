/* Attributes that results are written with. Calls that write return whether HDF5 did it. */
#ifndef NDR_H5_FILE_ATTRIBUTES_H
#define NDR_H5_FILE_ATTRIBUTES_H

#include "h5/file/hdf.h"
#include "h5/file/remarks.h"

/* The attributes that name the parts of a mesh (UGRID) and of geometries (CF). */
#define NDR_MESH_PARTS                                                                                                 \
  "node_coordinates", "edge_coordinates", "face_coordinates", "volume_coordinates", "face_node_connectivity",          \
      "edge_node_connectivity", "volume_node_connectivity", "face_edge_connectivity", "face_face_connectivity",        \
      "edge_face_connectivity", "boundary_node_connectivity", "volume_shape_type", "node_count", "part_node_count",    \
      "interior_ring"

/* Whether an attribute of the input holds for its copy, too. */
typedef bool (*ndr_hdf_attribute_test)(void *user, const char *name);

/* Copies the attributes of `from` that are numbers or texts, that pass the test (NULL: all do) and that `to` does not
 * have yet. Attributes that name or refer to other objects are never copied, since the copy's file may lack these. What
 * readers of netCDF cannot hold, and what is malformed, is left out, and `remarks` is told. Floats other than IEEE's of
 * 4 and 8 bytes are widened to one of these. */
bool ndr_hdf_copy_attributes(hid_t from, hid_t to, ndr_hdf_attribute_test keeps, void *user, ndr_remarks *remarks);

/* The text of an attribute, to be freed. NULL if there is no such attribute, if it is not a single text, or if it is
 * malformed. False if the file cannot be read or memory is short. */
bool ndr_hdf_get_text(hid_t object, const char *name, char **text);

/* The same; `remarks` is told of a malformed attribute. */
bool ndr_hdf_get_text_or_tell(hid_t object, const char *name, ndr_remarks *remarks, char **text);

/* The same, but false, with *malformed set, for a malformed attribute. */
bool ndr_hdf_find_text(hid_t object, const char *name, char **text, bool *malformed);

/* Whether two objects have the same text or the same elements as an attribute, or both none; negative where that cannot
 * be read. */
htri_t ndr_hdf_same_attribute(hid_t a, hid_t b, const char *name);

/* Whether the elements of two datasets are stored alike and mean the same, as far as type, units and packing tell;
 * negative where that cannot be read. */
htri_t ndr_hdf_same_meaning(hid_t a, hid_t b);

/* Whether `to` has just the attributes that it would have if those of `from` had been copied; negative where they
 * cannot be read. */
htri_t ndr_hdf_same_attributes(hid_t from, hid_t to, ndr_hdf_attribute_test keeps, void *user);

/* A text of fixed length, as dimension scales want it. */
bool ndr_hdf_put_text(hid_t object, const char *name, const char *text);

/* A list of `count` elements of a type; count 0 means a scalar. */
bool ndr_hdf_put(hid_t object, const char *name, hid_t type, hsize_t count, const void *data);

#endif
