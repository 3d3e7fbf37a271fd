/* Object headers as HDF5's file format specification has them: messages, in blocks that lead to each other; version 1
 * and 2 differ in what is before a message. All numbers are little-endian, and none is trusted. */
#include "h5/header.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BLOCKS = 64, MOST_BYTES = 1 << 20, MOST_NAME = 256, START = 64 };
enum { MESSAGE_ATTRIBUTE = 0x0c, MESSAGE_CONTINUATION = 0x10, MESSAGE_ATTRIBUTE_INFO = 0x15 };
enum { FLAG_SHARED = 2 };

typedef struct {
  uint64_t address, bytes;
} block;

typedef struct {
  int fd;
  uint64_t base; /* of addresses, in the file */
  size_t address_bytes, length_bytes;
  int version;
  bool ordered; /* messages have the order of their creation */
  int block_count;
  block blocks[MOST_BLOCKS];
  ndr_header_visitor visit;
  void *user;
  bool stopped, complete;
} walk;

static uint64_t number(const uint8_t *bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = count < 8 ? count : 8; i > 0; i--) value = value << 8 | bytes[i - 1];
  return value;
}

static bool read_bytes(const walk *w, uint64_t address, void *bytes, size_t count) {
  uint64_t at;
  return !__builtin_add_overflow(w->base, address, &at) && at <= INT64_MAX &&
         pread(w->fd, bytes, count, (off_t)at) == (ssize_t)count;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

/* The name's length is behind the version and a byte; the name behind its length and those of type and dataspace, and
 * in version 3 the name's encoding. */
static void take_attribute(walk *w, const uint8_t *data, size_t bytes, unsigned flags) {
  char name[MOST_NAME];
  size_t start = bytes > 0 && data[0] == 3 ? 9 : 8;
  size_t length = bytes > start ? number(data + 2, 2) : 0;
  if (flags & FLAG_SHARED || length < 2 || length > bytes - start || length > sizeof name ||
      memchr(data + start, 0, length) != data + start + length - 1) {
    w->complete = false;
    return;
  }
  memcpy(name, data + start, length);
  w->stopped = w->visit(w->user, name) != 0;
}

static void take_continuation(walk *w, const uint8_t *data, size_t bytes) {
  if (bytes < w->address_bytes + w->length_bytes || w->block_count == MOST_BLOCKS) {
    w->complete = false;
    return;
  }
  w->blocks[w->block_count++] =
      (block){number(data, w->address_bytes), number(data + w->address_bytes, w->length_bytes)};
}

/* Where it has the address of a heap, attributes lie there. */
static void take_attribute_info(walk *w, const uint8_t *data, size_t bytes) {
  size_t at = bytes > 1 && data[1] & 1 ? 4 : 2;
  bool heap = bytes < at + w->address_bytes;
  for (size_t i = 0; !heap && i < w->address_bytes; i++) heap = data[at + i] != 0xff;
  if (heap) w->complete = false;
}

static void take_messages(walk *w, const uint8_t *data, size_t bytes) {
  const bool first = w->version == 1;
  const size_t head = first ? 8 : w->ordered ? 6 : 4;
  for (size_t at = 0; bytes - at >= head && !w->stopped;) {
    const uint8_t *message = data + at;
    unsigned type = first ? (unsigned)number(message, 2) : message[0];
    size_t length = number(message + (first ? 2 : 1), 2);
    unsigned flags = first ? message[4] : message[3];
    at += head;
    if (length > bytes - at) {
      w->complete = false;
      return;
    }
    if (type == MESSAGE_ATTRIBUTE) take_attribute(w, data + at, length, flags);
    if (type == MESSAGE_CONTINUATION) take_continuation(w, data + at, length);
    if (type == MESSAGE_ATTRIBUTE_INFO) take_attribute_info(w, data + at, length);
    at += length;
  }
}

/* ---- Blocks ----------------------------------------------------------------------------------------------------- */

/* The first block, from what the header starts with. */
static bool find_first(walk *w, uint64_t address) {
  uint8_t start[START] = {0};
  if (!read_bytes(w, address, start, 16)) return false;
  w->block_count = 1;
  if (start[0] == 1) {
    w->version = 1;
    w->blocks[0] = (block){address + 16, number(start + 8, 4)};
    return true;
  }
  if (memcmp(start, "OHDR\2", 5) != 0 || !read_bytes(w, address, start, 34)) return false;
  unsigned flags = start[5];
  size_t width = (size_t)1 << (flags & 3), at = 6;
  w->version = 2;
  w->ordered = flags & 4;
  if (flags & 0x20) at += 16; /* times */
  if (flags & 0x10) at += 4;  /* when attributes move to a heap, and back */
  w->blocks[0] = (block){address + at + width, number(start + at, width)};
  return true;
}

/* A later block of version 2 is between a signature and a checksum. */
static bool take_block(walk *w, int i) {
  block b = w->blocks[i];
  size_t around = i > 0 && w->version == 2 ? 4 : 0;
  if (b.bytes > MOST_BYTES || b.bytes < 2 * around) return false;
  uint8_t *data = malloc(b.bytes + 1);
  bool good = data && read_bytes(w, b.address, data, b.bytes) && (!around || memcmp(data, "OCHK", 4) == 0);
  if (good) take_messages(w, data + around, b.bytes - 2 * around);
  free(data);
  return good;
}

#if H5_VERSION_GE(1, 12, 0)
typedef H5O_info1_t object_info;
#else
typedef H5O_info_t object_info;
#endif

/* HDF5's own descriptor of the object's file, and how addresses are written in it. */
static bool find_file(hid_t object, walk *w) {
  void *handle = NULL;
  hsize_t base = 0;
  hid_t file = H5Iget_file_id(object), creation = H5Fget_create_plist(file);
  bool good = H5Pget_sizes(creation, &w->address_bytes, &w->length_bytes) >= 0 &&
              H5Pget_userblock(creation, &base) >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle;
  w->base = base;
  w->fd = good ? *(const int *)handle : -1;
  if (creation >= 0) H5Pclose(creation);
  if (file >= 0) H5Fclose(file);
  return good && w->address_bytes <= 8 && w->length_bytes <= 8;
}

bool ndr_header_each_attribute(hid_t object, ndr_header_visitor visit, void *user) {
  walk w = {.visit = visit, .user = user, .complete = true};
  object_info info;
  if (!find_file(object, &w) || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 || !find_first(&w, info.addr))
    return false;
  for (int i = 0; i < w.block_count && !w.stopped; i++)
    if (!take_block(&w, i)) w.complete = false;
  return w.complete;
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

typedef struct {
  hid_t object;
  const char *name;
  bool found;
} search;

static int compare_name(void *user, const char *name) {
  search *s = user;
  s->found = strcmp(s->name, name) == 0;
  return s->found;
}

htri_t ndr_header_has_attribute(hid_t object, const char *name) {
  search s = {object, name, false};
  htri_t exists = H5Aexists(object, name);
  if (exists >= 0 || !ndr_hdf_is_malformed()) return exists;
  ndr_header_each_attribute(object, compare_name, &s);
  return s.found;
}

typedef struct {
  hid_t object;
  H5A_operator2_t visit;
  void *user;
  herr_t result;
} iteration;

static int visit_decoded(void *user, const char *name) {
  iteration *i = user;
  hid_t attribute = H5Aopen(i->object, name, H5P_DEFAULT);
  if (attribute >= 0)
    H5Aclose(attribute);
  else if (!ndr_hdf_is_malformed())
    i->result = -1;
  if (attribute >= 0) i->result = i->visit(i->object, name, NULL, i->user);
  return i->result;
}

herr_t ndr_header_iterate(hid_t object, H5A_operator2_t visit, void *user) {
  iteration i = {object, visit, user, 0};
  hsize_t at = 0;
  if (H5Aexists(object, " ") >= 0 || !ndr_hdf_is_malformed())
    return H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, visit, user);
  ndr_header_each_attribute(object, visit_decoded, &i);
  return i.result;
}

typedef struct {
  hid_t object;
  char *names;
  size_t used;
} probe;

static int list_lost(void *user, const char *name) {
  probe *p = user;
  hid_t attribute = H5Aopen(p->object, name, H5P_DEFAULT);
  if (attribute >= 0)
    H5Aclose(attribute);
  else if (p->used + strlen(name) + 3 < NDR_HEADER_NAMES)
    p->used += (size_t)snprintf(p->names + p->used, NDR_HEADER_NAMES - p->used, "%s%s", p->used ? ", " : "", name);
  return 0;
}

/* Looking for what is hardly there, HDF5 goes through all of them. */
htri_t ndr_header_is_sound(hid_t object, char names[NDR_HEADER_NAMES], char reason[NDR_HDF_REASON]) {
  probe p = {object, names, 0};
  names[0] = 0;
  if (H5Aexists(object, " ") >= 0) return true;
  if (!ndr_hdf_is_malformed()) return -1;
  ndr_hdf_reason(reason);
  if (!ndr_header_each_attribute(object, list_lost, &p)) names[0] = 0;
  return false;
}
