/* Groups of outputs that lie side by side, for staged.cuh, runs.cuh and dense.cuh. A group is one output that reads a
 * short row, or the columns of a few short rows. A tile is some neighbouring groups. */
#ifndef NDR_GROUPS_CUH
#define NDR_GROUPS_CUH

#include "walk.cuh"

struct groups {
  const ndr_param_groups &g;
  int first_axis; /* the first axis that counts groups */
  i64 along;      /* elements of the result from group to group; without kept axes there is one group */
  i64 across;     /* elements of the result from column to column */

  /* The outputs of a tile. */
  struct place {
    int outputs;
    i64 result; /* if one axis counts groups, the first output's element of the result; else the first group's number */
  };
  struct where {
    place to;
    i64 offset;
  };

  NDR_DEVICE groups(const ndr_params &p, const ndr_param_groups &own) : g(own) {
    first_axis = NDR_GROUP_OUTPUTS(g) > 1;
    along = p.axes[first_axis].result_stride;
    across = p.axes[0].result_stride;
  }

  NDR_DEVICE where find(const ndr_params &p, i64 tile) const {
    int inside = first_axis + g.side_axes;
    i64 rest = kept_count(p) == inside ? 0 : tile / g.side_tiles;
    i64 group = (tile - rest * g.side_tiles) * g.tile_groups, left = g.side - group;
    output_spot kept = locate_kept(p, inside, rest);
    if (left > g.tile_groups) left = g.tile_groups;
    i64 result = g.side_axes == 1 ? kept.result + group * along : rest * g.side + group;
    return {{(int)left * NDR_GROUP_OUTPUTS(g), result}, kept.offset + group * p.axes[first_axis].stride};
  }

  NDR_DEVICE int group_of(const ndr_params &p, int output) const {
    return NDR_GROUP_OUTPUTS(g) == 1 ? output
                                     : (int)(machine::multiply_high((u32)output, p.axes[0].magic) >> p.axes[0].shift);
  }

  NDR_DEVICE i64 element_of(const ndr_params &p, const place &to, int group, int output) const {
    i64 column = (output - group * NDR_GROUP_OUTPUTS(g)) * across;
    if (g.side_axes == 1) return to.result + group * along + column;
    return locate_kept(p, first_axis, to.result + group).result + column;
  }
};

#endif
