/* The paths of datasets that several hard links lead to. */
#ifndef NDR_H5_FIND_HARD_LINKS_H
#define NDR_H5_FIND_HARD_LINKS_H

#include "h5/file/hdf.h"

typedef struct ndr_hard_link {
  char *path;
  ndr_hdf_object object;
} ndr_hard_link;

/* Links of one object are next to each other: those in the fewest groups first, then by name. */
typedef struct ndr_hard_links {
  int count;
  ndr_hard_link *all;
} ndr_hard_links;

/* Finds the links of all such datasets of a file. A group counts by one path, even if it has several. To be freed even
 * after a failure; *links is zeroed before. A link whose object cannot be read is passed over. False if a group cannot
 * be read, or memory is short. */
bool ndr_hard_links_find(hid_t file, ndr_hard_links *links);
void ndr_hard_links_free(ndr_hard_links *links);

/* The first of the links of an object, and how many there are; NULL if there are none. */
const ndr_hard_link *ndr_hard_links_of(const ndr_hard_links *links, const ndr_hdf_object *object, int *count);

#endif
