/* See heap.h. Only checks: HDF5 reads the elements. */
#include "h5/bytes/heap.h"

#include <stdlib.h>
#include <string.h>

/* A collection is read once if elements follow each other, as HDF5 writes them. A file that needs more reading than
 * this is taken for damaged. */
#define MOST_BYTES ((uint64_t)256 << 20)
#define ABSENT UINT64_MAX

/* The collection looked at last. */
typedef struct {
  ndr_raw *raw;
  uint64_t address, read;
  uint64_t *sizes; /* of its objects, by index; `room` of them */
  uint64_t room;
} collection;

/* A collection begins with a signature, a version, three bytes and its length. Each object begins with its index, a
 * count of references, four bytes and its length. All are padded to multiples of 8. Index 0 is free space, and its
 * length includes this head; a rest that is too short for a head is free, too. */
static size_t head_bytes(const ndr_raw *raw) {
  return (8 + raw->length_bytes + 7) / 8 * 8;
}

/* Makes room for the sizes up to an index. Indices go up from 1 and most collections have few objects; a table of all
 * 65,536 would be filled for each text of a file. */
static bool make_room(collection *c, uint64_t index) {
  uint64_t room = c->room ? c->room : 64;
  while (room <= index) room *= 2;
  uint64_t *sizes = realloc(c->sizes, room * sizeof *sizes);
  if (!sizes) {
    c->raw->failed = !ndr_hdf_noted(sizes);
    return false;
  }
  memset(sizes + c->room, 0xff, (room - c->room) * sizeof *sizes);
  c->sizes = sizes;
  c->room = room;
  return true;
}

static bool find_objects(collection *c, const uint8_t *bytes, uint64_t count) {
  size_t head = head_bytes(c->raw), at = head;
  while (count - at >= head) {
    uint64_t index = ndr_raw_number(bytes + at, 2), size = ndr_raw_number(bytes + at + 8, c->raw->length_bytes);
    if (size > count - at) return false;
    uint64_t whole = index ? head + (size + 7) / 8 * 8 : size;
    if (whole < head || whole > count - at) return false;
    if (index >= c->room && !make_room(c, index)) return false;
    if (index) c->sizes[index] = size;
    at += whole;
  }
  return true;
}

static bool load(collection *c, uint64_t address) {
  uint8_t start[16];
  size_t head = head_bytes(c->raw);
  if (c->address == address) return true;
  c->address = ABSENT;
  if (c->room) memset(c->sizes, 0xff, c->room * sizeof *c->sizes);
  if (!ndr_raw_read(c->raw, address, start, head) || memcmp(start, "GCOL\1", 5) != 0) return false;
  uint64_t count = ndr_raw_number(start + 8, c->raw->length_bytes);
  if (count < head || count > MOST_BYTES - c->read) return false;
  c->read += count;
  uint8_t *bytes = ndr_hdf_noted(malloc(count));
  if (!bytes) c->raw->failed = true;
  bool good = bytes && ndr_raw_read(c->raw, address, bytes, count) && find_objects(c, bytes, count);
  free(bytes);
  if (good) c->address = address;
  return good;
}

/* An element has its length, the collection's address and the object's index. */
static bool holds_all(collection *c, const ndr_message *message) {
  size_t address_bytes = c->raw->address_bytes;
  uint64_t unit = ndr_raw_number(message->type + 12, 4);
  for (uint64_t i = 0; i < message->count; i++) {
    const uint8_t *element = message->data + i * message->element_bytes;
    uint64_t length = ndr_raw_number(element, 4), address = ndr_raw_number(element + 4, address_bytes);
    uint64_t index = ndr_raw_number(element + 4 + address_bytes, 4);
    if (length == 0 || address == 0) continue;
    if (!load(c, address) || index == 0 || index >= c->room || c->sizes[index] != length * unit) return false;
  }
  return true;
}

/* Types of later versions are of a later HDF5, which checks for itself. */
bool ndr_heap_holds(ndr_raw *raw, const ndr_message *message) {
  if (!message->data || (message->type[0] & 15) != H5T_VLEN || message->type[0] >> 4 > 3) return true;
  if (message->element_bytes != 8 + raw->address_bytes) return false;
  collection c = {raw, ABSENT, 0, NULL, 0};
  bool good = holds_all(&c, message);
  free(c.sizes);
  return good;
}
