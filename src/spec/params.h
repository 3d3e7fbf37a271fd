/* The argument of every kernel: shared by the C that fills it in, the CUDA that reads it, and run-time compilation,
 * which has no standard headers. Counts and strides are in elements unless a comment says otherwise. */
#ifndef NDR_SPEC_PARAMS_H
#define NDR_SPEC_PARAMS_H

#define NDR_PARAM_AXES 32
#define NDR_PARAM_RESULTS 16

/* One axis of the walk. n / size is (n * magic) >> (32 + shift) for n < 2^31 (Granlund and Montgomery, 1994). */
typedef struct ndr_param_axis {
  long long size, stride;
  long long aux; /* kept: stride in the result; reduced: step of the flattened index */
  unsigned magic, shift;
} ndr_param_axis;

/* A launch covers `work` items: an item is one tile of outputs and one of the `splits` pieces of its reduced axes.
 * Item i is piece i / tile_count of tile i % tile_count: blocks that run together read neighbouring tiles. The words of
 * partial states lie word-major in `partials`: word w of slot s of output o is partials[(w * slots + s) * padded + o],
 * where slots s < splits hold the pieces, the following ones the sums of groups, and padded is tiles * tile_outputs. */
/* How a total becomes a result: std is the root of var; any and all ask whether a count is nonzero, and complete; valid
 * is what a count of NaN leaves of the length, and where there is no NaN the length. */
#define NDR_FINALIZE_PLAIN 0
#define NDR_FINALIZE_ROOT 1
#define NDR_FINALIZE_VALID 2
#define NDR_FINALIZE_LENGTH 3
#define NDR_FINALIZE_ANY 4 /* from here on the result is a bool */
#define NDR_FINALIZE_ALL 5

typedef struct ndr_params {
  const void *data;                /* element the walk starts at */
  void *result[NDR_PARAM_RESULTS]; /* where output 0 goes, by operator */
  unsigned *counters;              /* (groups + 1) a tile, all 0 between launches */
  unsigned long long *partials;
  long long outputs, length; /* outputs, and elements reduced into each */
  long long index_origin;
  long long padded, slots; /* see above */
  long long work, tile_count;
  long long tiles;        /* of the fastest axis: thread; of groups side by side: tile_narrow, tile_run_... */
  long long all_tiles;    /* thread, tile_narrow: those of all teams, of all warps */
  long long side_groups;  /* tile_narrow, tile_run_...: groups of outputs that lie side by side */
  long long units, piece; /* units a tile's reduction is counted in (vectors or rows), units a piece; tile_packets:
                           * packets an item */
  /* tree: runs an output, units a run; tile_packets: elements a row; tile_run_...: shares of a tile's columns, of which
   * each has all pieces, and elements a run */
  long long runs, run_units;
  double ddof;
  int finalize;              /* NDR_FINALIZE_... */
  float limit;               /* count: of elements beyond 0 (nonzero ones), or beyond infinity (NaN) */
  int splits, groups, group; /* pieces, groups of pieces, pieces a group */
  int tile_outputs;          /* of a block */
  int columns;               /* thread: outputs of a team */
  /* Threads that share an output (tree_lanes) or a column (thread), active ones (tile), columns (tile_run_...). */
  int lanes;
  int lane_log;   /* log2 of lanes, where that is a power of 2 */
  int lane_shift; /* tree_lanes: a lane has 1 << lane_shift packets an output; -1: not so regular */
  /* Threads that share: tree_runs, tree_strided: an output; thread: a tile; tile_triples: a group of outputs;
   * tile_run_...: an output when its columns are joined. And log2 of them. */
  int team, team_log;
  int segments; /* tree_block: pieces a run; tile_run_...: of a share */
  int kept_count, reduced_count;
  int period;      /* tile: outputs side by side */
  int small;       /* every decoded number is below 2^31 */
  int partial;     /* results are states: words of pitch `outputs` */
  int skew;        /* tile_narrow: starts of a warp's threads in their runs, */
  int skew_unit;   /* and how many elements these are apart */
  int room;        /* tile_columns: bytes of dynamic shared memory; tile_narrow: of a warp */
  int tile_groups; /* tile_narrow, tile_run_...: groups of outputs a tile */
  int group_axes;  /* tile_narrow, tile_run_...: kept axes over which groups lie side by side */
  int warp_tiles;  /* tile_narrow: tiles that a warp reads one after the other */
  /* Kept axes, then reduced axes, innermost first. tile_run_...: the reduced axis of the runs is one more, the last. */
  ndr_param_axis axes[NDR_PARAM_AXES];
} ndr_params;

/* Joining or finishing arrays of states: element k of the walk is from[locate(from)], to[locate(to)]. */
typedef struct ndr_states_params {
  const unsigned long long *from;
  void *to;
  long long from_pitch, to_pitch, count;
  double ddof;
  int finish; /* 0: to = join(to, from); else to = finish(from) */
  int axis_count;
  struct {
    long long size, from, to;
  } axes[NDR_PARAM_AXES];
} ndr_states_params;

#endif
