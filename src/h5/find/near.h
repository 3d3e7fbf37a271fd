/* Names that a mistyped one may have meant. */
#ifndef NDR_H5_FIND_NEAR_H
#define NDR_H5_FIND_NEAR_H

#include "h5/file/hdf.h"

enum { NDR_NEAR_NAMES = 3 };

/* The nearest names so far, nearest first. Start with only `wanted` set; end with ndr_near_clear. */
typedef struct ndr_near {
  const char *wanted;
  int count;
  char *names[NDR_NEAR_NAMES];
  int slips[NDR_NEAR_NAMES];
} ndr_near;

/* Takes a copy of a name that is near enough; without memory for it, the name is left out. */
void ndr_near_offer(ndr_near *near, const char *name);
void ndr_near_clear(ndr_near *near);

/* Writes "; did you mean A, B?" with the paths near one that leads nowhere, cut at the first name that is wrong; "" if
 * none is near. */
void ndr_near_paths(hid_t file, hid_t access, const char *path, char *text, size_t capacity);

/* The same for the fields of a compound type. False if there is a field of that name, or they cannot be read. */
bool ndr_near_fields(hid_t type, const char *field, char *text, size_t capacity);

#endif
