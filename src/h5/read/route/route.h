/* The three ways to read, one behind each route of reader.h. Boxes are not empty. */
#ifndef NDR_H5_READ_ROUTE_H
#define NDR_H5_READ_ROUTE_H

#include "h5/read/route/gather.h"
#include "h5/read/route/reader.h"

/* Bytes of an element as the file stores it. */
int64_t ndr_stored_bytes(const ndr_reader *reader);

double ndr_seconds(void);

/* Moves the unpacking from reading to later. Only for routes that can read elements as they are stored. */
void ndr_reader_defer(ndr_reader *reader);

/* Reads exactly `bytes` bytes of the file, or fails. */
ndr_status ndr_file_pread(const ndr_reader *reader, int64_t offset, int64_t bytes, char *to);

int64_t ndr_file_scratch_bytes(const ndr_reader *reader);
ndr_status ndr_file_set_up(const ndr_reader *reader, ndr_reader_scratch *scratch);
int64_t ndr_file_pieces(const ndr_reader *reader, ndr_box box, int64_t *task);
ndr_status ndr_file_read(const ndr_reader *reader, ndr_reader_scratch *scratch, ndr_box box, int64_t piece, void *data);

int64_t ndr_chunks_scratch_bytes(const ndr_reader *reader);
ndr_status ndr_chunks_set_up(const ndr_reader *reader, ndr_reader_scratch *scratch);
/* How many chunks a box touches along dim d. */
int64_t ndr_chunks_along(const ndr_reader *reader, ndr_box box, int d);
int64_t ndr_chunks_pieces(const ndr_reader *reader, ndr_box box, int64_t *task);
ndr_status ndr_chunks_read(const ndr_reader *reader, ndr_reader_scratch *scratch, ndr_box box, int64_t piece,
                           void *data);

/* A whole box at a time. */
ndr_status ndr_library_read(const ndr_reader *reader, ndr_reader_scratch *scratch, ndr_box box, void *data);

#endif
