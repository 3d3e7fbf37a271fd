/* The filters of a chunk undone outside HDF5's lock, in bounded memory, whatever the stored bytes are. */
#ifndef NDR_H5_CODEC_DECODE_H
#define NDR_H5_CODEC_DECODE_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndreduce/ndreduce.h"

enum { NDR_FILTERS_MAX = H5Z_MAX_NFILTERS, NDR_FILTER_VALUES = 16 };

/* One filter of a dataset's pipeline, as its creation property list says. */
typedef struct ndr_filter {
  H5Z_filter_t id;
  unsigned flags;
  size_t value_count; /* may be larger than NDR_FILTER_VALUES: then the others are not kept */
  unsigned values[NDR_FILTER_VALUES];
  char name[32]; /* what it is called here, or "filter NUMBER" */
} ndr_filter;

/* In the order in which they were applied. */
typedef struct ndr_filters {
  int count;
  ndr_filter all[NDR_FILTERS_MAX];
} ndr_filters;

/* What a filter of that number is called here; NULL for one that has no name. */
const char *ndr_filter_name(H5Z_filter_t id);

/* The library that this build lacks to undo the filter; NULL if it lacks none, or there is none. */
const char *ndr_filter_library(H5Z_filter_t id);

/* Whether a filter only rounds when it writes, so that undoing it does nothing, whatever its parameters. */
bool ndr_filter_is_rounding(H5Z_filter_t id);

/* Reads the pipeline. To be called inside the lock. */
ndr_status ndr_filters_read(hid_t creation, ndr_filters *filters);

/* Whether every filter can be undone here. If not, *unknown (unless unknown is NULL) is the name of one that cannot,
 * kept in *filters, and the data have to come through H5Dread. */
bool ndr_filters_known(const ndr_filters *filters, const char **unknown);

/* Undoes the filters of chunks that have chunk_bytes bytes decoded; for one thread at a time. */
typedef struct ndr_decoder ndr_decoder;

/* For filters that are known: the memory that a decoder and the libraries below it take, and the most stored bytes that
 * a chunk may claim (more of them can only be nonsense, and a decoder refuses them). */
size_t ndr_decoder_bytes(const ndr_filters *filters, size_t chunk_bytes);
size_t ndr_decoder_stored_limit(const ndr_filters *filters, size_t chunk_bytes);

/* Fails with NDR_ERR_UNSUPPORTED where the filters are not known, else only with NDR_ERR_MEMORY. Keeps no pointer to
 * filters. */
ndr_status ndr_decoder_create(ndr_decoder **decoder, const ndr_filters *filters, size_t chunk_bytes);

/* Undoes the filters, the last one first, without those whose bit is set in mask (bit i: filters->all[i], as
 * H5Dread_chunk gives it). Writes chunk_bytes bytes to out, which may be uninitialised, must not overlap stored, and is
 * undefined after a failure; stored is left as it is. Fails with NDR_ERR_FILE and a sentence without a place
 * ("deflate: the stream is damaged"), or with NDR_ERR_MEMORY where a library is out of memory. */
ndr_status ndr_decoder_run(ndr_decoder *decoder, const void *stored, size_t stored_bytes, uint32_t mask, void *out);

void ndr_decoder_destroy(ndr_decoder *decoder);

#endif
