/* The other files that a file leads to: those of external links, of external storage and of virtual datasets' sources.
 *
 * One is followed if it is a regular file that lies, symbolic links resolved, in the folder of the input (of the file
 * itself, where the input is a symbolic link) or below it, or anywhere if the caller has allowed that. HDF5 opens these
 * files by itself, when it reads, so each is looked for here first, where HDF5 looks and in its order, and stays open:
 * what HDF5 then finds is what has been checked. The sentences of failures lack their beginning, FILE:/PATH. */
#ifndef NDR_H5_FILE_LINKS_H
#define NDR_H5_FILE_LINKS_H

#include <sys/stat.h>

#include "h5/file/hdf.h"

/* What a file is to the input. */
typedef enum ndr_link_kind { NDR_LINK_INPUT, NDR_LINK_EXTERNAL, NDR_LINK_SOURCE, NDR_LINK_RAW } ndr_link_kind;

typedef struct ndr_links {
  char *folder;      /* with no symbolic link in it; NULL where every file is allowed */
  hid_t access;      /* what datasets are to be opened with */
  ndr_status status; /* what was wrong with an external link that HDF5 has met */
  int file_count;
  struct ndr_linked_file *files;
  int mapping_count;   /* of virtual datasets, looked at so far */
  int64_t chunk_bytes; /* the largest chunk that a source of a virtual dataset decodes */
  ndr_h5_structure *structure;
} ndr_links;

/* structure: what ranks share of the files, or NULL. */
ndr_status ndr_links_start(ndr_links *links, const char *file, bool anywhere, ndr_h5_structure *structure);
void ndr_links_end(ndr_links *links);

/* Whether the data of a dataset may be read: checks all other files that HDF5 would open for them. To be called before
 * H5Dget_space, which opens sources of virtual datasets. */
ndr_status ndr_links_check(ndr_links *links, hid_t dataset);

/* Whether `facts` are those of the input or of a file that it has led to so far, whatever its name; *kind says which.
 */
bool ndr_links_contain(const ndr_links *links, const struct stat *facts, ndr_link_kind *kind);

/* ---- Between links.c and sources.c ------------------------------------------------------------------------------ */

/* Opens the file that HDF5 would open for `name` in the file `parent`. *file is negative if there is none, else stays
 * open until ndr_links_end. */
ndr_status ndr_links_open(ndr_links *links, const char *parent, const char *name, ndr_link_kind kind, hid_t *file);

/* Whether a raw file of external storage may be read; its size in bytes. */
ndr_status ndr_links_permit_raw(ndr_links *links, const char *path, int64_t *bytes);

/* DIRECTORY/NAME, to be freed, where DIRECTORY is that of `file`, with or without its symbolic links. */
char *ndr_links_beside(const char *file, bool resolved, const char *name);

#endif
