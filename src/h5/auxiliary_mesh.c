#include "h5/auxiliary_mesh.h"

#include <stdlib.h>

#include "h5/auxiliary_names.h"
#include "h5/companion.h"

/* Whether all that a part of a mesh names can come, whole: connectivity counts nodes and faces by number. */
static ndr_status is_whole(const ndr_aux_context *c, const char *names, bool *whole) {
  char word[256];
  while (*whole && ndr_aux_word(&names, word)) {
    ndr_companion found;
    ndr_status status = ndr_companion_open(&found, c->source, c->reduced, word, false);
    *whole = found.fits && found.whole.part_count == 0;
    for (int d = 0; d < found.whole.info.ndim; d++)
      *whole = *whole && found.whole.info.shape[d] == found.whole.extent[d];
    ndr_companion_close(&found);
    NDR_TRY(status);
  }
  return NDR_OK;
}

static ndr_status is_mesh_whole(const ndr_aux_context *c, const char *mesh, bool *whole) {
  ndr_companion found;
  char *parts[NDR_AUX_MESH_PARTS] = {NULL};
  ndr_status status = ndr_companion_open(&found, c->source, c->reduced, mesh, false);
  *whole = found.fits;
  for (int i = 0; i < NDR_AUX_MESH_PARTS && *whole && status == NDR_OK; i++)
    if (!ndr_hdf_get_text(found.whole.id, ndr_aux_mesh_parts[i], &parts[i])) status = ndr_aux_fail_read(c->source);
  ndr_companion_close(&found);
  for (int i = 0; i < NDR_AUX_MESH_PARTS && status == NDR_OK; i++)
    if (parts[i]) status = is_whole(c, parts[i], whole);
  for (int i = 0; i < NDR_AUX_MESH_PARTS; i++) free(parts[i]);
  return status;
}

ndr_status ndr_aux_put_mesh(const ndr_aux_context *c, const char *attribute, const char *location) {
  char *mesh, *place = NULL;
  bool whole = false;
  if (!ndr_hdf_get_text_or_tell(c->source->id, attribute, c->scales->remarks, &mesh))
    return ndr_aux_fail_read(c->source);
  ndr_status status = mesh ? is_mesh_whole(c, mesh, &whole) : NDR_OK;
  if (status == NDR_OK && whole) status = ndr_aux_put(c, mesh, attribute, NDR_AUX_ONE, 1, c->variable);
  if (status == NDR_OK && whole && location && !ndr_hdf_get_text(c->source->id, location, &place))
    status = ndr_aux_fail_read(c->source);
  if (status == NDR_OK && place) status = ndr_aux_put_text(c, c->variable, location, place);
  free(mesh);
  free(place);
  return status;
}
