/* See cf_copy_mesh.h. A mesh of which a part is missing or cut is not copied at all. */
#include "h5/write/cf/cf_copy_mesh.h"

#include <stdlib.h>

#include "h5/cf/variable.h"
#include "h5/file/seam.h"
#include "h5/write/cf/cf_names.h"

/* Whether all that a part of a mesh names can come, whole: connectivity counts nodes and faces by number. */
static ndr_status is_whole(const ndr_cf_copy_context *c, const char *names, bool *whole) {
  char word[256];
  while (*whole && ndr_cf_names_next(&names, word)) {
    ndr_cf_variable found;
    ndr_status status = ndr_cf_variable_open(&found, c->source, c->reduced, word, false);
    *whole = found.fits && found.whole.part_count == 0;
    for (int d = 0; d < found.whole.info.ndim; d++)
      *whole = *whole && found.whole.info.shape[d] == found.whole.extent[d] && !ndr_has_seam(&found.whole, d);
    ndr_cf_variable_close(&found);
    NDR_TRY(status);
  }
  return NDR_OK;
}

static ndr_status is_mesh_whole(const ndr_cf_copy_context *c, const char *mesh, bool *whole) {
  ndr_cf_variable found;
  char *parts[NDR_CF_MESH_PARTS] = {NULL};
  ndr_status status = ndr_cf_variable_open(&found, c->source, c->reduced, mesh, false);
  *whole = found.fits;
  for (int i = 0; i < NDR_CF_MESH_PARTS && *whole && status == NDR_OK; i++)
    if (!ndr_hdf_get_text(found.whole.id, ndr_cf_mesh_parts[i], &parts[i])) status = ndr_cf_names_fail_read(c->source);
  ndr_cf_variable_close(&found);
  for (int i = 0; i < NDR_CF_MESH_PARTS && status == NDR_OK; i++)
    if (parts[i]) status = is_whole(c, parts[i], whole);
  for (int i = 0; i < NDR_CF_MESH_PARTS; i++) free(parts[i]);
  return status;
}

ndr_status ndr_cf_mesh_put(const ndr_cf_copy_context *c, const char *attribute, const char *location) {
  char *mesh, *place = NULL;
  bool whole = false;
  if (!ndr_hdf_get_text_or_tell(c->source->id, attribute, c->scales->remarks, &mesh))
    return ndr_cf_names_fail_read(c->source);
  ndr_status status = mesh ? is_mesh_whole(c, mesh, &whole) : NDR_OK;
  if (status == NDR_OK && whole) status = ndr_cf_names_put(c, mesh, attribute, NDR_CF_NAMES_ONE, 1, c->variable);
  if (status == NDR_OK && whole && location && !ndr_hdf_get_text(c->source->id, location, &place))
    status = ndr_cf_names_fail_read(c->source);
  if (status == NDR_OK && place) status = ndr_cf_names_put_text(c, c->variable, location, place);
  free(mesh);
  free(place);
  return status;
}
