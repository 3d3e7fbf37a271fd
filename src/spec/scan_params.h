/* The argument of the kernels of scans (kernels/scan/scan.cuh), which are compiled at run time only. C code fills it
 * in. Counts and strides are in elements. */
#ifndef NDR_SPEC_SCAN_PARAMS_H
#define NDR_SPEC_SCAN_PARAMS_H

#include "params.h"

#define NDR_SCAN_ARRAYS (1 + NDR_PARAM_OPERANDS)

/* Threads of a block that scan. A few long lines have more, so that their tiles are larger and fewer tiles wait. Where
 * tiles wait for others, a block has one more warp, which finds what stands before them. */
#define NDR_SCAN_BLOCK 256
#define NDR_SCAN_LONG_BLOCK 384

/* Bytes in which memory is read and written. */
#define NDR_SCAN_SECTOR 32

/* Units of which one level of prefixes is made. */
#define NDR_SCAN_GROUP 8

/* Tiles in a group: of scan_lines by the words of a state, and of scan_columns. NDR_SCAN_UPPER_GROUP groups are a group
 * of groups, but not of scan_lines where states have up to NDR_SCAN_FEW_WORDS words: there groups are so large that
 * only prefixes are passed on from one to the next. */
#define NDR_SCAN_FEW_WORDS 4
#define NDR_SCAN_LINE_GROUP(words) ((words) == 1 ? 256 : (words) <= NDR_SCAN_FEW_WORDS ? 128 : 32)
#define NDR_SCAN_COLUMN_GROUP 16
#define NDR_SCAN_UPPER_GROUP 32

/* The most levels of what stands before a tile: two of its group, two of the group of groups, and a prefix. */
#define NDR_SCAN_LEVELS 5

/* Bytes of shared memory for a warp's `bytes` bytes of an array in scan_lines. Elements that are aligned to less than 4
 * bytes may begin up to 15 bytes behind a boundary of vectors; scan_moved permutes the vectors of 128 bytes, so it is
 * then a multiple of 128. */
#define NDR_SCAN_ROOM(bytes, alignment) ((alignment) >= 4 ? (bytes) : ((bytes) + 15 + 127) / 128 * 128)

/* Bytes of shared memory for a tile of scan_bands, and columns whose totals a block adds up. */
#define NDR_SCAN_BAND_ROOM(bytes) (((bytes) + 15) / 16 * 16)
#define NDR_SCAN_BAND_TOTALS 8

/* Bytes of shared memory for a tile of scan_streams, which begins up to 15 bytes behind a boundary of vectors. */
#define NDR_SCAN_STREAM_ROOM(bytes) (((bytes) + 15 + 15) / 16 * 16)

/* scan_shifted: columns that a strip of `width` sums, whose results have `bytes` bytes: as many as those that the next
 * strip may leave to it more. Vectors that a row of `bytes` bytes has in shared memory: it begins up to 15 bytes behind
 * a boundary of them, and an odd number lets rows begin in different banks. */
#define NDR_SCAN_SHIFT_COLUMNS(width, bytes) ((width) + NDR_SCAN_SECTOR / (bytes)-1)
#define NDR_SCAN_SHIFT_VECTORS(bytes) (((bytes) + 15 + 15) / 16 | 1)

/* Rooms of a block, for a tile each: the one that it writes, one before which it finds what stands, one whose total it
 * finds, and one that comes in. Where blocks have whole lines: the one at hand and the next. */
#define NDR_SCAN_TURNS 4
#define NDR_SCAN_TURNS_ALONE 2

/* Buffers for what the threads of a block that has whole lines exchange, states of `bytes` bytes: see scan_exchange. */
#define NDR_SCAN_BUFFERS(bytes) ((bytes) <= 64 ? 2 : 1)

/* A size to divide by, as in ndr_param_axis: n / size is (n * magic) >> (32 + shift) for n < 2^31; magic is 0 where
 * size is 1 or beyond. */
typedef struct ndr_scan_divisor {
  long long size;
  unsigned magic, shift;
} ndr_scan_divisor;

/* An axis of the lines, or one along which they run. Strides may be negative. */
typedef struct ndr_scan_param_axis {
  ndr_scan_divisor size;
  long long result;                  /* stride in the result */
  long long stride[NDR_SCAN_ARRAYS]; /* in each array */
  long long place[NDR_PARAM_PLACES]; /* steps of the place indices */
} ndr_scan_param_axis;

/* Lines run side by side or one after the other. An item is a tile, which a block scans. Where a line has several
 * tiles, each posts its total for those behind it. Items are numbered tile by tile, through all lines each time, so
 * that an item waits for smaller ones only. With NDR_SCAN_ALONE an item is a strip: a block scans all `tiles` tiles of
 * its columns, one after the other.
 *
 * The nodes of a line are numbered through: first its tiles, then its groups of tiles where these are in groups of
 * groups, then the prefixes of the largest groups. With NDR_SCAN_CHAIN there are prefixes of tiles only. Word w of the
 * total or prefix of node n of column c is in posted[((line * nodes + n) * words + w) * columns + c]. Slots are empty
 * before the launch.
 *
 * Of scan_streams `lines` are those that do not lie side by side. Line l of its lines times columns has a ring of
 * totals and boxes for what stands before tiles: see there.
 *
 * Of scan_bands an item is a chunk of all columns of a line, `tile` are a chunk's rows, and `tiles` the chunks of a
 * line; here `lines` are those that do not lie side by side. Word w of the total of chunk n of column c of line l is in
 * totals[((l * tiles + n) * words + w) * columns + c]. */
typedef struct ndr_scan_params {
  const void *data[NDR_SCAN_ARRAYS]; /* the elements that the walk starts at */
  void *result;                      /* where the first place of the first line goes */
  ndr_posted *posted;
  unsigned long long *totals;    /* scan_bands */
  unsigned long long *taken;     /* items that blocks have taken; NULL: each block has the item of its number; of
                                  * scan_streams taken[1] is how many blocks have begun */
  ndr_scan_divisor lines;        /* how many; of scan_columns: tiles of the same rows */
  ndr_scan_divisor length;       /* elements of a line */
  ndr_scan_divisor column_tiles; /* scan_columns: tiles that lie side by side */
  int items;                     /* tiles of all lines; with NDR_SCAN_ALONE strips */
  int tiles;                     /* of a line */
  long long nodes;               /* of a line; 0: nothing is posted */
  long long result_step;         /* NDR_SCAN_LONGER: from the place before a line's first to that */
  int tile_lines;                /* scan_lines: lines of a tile, if a tile has whole ones */
  int tile;                      /* elements of a tile, or of one of its columns; see NDR_SCAN_LEADS, too */
  int pass;                      /* scan_bands: see there */
  int keepers, ring;             /* scan_streams: blocks that keep what stands before tiles; a ring's 2^ring slots */
  int kept_count, scan_count;
  long long place_start[NDR_PARAM_PLACES]; /* place indices where the walk starts */
  union {
    double parameters[NDR_PARAM_NUMBERS];
    ndr_param_numbers numbers;
  };
  ndr_scan_param_axis axes[NDR_PARAM_AXES]; /* kept, then scanned, innermost first */
} ndr_scan_params;

/* What is known of a launch, as bits of a kernel's template argument: bit k says that the neighbours that array k has
 * in a tile lie side by side in memory. */
#define NDR_SCAN_FLAT_RESULT 0x100u /* so do those of the result */
#define NDR_SCAN_WHOLE 0x200u       /* tiles have whole lines, `tile_lines` of them */
#define NDR_SCAN_ONE_KEPT 0x400u    /* kept_count is at most 1 */
#define NDR_SCAN_ONE_AXIS 0x800u    /* scan_count is at most 1 */
#define NDR_SCAN_ALONE 0x1000u      /* scan_columns: blocks have whole columns */
#define NDR_SCAN_EXCLUSIVE 0x2000u  /* as in ndr_scan_problem */
#define NDR_SCAN_LONGER 0x4000u     /* likewise; only then may lines have no elements */
#define NDR_SCAN_CHAIN 0x8000u      /* each tile waits for the prefix that the one before it posts */
#define NDR_SCAN_NEAR 0x10000u      /* scan_columns: scan_count is 1, and rows are less than 2^31 bytes apart */
#define NDR_SCAN_ONE_START 0x20000u /* scan_lines, of whole lines: of a thread's elements at most one begins a line */

/* scan_lines: a tile of whole lines, or the first of a longer one, may begin with elements that are not its own, so
 * that it begins on a sector. A tile of whole lines is longer by these; the tiles of a longer one have room for them
 * and the line. There is one array; it and the result are flat; a thread has at least a sector of elements. */
#define NDR_SCAN_LEADS 0x40000u

#define NDR_SCAN_SHIFTED 0x80000u /* of family columns, with NDR_SCAN_ALONE: the kernel is scan_shifted */

#endif
