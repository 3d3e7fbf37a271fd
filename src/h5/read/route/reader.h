/* How the elements of a dataset get from its file into memory, by the fastest way that its layout allows:
 *   file     contiguous data: pread from where they are in the file
 *   chunks   chunks as they are stored, unfiltered outside HDF5's lock
 *   library  H5Dread, for all else
 * A box of elements is read in pieces, which threads may do at the same time, each with its own scratch. */
#ifndef NDR_H5_READ_READER_H
#define NDR_H5_READ_READER_H

#include "h5/codec/decode.h"
#include "h5/read/route/chunk_table.h"

typedef enum ndr_route { NDR_ROUTE_FILE, NDR_ROUTE_CHUNKS, NDR_ROUTE_LIBRARY } ndr_route;

typedef struct ndr_reader {
  const ndr_h5_dataset *dataset;
  ndr_unpack unpack;   /* what reading does to elements */
  ndr_unpack deferred; /* what is done to them later: by the GPU, or by the thread that reduces a leaf */
  ndr_route route;
  const char *reason;          /* why not a faster one; words or a filter's name, "" where there is none */
  int fd;                      /* HDF5's own, so that it is the file that was checked */
  int64_t address, file_bytes; /* of the first element, and of the file, for NDR_ROUTE_FILE */
  int64_t span;                /* the most bytes of the file that are read at once, for NDR_ROUTE_FILE */
  ndr_filters filters;
  bool bare_edges; /* chunks that reach over the edge were stored unfiltered */
  int64_t chunk_bytes;
  int64_t table_bytes;           /* the most for a table of the chunks */
  ndr_chunk_table *table;        /* made by the first thread that reads, for NDR_ROUTE_CHUNKS; NULL: never */
  hid_t memory_type;             /* for NDR_ROUTE_LIBRARY */
  unsigned char fill[16];        /* the value of elements that were never written, as reading leaves it */
  unsigned char stored_fill[16]; /* the same, as H5Dread would deliver it */
  bool shuffled;                 /* chunks have their bytes shuffled, element by element, before any other filter */
  bool hands_on; /* whole chunks can be handed on, and it saves work: `whole` may be set before the first read */
  bool whole;    /* boxes are read as all chunks that they touch, one after the other, still shuffled if they are */
} ndr_reader;

/* The buffers of one thread that reads. Seconds and bytes add up over all that it has read. */
typedef struct ndr_reader_scratch {
  const ndr_reader *reader; /* that it is set up for */
  ndr_decoder *decoder;
  void *stored, *raw;
  bool holds; /* raw is the decoded chunk at held[], for parts of it that are read later */
  uint64_t held[NDR_MAX_DIMS];
  double read_seconds, decode_seconds, unpack_seconds;
  int64_t stored_bytes;
} ndr_reader_scratch;

/* A box in the dataset's (selected) coordinates. */
typedef struct ndr_box {
  const int64_t *begin, *size;
} ndr_box;

/* Chooses the route for a budget of `memory` bytes. as_f64: elements become f64 whatever they are. defer: elements are
 * read as they are stored and unpacked later, unless only HDF5 can read them. Close it even if that fails. */
ndr_status ndr_reader_open(ndr_reader *reader, const ndr_h5_dataset *dataset, bool as_f64, bool defer, int64_t memory);
void ndr_reader_close(ndr_reader *reader);

/* The memory that `threads` threads need for reading, besides the boxes. */
int64_t ndr_reader_scratch_bytes(const ndr_reader *reader, int threads);

/* In how many pieces a box is read, and how many of them are worth a thread's task. */
int64_t ndr_reader_pieces(const ndr_reader *reader, ndr_box box, int64_t *task);

/* The bytes that reading a box writes. */
int64_t ndr_reader_bytes(const ndr_reader *reader, ndr_box box);

/* Whether boxes must be unpacked after they are read, and how a box is to be unpacked then. */
bool ndr_reader_defers(const ndr_reader *reader);
ndr_stored ndr_reader_deferred(const ndr_reader *reader, ndr_box box);

/* Reads a piece into its place in `data`, the compact row-major box, or under `whole` the chunks. Failures start with
 * FILE:/PATH. Thread-safe for different scratches. */
ndr_status ndr_reader_read(const ndr_reader *reader, ndr_reader_scratch *scratch, ndr_box box, int64_t piece,
                           void *data);

void ndr_reader_scratch_clear(ndr_reader_scratch *scratch);

#endif
