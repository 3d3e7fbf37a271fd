/* Meshes (UGRID) and geometries (CF). */
#ifndef NDR_H5_WRITE_CF_COPY_MESH_H
#define NDR_H5_WRITE_CF_COPY_MESH_H

#include "h5/write/cf/cf_copy_variable.h"

/* Copies the mesh or the geometry that the attribute of the source names, if all its parts come whole. `location`, or
 * NULL, is the attribute that says where on a mesh the elements are. */
ndr_status ndr_cf_mesh_put(const ndr_cf_copy_context *c, const char *attribute, const char *location);

#endif
