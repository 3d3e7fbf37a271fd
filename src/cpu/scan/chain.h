/* Blocks of one line, or of a tile of lines, in several threads: each block is scanned by itself, takes the words that
 * stand before it, passes on those behind it, and then writes its results. Blocks are begun in their order, so that the
 * block before is under way. Where its thread has lost its core for longer than a block takes, the one that waits
 * computes the words in its place, and both go on. */
#ifndef NDR_CPU_SCAN_CHAIN_H
#define NDR_CPU_SCAN_CHAIN_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct ndr_scan_chain {
  atomic_int *states; /* of the words before each block; then those behind the last */
  unsigned char *words;
  int64_t bytes; /* of the words before a block */
} ndr_scan_chain;

/* Computes the words behind a block from those before it. */
typedef void ndr_scan_help(void *context, int64_t block, const void *before, void *after);

/* Bytes of memory that a chain of `blocks` blocks takes, a multiple of 64. */
int64_t ndr_scan_chain_bytes(int64_t blocks, int64_t bytes);

/* The chain in that memory, and its beginning anew: then the first `bytes` of `words` are to be written. */
ndr_scan_chain ndr_scan_chain_at(char *memory, int64_t blocks, int64_t bytes);
void ndr_scan_chain_begin(const ndr_scan_chain *chain, int64_t blocks);

/* The words before a block, once they are there. help may be NULL; else it is called where they do not come. */
const void *ndr_scan_chain_take(const ndr_scan_chain *chain, int64_t block, ndr_scan_help *help, void *context,
                                void *spare);

/* Passes on the words behind a block, unless that has been done in its place. */
void ndr_scan_chain_pass(const ndr_scan_chain *chain, int64_t block, const void *after);

#endif
