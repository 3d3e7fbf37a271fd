/* See image.h. */
#include "h5/structure/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first extent that ends behind `at`. */
static size_t find(const ndr_image *image, int64_t at) {
  size_t low = 0, high = image->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const ndr_extent *extent = &image->extents[middle];
    if (extent->begin + extent->size <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool insert(ndr_image *image, size_t place, ndr_extent extent) {
  if (image->count == image->capacity) {
    size_t capacity = image->capacity ? 2 * image->capacity : 16;
    ndr_extent *more = realloc(image->extents, capacity * sizeof *more);
    if (!more) return false;
    image->extents = more;
    image->capacity = capacity;
  }
  for (size_t i = image->count++; i > place; i--) image->extents[i] = image->extents[i - 1];
  image->extents[place] = extent;
  return true;
}

bool ndr_image_add(ndr_image *image, int64_t begin, int64_t size, const char *bytes) {
  return insert(image, find(image, begin), (ndr_extent){begin, size, bytes, false, true});
}

/* Without memory the image does without. */
static void keep(ndr_image *image, size_t place, int64_t begin, int64_t size, const char *bytes, int64_t *room) {
  char *copy = malloc((size_t)size);
  if (!copy) return;
  memcpy(copy, bytes, (size_t)size);
  if (insert(image, place, (ndr_extent){begin, size, copy, true, false}))
    *room -= size;
  else
    free(copy);
}

static bool read_file(int fd, int64_t begin, int64_t size, char *to) {
  while (size > 0) {
    ssize_t got = pread(fd, to, (size_t)size, (off_t)begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) {
      memset(to, 0, (size_t)size);
      return true;
    }
    begin += got;
    size -= got;
    to += got;
  }
  return true;
}

bool ndr_image_read(ndr_image *image, int fd, int64_t begin, int64_t size, char *to, int64_t *room) {
  for (int64_t part; size > 0; begin += part, size -= part, to += part) {
    size_t place = find(image, begin);
    const ndr_extent *next = place < image->count ? &image->extents[place] : NULL;
    if (next && next->begin <= begin) {
      int64_t left = next->begin + next->size - begin;
      part = left < size ? left : size;
      memcpy(to, next->bytes + (begin - next->begin), (size_t)part);
      continue;
    }
    part = next && next->begin - begin < size ? next->begin - begin : size;
    if (!read_file(fd, begin, part, to)) return false;
    if (room && part <= *room) keep(image, place, begin, part, to, room);
  }
  return true;
}

void ndr_image_clear(ndr_image *image) {
  for (size_t i = 0; i < image->count; i++)
    if (image->extents[i].owned) free((void *)(uintptr_t)image->extents[i].bytes);
  free(image->extents);
  *image = (ndr_image){0, 0, NULL};
}
