/* Groups of outputs that lie side by side. */
#include "gpuplan/groups.h"

enum { RUN_BYTES = 2048 }; /* from which on no further axis is merged into the side */

bool ndr_tile_keeps_fastest(const ndr_canonical *problem) {
  return problem->kept_count > 0 && problem->kept[0].stride == 1 &&
         (problem->reduced_count == 0 || problem->reduced[0].stride != 1);
}

ndr_group ndr_group_of(const ndr_canonical *problem) {
  bool kept = ndr_tile_keeps_fastest(problem);
  ndr_group g = {.outputs = kept ? problem->kept[0].size : 1, .length = problem->reduced[0].size, .side = 1};
  g.bytes = g.outputs * g.length * (int64_t)ndr_dtype_bytes(problem->dtype);
  for (int a = kept; a < problem->kept_count; a++, g.axes++) {
    bool full = g.axes > 0 && g.side * g.bytes >= RUN_BYTES;
    if (full || problem->kept[a].stride != g.outputs * g.length * g.side) break;
    g.side *= problem->kept[a].size;
  }
  if (g.axes > 0 || problem->kept_count <= kept) return g;
  g.side = problem->kept[kept].size;
  g.axes = 1;
  return g;
}

ndr_param_groups ndr_group_tiles(const ndr_group *g, int64_t tile_groups) {
  return (ndr_param_groups){.outputs = (int)g->outputs,
                            .run_length = (int)g->length,
                            .side_axes = g->axes,
                            .tile_groups = (int)tile_groups,
                            .side = g->side,
                            .side_tiles = (g->side + tile_groups - 1) / tile_groups};
}

int64_t ndr_group_tile_count(const ndr_canonical *problem, const ndr_param_groups *groups) {
  return groups->side_tiles * (problem->outputs / (groups->side * groups->outputs));
}
