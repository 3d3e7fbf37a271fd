/* Bytes of one file that have been read, so that they need not be read again, here or by another rank. Knows nothing of
 * what they mean. */
#ifndef NDR_H5_STRUCTURE_IMAGE_H
#define NDR_H5_STRUCTURE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ndr_extent {
  int64_t begin, size;
  const char *bytes;
  bool owned;  /* to be freed; else they are part of what has been received */
  bool shared; /* the other ranks have it */
} ndr_extent;

/* Extents in the order of the file, which do not overlap. Starts as zeros. */
typedef struct ndr_image {
  size_t count, capacity;
  ndr_extent *extents;
} ndr_image;

/* Adds the bytes, which must outlive the image; false if there is no memory. None of them may be there. */
bool ndr_image_add(ndr_image *image, int64_t begin, int64_t size, const char *bytes);

/* Reads `size` bytes from `begin` on: those that the image has from there, the others from the file `fd`; beyond its
 * end are zeros. The image then keeps what it lacked, if *room has that many bytes, and *room becomes smaller; NULL: it
 * keeps nothing. On failure errno says why. */
bool ndr_image_read(ndr_image *image, int fd, int64_t begin, int64_t size, char *to, int64_t *room);

void ndr_image_clear(ndr_image *image);

#endif
