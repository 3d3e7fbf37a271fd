/* The three ways to read, one behind each route of reader.h. Boxes are not empty. */
#ifndef NDR_H5_ROUTE_H
#define NDR_H5_ROUTE_H

#include "h5/gather.h"
#include "h5/reader.h"

/* Bytes of an element as the file stores it. */
int64_t ndr_stored_bytes(const ndr_reader *reader);

double ndr_seconds(void);

/* Leaves elements as they are stored, what they mean to the device; for the routes that read them so. */
void ndr_reader_leave(ndr_reader *reader);

/* Reads so many bytes of the file, or fails. */
ndr_status ndr_file_pread(const ndr_reader *reader, int64_t offset, int64_t bytes, char *to);

int64_t ndr_file_scratch(const ndr_reader *reader);
ndr_status ndr_file_set_up(const ndr_reader *reader, ndr_bench *bench);
int64_t ndr_file_pieces(const ndr_reader *reader, ndr_box box, int64_t *task);
ndr_status ndr_file_read(const ndr_reader *reader, ndr_bench *bench, ndr_box box, int64_t piece, void *data);

int64_t ndr_chunks_scratch(const ndr_reader *reader);
ndr_status ndr_chunks_set_up(const ndr_reader *reader, ndr_bench *bench);
/* The chunks that a box touches along dim d: from first, so many. */
int64_t ndr_chunks_along(const ndr_reader *reader, ndr_box box, int d, int64_t *first);
int64_t ndr_chunks_pieces(const ndr_reader *reader, ndr_box box, int64_t *task);
ndr_status ndr_chunks_read(const ndr_reader *reader, ndr_bench *bench, ndr_box box, int64_t piece, void *data);

/* A whole box at a time. */
ndr_status ndr_library_read(const ndr_reader *reader, ndr_bench *bench, ndr_box box, void *data);

#endif
