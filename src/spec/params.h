/* The arguments of all kernels except ndr_convert's. C code fills them in, and CUDA code reads them, also when compiled
 * at run time, without standard headers. Counts and strides are in elements unless a comment says otherwise. */
#ifndef NDR_SPEC_PARAMS_H
#define NDR_SPEC_PARAMS_H

#define NDR_PARAM_AXES 32
#define NDR_PARAM_RESULTS 16

/* Rows of a split of 8- and 16-bit elements, at most, where threads own columns: their sums, and the squares of bytes,
 * fit in 32 bits. */
#define NDR_NARROW_ROWS 32768

/* States of one word that a thread loads at once to join them. */
#define NDR_JOIN_LOADS 4

/* How a total becomes a result. */
#define NDR_FINALIZE_PLAIN 0  /* the result is the total */
#define NDR_FINALIZE_ROOT 1   /* std: the square root of var */
#define NDR_FINALIZE_VALID 2  /* valid: the length less the number of NaN */
#define NDR_FINALIZE_LENGTH 3 /* valid of a dtype without NaN: the length */
#define NDR_FINALIZE_ANY 4    /* whether the number of nonzero elements is not 0; from here on the result is a bool */
#define NDR_FINALIZE_ALL 5    /* whether the number of nonzero elements is the length */

/* A slot for a word of a state, which one block posts for another. All its bytes are 0 while it is empty. */
typedef struct ndr_posted {
  unsigned long long half[2]; /* of the word, in the low 32 bits; the bit above them is set */
} ndr_posted;

/* An axis of the array. n / size is (n * magic) >> (32 + shift) for n < 2^31 (Granlund and Montgomery, 1994). */
typedef struct ndr_param_axis {
  long long size;
  long long stride; /* in the data */
  union {
    long long result_stride; /* kept axes: in the result */
    long long index_step;    /* reduced axes: of the flattened index */
  };
  unsigned magic; /* 0 where size is 1 or beyond 2^31 */
  unsigned shift;
} ndr_param_axis;

/* Of a number from 2 to 2^31 - 1: n / number is (n * magic) >> (32 + shift) for n < 2^31, as for an axis. magic is 0 of
 * other numbers, which are 1 or not divided by. If it is 1 and shift 0, every quotient is 0. */
typedef struct ndr_param_divisor {
  unsigned magic;
  unsigned shift;
} ndr_param_divisor;

/* A number of neighbouring threads that is a power of 2, and its log2. */
typedef struct ndr_param_threads {
  int count, log;
} ndr_param_threads;

/* ---- what one kernel reads, or several; each comment says what a unit is, in which splits are measured ---- */

/* tree_block: a block reads a split of a run, which is a contiguous stretch of reduced elements. Split s of an output
 * is split s % run_splits of run s / run_splits. Units are elements of a run. */
typedef struct ndr_param_tree_block {
  int runs;       /* runs of an output */
  int run_splits; /* splits of a run */
} ndr_param_tree_block;

/* tree_runs. Units are runs. */
typedef struct ndr_param_tree_runs {
  ndr_param_threads team;  /* threads that share an output */
  ndr_param_threads lanes; /* threads of a team that share a run */
} ndr_param_tree_runs;

/* tree_strided, tree_wide and tree_skip. Units are elements. */
typedef struct ndr_param_tree_strided {
  ndr_param_threads team; /* threads that share an output */
} ndr_param_tree_strided;

/* tree_lanes, which has no splits. */
typedef struct ndr_param_tree_lanes {
  ndr_param_threads lanes; /* threads that share an output */
  int vectors;             /* vectors of an output, the last one perhaps not whole */
  int lane_vectors_log;    /* log2 of a lane's vectors of an output, where all are whole and aligned; otherwise -1 */
} ndr_param_tree_lanes;

/* tree_listed, which has no splits: outputs of NDR_LISTED_ELEMENTS elements at most, wherever these lie. A thread reads
 * so many elements of so many outputs at once, fewer where elements or accumulators take more than 4 or 8 bytes. */
#define NDR_LISTED_ELEMENTS 1024
#define NDR_LISTED_OUTPUTS 4
#define NDR_LISTED_EACH 4

typedef struct ndr_param_tree_listed {
  ndr_param_threads lanes; /* threads of a warp that share an output */
} ndr_param_tree_listed;

/* thread_vectors, thread_shifted, thread_phased, thread_few, thread_spread and thread_elements: a column is an output
 * along the fastest axis. A team reads neighbouring columns of one combination of the other kept axes; a tile is what
 * the teams of a block read. Units are rows: combinations of the reduced axes. */
typedef struct ndr_param_thread {
  ndr_param_threads team;  /* threads that share columns */
  ndr_param_threads lanes; /* threads of a team that share a row; any number of them in thread_phased */
  int team_columns;        /* columns of a team */
  unsigned char parts;     /* thread_few: parts that a team's columns are cut into */
  /* thread_phased, whose blocks are one team each: */
  unsigned char phases;         /* rows after which the same phase comes again, along the walked axis: a power of 2 */
  unsigned char phase_step_log; /* log2 of the elements of which all differences between phases are multiples */
  unsigned char phase_inverse;  /* rows, modulo `phases`, after which a phase is larger by that step */
  int rows;                     /* rows that a team reads at a time: a multiple of `phases` */
  ndr_param_threads joiners;    /* threads that join the rows of a column */
  ndr_param_divisor lane_count; /* of lanes.count */
  /* thread_vectors, thread_shifted, thread_phased and thread_spread, where axes[0] stands for two, which merge in the
   * array but not in the result: */
  int inner;              /* outputs along the faster of the two; 0: there is one axis */
  long long outer_stride; /* of the slower one in the result */
  /* all: */
  ndr_param_divisor teams; /* of axis_teams, where numbers are small */
  long long axis_teams;    /* teams that the fastest axis takes */
  long long others;        /* combinations of the other kept axes */
  long long near_others;   /* of these, teams are numbered along so many first, then along the columns. 1: a team
                              writes its results; more: neighbouring threads write those of neighbouring teams */
} ndr_param_thread;

/* thread_spread: columns of a thread; rows that it loads at once, in NDR_LOADS_THREAD_SPREAD loads of 4 bytes or half
 * as many of 8; and the sizes of elements that it reads. Of 1 or 2 bytes a warp would read too few of a row, and an
 * element of 16 is a vector already. */
#define NDR_SPREAD_COLUMNS 4
#define NDR_SPREAD_ROWS(element_bytes) ((int)(NDR_LOADS_THREAD_SPREAD * 4 / NDR_SPREAD_COLUMNS / (element_bytes)))
#define NDR_CAN_SPREAD(element_bytes) ((element_bytes) == 4 || (element_bytes) == 8)

/* The most rows that thread_few takes; vectors that a thread of it loads at once, fewer of single bytes, whose columns
 * take many registers; and parts of a team's columns: as many as have all their rows loaded at once. */
#define NDR_FEW_ROWS 15
#define NDR_FEW_LOADS(element_bytes) ((element_bytes) == 1 ? 4 : NDR_LOADS_THREAD_FEW)
#define NDR_FEW_PARTS(rows, element_bytes)                                                                             \
  ((rows) < NDR_FEW_LOADS(element_bytes) ? NDR_FEW_LOADS(element_bytes) / (rows) : 1)

/* tile_columns and tile_columns3: dense rows of a few columns. Each column is an output. Units are rows. */
typedef struct ndr_param_rows {
  int columns;        /* columns of a row */
  long long run_rows; /* rows of a run: they lie densely one after the other */
  long long runs;     /* runs of an output */
} ndr_param_rows;

typedef struct ndr_param_tile_columns {
  ndr_param_rows rows;
  int active_threads; /* threads of a block that read; their vectors together hold a multiple of the columns */
  int smem_bytes;     /* bytes of dynamic shared memory of a block */
} ndr_param_tile_columns;

typedef struct ndr_param_tile_columns3 {
  ndr_param_rows rows;
  ndr_param_threads team; /* threads that share three outputs: a warp, or the block */
} ndr_param_tile_columns3;

/* A group is some neighbouring outputs. A run of a group is a contiguous stretch with run_length elements of each of
 * its outputs; tile_staged knows runs and groups with gaps, too. A tile is some groups that lie side by side. */
typedef struct ndr_param_groups {
  int outputs;          /* outputs of a group, along the fastest axis; 1 where that is reduced */
  int run_length;       /* elements that a run holds of an output */
  int side_axes;        /* kept axes along which groups lie side by side */
  int tile_groups;      /* groups of a tile */
  long long side;       /* groups that lie side by side */
  long long side_tiles; /* tiles that these groups take */
} ndr_param_groups;

/* From this many vectors a row on, tile_rows and tile_staged read dense rows of 8- and 16-bit elements by vectors,
 * wherever they begin. */
#define NDR_LONG_ROW_VECTORS 6

/* tile_rows, which has no splits: outputs are dense rows. A block has up to `rows` of them. */
typedef enum ndr_row_reading {
  NDR_ROWS_WHOLE,      /* a thread folds whole rows, element by element */
  NDR_ROWS_BY_ELEMENT, /* lanes fold single elements */
  NDR_ROWS_ALIGNED,    /* vectors: every row begins with one */
  NDR_ROWS_BY_VECTOR   /* vectors, and single elements at the ends */
} ndr_row_reading;

typedef struct ndr_param_tile_rows {
  int length;              /* elements of a row */
  int pitch;               /* from row to row */
  int rows;                /* of a block, at most */
  ndr_row_reading reading; /* of shared memory */
  ndr_param_threads lanes; /* threads that share a row */
} ndr_param_tile_rows;

/* tile_staged: groups of any strides that lie close together. Element e of output column c of a tile's group k lies
 * k * pitch + c * column_step + e * element_step behind the tile's first. A stage holds `piece` elements of each of a
 * tile's outputs; a tile of several groups has whole runs in a stage. Units are pieces of runs. */
typedef struct ndr_param_tile_staged {
  ndr_param_groups groups;
  ndr_param_threads members; /* threads that share an output: some of a warp, or the block */
  int pitch, element_step, column_step;
  int piece;
  int smem_bytes;        /* bytes of dynamic shared memory of a block */
  ndr_param_axis pieces; /* its size is the number of pieces of a run; the strides are not used */
} ndr_param_tile_staged;

/* tile_run_elements and tile_run_vectors: a column is one element, or one vector, of a run of one of the tile's groups.
 * The last vector of a run may reach beyond it. A row is one run of each group, and has one element, or one vector, in
 * each column. tile_run_dense: groups lie densely, and a column is a vector of the row. Split s of a tile is split s %
 * row_splits of its rows in split s / row_splits of its columns. Units are rows: combinations of the reduced axes,
 * except the axis of the runs. That axis follows the others in `axes` and is not counted by reduced_count. */
typedef struct ndr_param_tile_runs {
  ndr_param_groups groups;
  int row_threads;           /* threads that share a row: one for each column of a split */
  ndr_param_threads joiners; /* threads that join the columns of an output */
  int column_splits;         /* splits of a tile's columns */
  int row_splits;            /* splits of a tile's rows */
  int shifted;               /* vectors: whether they may begin off boundaries and end beyond their run or row */
} ndr_param_tile_runs;

/* tile_vectors, which has no splits. */
typedef struct ndr_param_tile_vectors {
  int row_length;   /* elements of an output's row */
  int item_vectors; /* vectors of an item */
} ndr_param_tile_vectors;

/* operands_runs: a run is a stretch of the first reduced axis, and is cut into pieces. Units are pieces. */
typedef struct ndr_param_operand_runs {
  ndr_param_threads team;  /* threads that share an output */
  ndr_param_threads lanes; /* threads of a team that share a piece */
  long long piece;         /* elements of a piece; the last one of a run may have fewer */
  ndr_param_axis pieces;   /* its size is the number of pieces of a run; the strides are not used */
} ndr_param_operand_runs;

/* operands_short: units are whole runs. operands_rows, which has no splits: an output has one run. */
typedef struct ndr_param_operand_short {
  ndr_param_threads team;  /* threads that share an output */
  ndr_param_threads lanes; /* threads of a team that share a run */
} ndr_param_operand_short;

/* table_columns: groups whose labels are scattered. The first reduced axis has the rows of all groups, and a table of
 * ints says which of them each group has:
 *   from 0 on               numbers of rows, in the order of their groups
 *   from tasks_at on        task t has the segments tasks[t] to tasks[t + 1] - 1
 *   from segments_at on     by segment two ints: where its rows end, and where its total goes: group number n, or slot
 *                           number -1 - n. Before them lies one that ends at 0. A segment begins where the one before
 *                           it ends, and has rows of one group.
 *   from joins_at on        by group with slots two ints: its number, and its first slot; behind them one more slot
 * A team of threads runs a task in a strip of neighbouring columns. Teams of less than a block have one row at a time,
 * unless they are warps. Slots have states of all columns: word w of slot s of column c is in the partial states as a
 * word of 8 bytes, at (w * slots + s) * padded + c. A second launch joins them and makes them 0 again. Where the other
 * reduced axes are cut into parts, part i of a segment has slot number n * parts + i. */
/* table_tiles: the same where labels lie along the fastest axis. A block copies a tile, at most `width` neighbouring
 * labels of a few outputs' rows, to shared memory, and has the states of the tile's groups there: those of all groups,
 * or, where tiles share no group, of the groups whose labels are in this tile. Lists of the table, as ints; int 0 says
 * from where on there are tasks, int 1 lanes, int 2 joins, and int 3 entries:
 *   from 8 on  by tile eight: its tasks begin, they end, its joins begin, they end, its first label, how many labels,
 *              its first group, how many groups. Groups in its lists are counted from its first
 *   tasks      by task: its entries begin, in units of 8 bytes. A task is a warp's
 *   lanes      by task and lane two: how many labels the lane has, and where its total goes: group number n, piece
 *              number -1 - n, or nowhere: INT_MIN
 *   joins      four: a group, and its pieces: the first, and behind the last; 0
 *   entries    by lane four labels, counted from the tile's first, of 16 bits each; then the next four of each lane.
 *              With NDR_WAYS_PAIRS by lane two labels, each with its group 16 bits higher; then the next two of each
 *              lane. Totals then go to these groups
 * A part is a range of the tiles of all combinations of the other reduced axes, which ndr_params.units counts: all
 * combinations of the first tile, then those of the second. Where parts are joined, word w of the state of a group in
 * part i of row r is at ((w * padded + r) * parts + i) * groups + group. */
typedef struct ndr_param_tiles {
  int tiles, width;
  int rows;             /* outputs of other kept axes of an item, whose states a block has */
  int step_rows;        /* outputs of them that a block adds up at a time; at most 64 */
  int row_threads_log;  /* log2 of the threads that copy a row */
  int groups;           /* of a tile, at most */
  int pieces;           /* of a tile, at most */
  long long row_blocks; /* sets of "rows" outputs */
  long long units;      /* combinations of the other reduced axes */
} ndr_param_tiles;

typedef struct ndr_param_table {
  union {
    ndr_param_thread thread; /* first: also read as ndr_params.thread */
    ndr_param_tiles tiles;
  };
  const int *table;
  int tasks_at, segments_at;
  int joins_at; /* -1: every group has its own number of slot */
  int tasks;
  int joins;            /* groups with slots */
  int joining;          /* whether this launch joins */
  int parts;            /* of the combinations of the other reduced axes, which are `units` */
  int join_lanes_log;   /* log2: columns that a block joins at a time; of table_tiles, lanes that join the parts of a
                           state */
  long long rows;       /* of a task, about */
  long long group_step; /* elements of the result from group to group */
} ndr_param_table;

/* How a kernel of several arrays reads array k: the NDR_WAY_BITS bits from NDR_WAY_BITS * k on of its template argument
 * WAYS. The lower two bits are one of the first four. */
#define NDR_WAY_BITS 4
#define NDR_WAY_ELEMENTS 0 /* element by element, with any stride along the fastest axis */
#define NDR_WAY_VECTOR 1   /* neighbouring elements with one load: the stride is 1 and the loads are aligned */
#define NDR_WAY_SAME 2     /* one element for all neighbours: the stride is 0 */
#define NDR_WAY_SHIFTED 3  /* neighbouring elements that begin anywhere, with two aligned loads */
#define NDR_WAY_FIXED 4    /* a bit: the stride along the walked axis is 0; operands_rows: along all kept axes */
#define NDR_WAY_AGAIN 8    /* a bit: other threads read the elements, too: the first-level cache keeps them */
#define NDR_WAY_OF(ways, k) ((ways) >> NDR_WAY_BITS * (k) & ((1 << NDR_WAY_BITS) - 1))
/* Bits of WAYS that concern all arrays. */
#define NDR_WAYS_TWICE 0x80000000u    /* twice as many bytes are in flight, where registers allow it */
#define NDR_WAYS_OWN_RUNS 0x40000000u /* operands_columns: each thread of a column reads runs of its own */
#define NDR_WAYS_WHOLE 0x20000000u    /* operands_rows, operands_short: each lane of a run has all of its chunks */
#define NDR_WAYS_PAIRS 0x10000000u    /* table_tiles: each label comes with its group, and is added to it alone */
/* Of the `steps` chunks of a run that a lane of these reads, those that all lanes have in any case. */
#define NDR_SURE_CHUNKS(steps) ((steps) > 4 ? (steps)-2 : (steps)-1)
/* Elements of an array that is the same for all outputs, up to which a lane of operands_rows keeps them. */
#define NDR_KEPT_ELEMENTS 16
/* Bytes of all arrays that a thread has in flight, where it reads `steps` chunks of a row, and the registers that they
 * may take. Single elements take half the registers that shifted ones do, so that there may be twice as many bytes. */
#define NDR_FLIGHT_BYTES(ways, steps) (((steps) > 1 ? 128 : 64) << (((ways)&NDR_WAYS_TWICE) != 0))
#define NDR_FLIGHT_REGISTERS 40

/* ---- the argument of every kernel that reduces ---- */

/* Outputs are cut into tiles, and the units of a tile into splits. An item is one split of one tile: item i is split
 * i / tile_count of tile i % tile_count, so that blocks that run together read neighbouring tiles. A block has one
 * item.
 *
 * The block with the last split of a tile waits for the other splits and joins them. If there are many, split groups
 * are joined first, each by the block with its last split, and then the groups. The partial states lie word-major in
 * `partials`: word w of slot s of output o is in partials[(w * slots + s) * padded + o]. Slots s < splits are those of
 * splits, the following ones those of groups.
 *
 * The order of the int fields matters: kernels load two that share 8 bytes together, and then hold both in registers.
 */
typedef struct ndr_params {
  /* Most of what a block reads before its first load comes first, then the axes: few lines of the constant cache, each
   * of which a block waits for about as long as for 20 instructions. */
  const void *data;                    /* the element that the walk starts at */
  long long units;                     /* units that a tile's splits are cut from */
  long long split_units;               /* units of a split; the last one may have fewer */
  long long tile_count;                /* tiles */
  ndr_param_divisor tiles;             /* of tile_count; where there are no splits every quotient is 0 */
  int splits;                          /* splits of a tile */
  unsigned char kept_count;            /* kept axes */
  unsigned char reduced_count;         /* reduced axes that are counted over */
  unsigned char small;                 /* whether outputs and length, and so all numbers to divide, are below 2^31 */
  unsigned char partial;               /* whether results are states; word w of output o is at w * outputs + o */
  ndr_param_axis axes[NDR_PARAM_AXES]; /* kept, then reduced, innermost first */
  union {
    ndr_param_tree_block tree_block;
    ndr_param_tree_runs tree_runs;
    ndr_param_tree_strided tree_strided;
    ndr_param_tree_lanes tree_lanes;
    ndr_param_tree_listed tree_listed;
    ndr_param_thread thread;
    ndr_param_tile_columns tile_columns;
    ndr_param_tile_columns3 tile_columns3;
    ndr_param_tile_rows tile_rows;
    ndr_param_tile_staged tile_staged;
    ndr_param_tile_runs tile_runs;
    ndr_param_tile_vectors tile_vectors;
    ndr_param_operand_runs operand_runs;
    ndr_param_operand_short operand_short;
    ndr_param_table table;
  };
  long long index_origin;          /* flattened index of the first of the reduced elements */
  long long work;                  /* number of items, of which a block of threads has one */
  void *result[NDR_PARAM_RESULTS]; /* where output 0 goes, by operator */
  long long outputs;               /* outputs of the problem */
  long long length;                /* elements that are reduced into each output */
  long long extent;                /* elements from `data` to behind the array's last one */
  double ddof;                     /* of var and std */
  float limit;                     /* count: 0 counts nonzero elements, infinity counts NaN */
  unsigned char finalize;          /* NDR_FINALIZE_... */
  int tile_outputs;                /* outputs of a tile; the last one may have fewer */
  int split_groups;                /* groups of splits of a tile */
  int group_splits;                /* splits of a group; the last one may have fewer */
  int turned;                      /* tree_listed, _runs, _strided. 1: a tile is the next tile_outputs outputs. More: it
                                      lies along axes[0]; tiles are numbered along so many combinations of the other
                                      kept axes first, then along axes[0], then along the next combinations */
  ndr_posted *partials;            /* partial states; all slots are empty between launches */
  long long slots;                 /* partial states of an output */
  long long padded;                /* outputs that the tiles have room for */
} ndr_params;

#define NDR_PARAM_NUMBERS 64
#define NDR_PARAM_NARROW 24
#define NDR_PARAM_OPERANDS 4
#define NDR_PARAM_PLACES 4

/* An array beside the first. */
typedef struct ndr_param_operand {
  const void *data;                 /* the element that the walk starts at */
  long long stride[NDR_PARAM_AXES]; /* along axes[a] of ndr_params; may be negative */
  long long extent;                 /* elements from `data` to behind the array's last one */
} ndr_param_operand;

/* A place index: `start` where the walk starts. */
typedef struct ndr_param_place {
  long long start;
  long long step[NDR_PARAM_AXES]; /* along axes[a] of ndr_params; may be negative */
} ndr_param_place;

/* Parameters of which the last are not used: the first ones rounded to f32, too. Instructions take those as they stand.
 */
typedef struct ndr_param_numbers {
  double parameters[NDR_PARAM_NUMBERS - NDR_PARAM_NARROW / 2];
  float narrow[NDR_PARAM_NARROW];
} ndr_param_numbers;

/* The argument of kernels of programs. Operators are given a reference to `base`, and cast it to reach the rest. */
typedef struct ndr_program_params {
  ndr_params base;
  union {
    double parameters[NDR_PARAM_NUMBERS];
    ndr_param_numbers numbers;
  };
  ndr_param_operand operands[NDR_PARAM_OPERANDS];
  ndr_param_place places[NDR_PARAM_PLACES];
} ndr_program_params;

/* What is known of a launch whose kernel is compiled at run time: its text defines NDR_FACTS as the sum of what holds.
 */
#define NDR_FACT_WHOLE_TILES 0x1u       /* splits is 1 */
#define NDR_FACT_ONE_STEP 0x2u          /* split_groups is 1 */
#define NDR_FACT_RESULTS 0x4u           /* partial is 0 */
#define NDR_FACT_SMALL 0x8u             /* small is 1 */
#define NDR_FACT_NONE_KEPT 0x10u        /* kept_count is 0 */
#define NDR_FACT_ONE_KEPT 0x20u         /* kept_count is 1 */
#define NDR_FACT_NONE_REDUCED 0x40u     /* reduced_count is 0 */
#define NDR_FACT_ONE_REDUCED 0x80u      /* reduced_count is 1 */
#define NDR_FACT_FAR_OTHERS 0x100u      /* kernels with teams: thread.near_others is 1 */
#define NDR_FACT_ROWS 0x200u            /* tile_staged: groups.outputs is 1 */
#define NDR_FACT_UNITS 0x400u           /* tile_staged: units is not 1 */
#define NDR_FACT_ONE_UNIT 0x800u        /* tile_staged: units is 1; operands_runs: split_units is 1 */
#define NDR_FACT_SHIFTED 0x2000u        /* tile_run_vectors, _dense: tile_runs.shifted is not 0 */
#define NDR_FACT_ALIGNED 0x4000u        /* tile_run_vectors, _dense: tile_runs.shifted is 0 */
#define NDR_FACT_FEW_ROWS 0x10000u      /* thread_few: times `length`, which is below 16 */
#define NDR_FACT_ROW_LANES 0x10000u     /* operands_rows: times 1 + lanes.log */
#define NDR_FACT_BLOCK_TEAMS 0x100000u  /* kernels with teams, operands_runs: a team is a block */
#define NDR_FACT_WARP_LANES 0x200000u   /* kernels with teams: a warp shares a row */
#define NDR_FACT_BLOCK_LANES 0x400000u  /* operands_runs: a block shares a run */
#define NDR_FACT_WHOLE_CHUNKS 0x800000u /* operands_columns: rows are whole chunks */
#define NDR_FACT_LONG_RUNS 0x1000000u   /* tree_lanes: lane_vectors_log is below 0 */
#define NDR_FACT_UNMAPPED 0x2000000u    /* kernels with teams: thread.inner is 0 */

/* Joins or finishes arrays of states. Element k of the walk over `axes` is at the sum of index * from in `from`, and of
 * index * to in `to`; words of a state are from_pitch and to_pitch apart. */
typedef struct ndr_states_params {
  const unsigned long long *from;
  void *to;
  long long from_pitch, to_pitch, count;
  double ddof;
  int finish; /* 0: to = join(to, from); otherwise to = finish(from) */
  int axis_count;
  struct {
    long long size, from, to;
  } axes[NDR_PARAM_AXES];
} ndr_states_params;

/* The same of a program's states, which a kernel of its own finishes. */
typedef struct ndr_program_states_params {
  ndr_states_params base;
  double parameters[NDR_PARAM_NUMBERS];
} ndr_program_states_params;

#endif
