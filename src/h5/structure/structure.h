/* What a rank knows of the bytes that files have beside the elements that are reduced: superblocks, headers, indices of
 * chunks, coordinates. Rank 0 reads them, and keeps what it has read; the others have what rank 0 has handed them
 * (ranks/share.c), and read what they lack. On each rank the structure belongs to the thread that makes the collective
 * calls; while files are open, it is used inside HDF5's lock. */
#ifndef NDR_H5_STRUCTURE_STRUCTURE_H
#define NDR_H5_STRUCTURE_STRUCTURE_H

#include "h5/structure/image.h"
#include "ndreduce/h5_dataset.h"

/* What tells two files, or two states of one, apart. A file that several machines see has one inode and one set of
 * times; a copy has its own, and only size and checksum can agree. */
typedef struct ndr_file_facts {
  int64_t bytes, inode, modified, changed; /* times in nanoseconds */
  uint64_t check;                          /* of the first and last 4 KiB */
} ndr_file_facts;

typedef struct ndr_structure_file {
  char *name; /* by which it is opened */
  ndr_file_facts facts;
  ndr_image image;
  bool known;     /* facts are those of the file here, which on other ranks is rank 0's */
  bool announced; /* on rank 0: the others have heard of it */
} ndr_structure_file;

struct ndr_h5_structure {
  ndr_comm *comm;
  bool opening;                        /* on rank 0: elements that HDF5 reads are kept, too, as those of coordinates */
  int64_t room;                        /* bytes that may still be kept */
  int file_count, file_capacity, last; /* last: the file that was looked up last */
  ndr_structure_file **files;
  int letter_count; /* on other ranks: what has come from rank 0 */
  unsigned char **letters;
};

/* How many bytes rank 0 keeps at most. Set only by tests. */
extern int64_t ndr_structure_bytes;

/* The file of that name; with `add` a new one if there is none. NULL: there is none, or no memory. */
ndr_structure_file *ndr_structure_find(ndr_h5_structure *structure, const char *name, bool add);

/* What is known of a file that has been opened as `fd`. NULL where it must be read as if there were no structure: it is
 * not the file that rank 0 has opened, or has changed since, or there is no memory. */
ndr_structure_file *ndr_structure_enter(ndr_h5_structure *structure, const char *name, int fd);

/* The size of a file and a checksum of its first and last bytes, without reading it if they are known; size -1 where it
 * cannot be opened. structure may be NULL. */
void ndr_structure_sum(ndr_h5_structure *structure, const char *name, int64_t *bytes, uint64_t *check);

/* Call on opening a dataset: what is read until the next call of ndr_h5_structure_share is for all ranks, also
 * elements, as those of coordinates. */
void ndr_structure_opens(ndr_h5_structure *structure);

#endif
