/* Object headers as HDF5's file format specification has them: messages, in blocks that lead to each other; version 1
 * and 2 differ in what is before a message. All numbers are little-endian, and none is trusted. */
#include "h5/bytes/header.h"

#include <stdlib.h>
#include <string.h>

#include "h5/bytes/heap.h"

enum { MOST_BLOCKS = 64, MOST_BYTES = 1 << 20, START = 64 };
enum { MESSAGE_ATTRIBUTE = 0x0c, MESSAGE_CONTINUATION = 0x10, MESSAGE_ATTRIBUTE_INFO = 0x15 };
enum { FLAG_SHARED = 2 };

typedef struct {
  uint64_t address, bytes;
} block;

/* Visits an attribute; not 0 stops. */
typedef int (*visitor)(void *user, ndr_raw *raw, const ndr_message *message);

typedef struct {
  ndr_raw raw;
  int version;
  bool ordered; /* messages have the order of their creation */
  int block_count;
  block blocks[MOST_BLOCKS];
  visitor visit;
  void *user;
  bool stopped;
  bool complete; /* every attribute has been visited */
  bool apart;    /* there are attributes outside the header */
  bool torn;     /* a message does not hold what it says it holds */
} walk;

/* ---- Messages --------------------------------------------------------------------------------------------------- */

static void take_attribute(walk *w, const uint8_t *data, size_t bytes, unsigned flags) {
  ndr_message message;
  if (flags & FLAG_SHARED) {
    w->complete = false;
    w->apart = true;
    return;
  }
  if (!ndr_message_split(data, bytes, &w->raw, &message)) w->torn = true;
  if (message.name)
    w->stopped = w->visit(w->user, &w->raw, &message) != 0;
  else
    w->complete = false;
}

static void take_continuation(walk *w, const uint8_t *data, size_t bytes) {
  if (bytes < w->raw.address_bytes + w->raw.length_bytes || w->block_count == MOST_BLOCKS) {
    w->complete = false;
    return;
  }
  w->blocks[w->block_count++] = (block){ndr_raw_number(data, w->raw.address_bytes),
                                        ndr_raw_number(data + w->raw.address_bytes, w->raw.length_bytes)};
}

/* Where it has the address of a heap, attributes lie there. */
static void take_attribute_info(walk *w, const uint8_t *data, size_t bytes) {
  size_t at = bytes > 1 && data[1] & 1 ? 4 : 2;
  bool heap = bytes < at + w->raw.address_bytes;
  for (size_t i = 0; !heap && i < w->raw.address_bytes; i++) heap = data[at + i] != 0xff;
  if (!heap) return;
  w->complete = false;
  w->apart = true;
}

static void take_messages(walk *w, const uint8_t *data, size_t bytes) {
  const bool first = w->version == 1;
  const size_t head = first ? 8 : w->ordered ? 6 : 4;
  for (size_t at = 0; bytes - at >= head && !w->stopped;) {
    const uint8_t *message = data + at;
    unsigned type = first ? (unsigned)ndr_raw_number(message, 2) : message[0];
    size_t length = ndr_raw_number(message + (first ? 2 : 1), 2);
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
  if (!ndr_raw_read(&w->raw, address, start, 16)) return false;
  w->block_count = 1;
  if (start[0] == 1) {
    w->version = 1;
    w->blocks[0] = (block){address + 16, ndr_raw_number(start + 8, 4)};
    return true;
  }
  if (memcmp(start, "OHDR\2", 5) != 0 || !ndr_raw_read(&w->raw, address, start, 34)) return false;
  unsigned flags = start[5];
  size_t width = (size_t)1 << (flags & 3), at = 6;
  w->version = 2;
  w->ordered = flags & 4;
  if (flags & 0x20) at += 16; /* times */
  if (flags & 0x10) at += 4;  /* when attributes move to a heap, and back */
  w->blocks[0] = (block){address + at + width, ndr_raw_number(start + at, width)};
  return true;
}

/* A later block of version 2 is between a signature and a checksum. */
static bool take_block(walk *w, int i) {
  block b = w->blocks[i];
  size_t around = i > 0 && w->version == 2 ? 4 : 0;
  if (b.bytes > MOST_BYTES || b.bytes < 2 * around) return false;
  uint8_t *data = ndr_hdf_noted(malloc(b.bytes + 1));
  if (!data) w->raw.failed = true;
  bool good = data && ndr_raw_read(&w->raw, b.address, data, b.bytes) && (!around || memcmp(data, "OCHK", 4) == 0);
  if (good) take_messages(w, data + around, b.bytes - 2 * around);
  free(data);
  return good;
}

#if H5_VERSION_GE(1, 12, 0)
typedef H5O_info1_t object_info;
#else
typedef H5O_info_t object_info;
#endif

/* Keeps the last file's bytes, under HDF5's lock: the header is searched for each attribute, and to open a file's bytes
 * HDF5 copies several property lists. HDF5 gives no two files the same number. */
static bool open_bytes(hid_t object, const object_info *info, ndr_raw *raw) {
  static struct {
    unsigned long file;
    bool known;
    ndr_raw raw;
  } last;
  if (last.known && last.file == info->fileno) {
    *raw = last.raw;
    return true;
  }
  if (!ndr_raw_open(object, raw)) return false;
  last.file = info->fileno;
  last.known = true;
  last.raw = *raw;
  return true;
}

/* False where the header cannot be found, as in a file that has no descriptor. */
static bool each_attribute(hid_t object, const object_info *info, visitor visit, void *user, walk *w) {
  *w = (walk){.visit = visit, .user = user, .complete = true};
  if (!open_bytes(object, info, &w->raw) || !find_first(w, info->addr)) return false;
  for (int i = 0; i < w->block_count && !w->stopped; i++)
    if (!take_block(w, i)) w->complete = false;
  return true;
}

/* ---- Soundness --------------------------------------------------------------------------------------------------- */

static int pass(void *user, ndr_raw *raw, const ndr_message *message) {
  (void)user, (void)raw, (void)message;
  return 0;
}

static bool find_info(hid_t object, object_info *info) {
  return H5Oget_info2(object, info, H5O_INFO_BASIC) >= 0;
}

static void blame(hid_t major, const char *reason) {
  H5Eclear2(H5E_DEFAULT);
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, major, H5E_CANTDECODE, "%s", reason);
}

/* Whether HDF5 would read beyond a message of an attribute; if so, HDF5's error says that. An object is looked at many
 * times in a row, so the last answer is kept, as in open_bytes. */
static bool is_torn(hid_t object) {
  static struct {
    unsigned long file;
    haddr_t address;
    bool known, torn;
  } last;
  object_info info;
  walk w;
  if (!find_info(object, &info)) return false;
  if (!last.known || last.file != info.fileno || last.address != info.addr) {
    last.torn = each_attribute(object, &info, pass, NULL, &w) && w.torn;
    last.file = info.fileno;
    last.address = info.addr;
    last.known = !w.raw.failed;
  }
  if (last.torn) blame(H5E_ATTR, "an attribute is longer than the message that holds it");
  return last.torn;
}

/* Whether HDF5 can decode every attribute: it decodes all of them when it looks for a name that hardly any object
 * has. */
static bool decodes(hid_t object) {
  return !is_torn(object) && H5Aexists(object, " ") >= 0;
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  bool found, whole;
} search;

static int compare_name(void *user, ndr_raw *raw, const ndr_message *message) {
  search *s = user;
  s->found = strcmp(s->name, message->name) == 0;
  if (s->found) s->whole = ndr_heap_holds(raw, message);
  return s->found;
}

/* Of attributes that are stored outside the header, HDF5 decodes only the one that it looks for. If it cannot, the
 * attribute is there. */
htri_t ndr_header_has_attribute(hid_t object, const char *name) {
  search s = {name, false, true};
  object_info info;
  walk w;
  htri_t exists = is_torn(object) ? -1 : H5Aexists(object, name);
  if (exists >= 0 || !ndr_hdf_is_malformed()) return exists;
  if (!find_info(object, &info)) return false;
  bool gone_through = each_attribute(object, &info, compare_name, &s, &w);
  if (w.raw.failed && !s.found) return -1;
  return gone_through && (s.found || w.apart);
}

hid_t ndr_header_open(hid_t object, const char *name) {
  return is_torn(object) ? H5I_INVALID_HID : H5Aopen(object, name, H5P_DEFAULT);
}

/* Whether the objects can be read that an attribute's elements lead to; if not, HDF5's error says why. HDF5 accepts an
 * attribute in place of the object that has it. */
static bool leads_somewhere(hid_t attribute) {
  char name[1024];
  search s = {name, false, true};
  object_info info;
  walk w = {.complete = true};
  if (H5Aget_name(attribute, sizeof name, name) >= 0 && find_info(attribute, &info))
    each_attribute(attribute, &info, compare_name, &s, &w);
  if (w.raw.failed)
    blame(H5E_IO, "the file cannot be read, or there is no memory");
  else if (!s.whole)
    blame(H5E_ATTR, "its heap of elements of variable length is damaged");
  return s.whole && !w.raw.failed;
}

herr_t ndr_header_read(hid_t attribute, hid_t type, void *elements) {
  H5T_class_t kind = H5Tget_class(type);
  bool leads = kind == H5T_VLEN || (kind == H5T_STRING && H5Tis_variable_str(type) > 0);
  return !leads || leads_somewhere(attribute) ? H5Aread(attribute, type, elements) : -1;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

typedef struct {
  hid_t object;
  H5A_operator2_t visit;
  void *user;
  hsize_t visited;
  herr_t result; /* what the last visit came to */
} iteration;

static bool count_attributes(hid_t object, hsize_t *count) {
  object_info info;
  bool good = H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS) >= 0;
  *count = good ? info.num_attrs : 0;
  return good;
}

static herr_t visit_one(hid_t object, const char *name, const H5A_info_t *info, void *user) {
  iteration *i = user;
  i->visited++;
  return i->result = i->visit(object, name, info, i->user);
}

static int visit_decoded(void *user, ndr_raw *raw, const ndr_message *message) {
  iteration *i = user;
  (void)raw;
  hid_t attribute = H5Aopen(i->object, message->name, H5P_DEFAULT);
  if (attribute >= 0)
    H5Aclose(attribute);
  else if (!ndr_hdf_is_malformed())
    i->result = -1;
  if (attribute >= 0) i->result = i->visit(i->object, message->name, NULL, i->user);
  return i->result;
}

#if H5_VERSION_GE(1, 12, 0)
/* The name of attribute number `at`, to be freed; NULL if HDF5 cannot decode it, or there is no memory. Most names fit
 * at once: each look-up goes through all attributes. */
static char *attribute_name(hid_t object, H5_iter_order_t order, hsize_t at) {
  for (size_t room = 256;;) {
    char *name = ndr_hdf_noted(malloc(room));
    ssize_t length = name ? H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, order, at, name, room, H5P_DEFAULT) : -1;
    if (length >= 0 && (size_t)length < room) return name;
    free(name);
    if (length < 0) return NULL;
    room = (size_t)length + 1;
  }
}

/* Visits attributes from *at on until a visit is not 0, and leaves *at at that one. Not H5Aiterate2: from HDF5 1.12 on
 * it opens a dataset again with default properties, which fails if it was opened with a prefix for external files. */
static herr_t iterate(iteration *i, H5_iter_order_t order, hsize_t *at) {
  hsize_t count;
  if (!count_attributes(i->object, &count)) return -1;
  for (; *at < count; ++*at) {
    char *name = attribute_name(i->object, order, *at);
    if (!name) return -1;
    herr_t done = visit_one(i->object, name, NULL, i);
    free(name);
    if (done != 0) return done;
  }
  return 0;
}
#else
static herr_t iterate(iteration *i, H5_iter_order_t order, hsize_t *at) {
  return H5Aiterate2(i->object, H5_INDEX_NAME, order, at, visit_one, i);
}
#endif

/* Visits the attributes in the order in which they are stored: in that order HDF5 skips attributes without decoding
 * them. *lost counts those that it cannot decode. */
static herr_t iterate_apart(iteration *i, hsize_t count, hsize_t *lost) {
  *lost = 0;
  for (hsize_t at = 0; at < count;) {
    hsize_t from = at;
    i->visited = 0;
    herr_t done = iterate(i, H5_ITER_NATIVE, &from);
    if (done >= 0 || i->result != 0 || !ndr_hdf_is_malformed()) return done;
    at += i->visited + 1;
    (*lost)++;
  }
  return 0;
}

herr_t ndr_header_iterate(hid_t object, H5A_operator2_t visit, void *user) {
  iteration i = {object, visit, user, 0, 0};
  object_info info;
  walk w;
  hsize_t at = 0, count, lost;
  if (is_torn(object)) return 0;
  if (H5Aexists(object, " ") < 0 && ndr_hdf_is_malformed()) {
    if (find_info(object, &info)) each_attribute(object, &info, visit_decoded, &i, &w);
    return i.result;
  }
  herr_t done = iterate(&i, H5_ITER_INC, &at);
  if (done >= 0 || i.visited > 0 || !ndr_hdf_is_malformed()) return done;
  return count_attributes(object, &count) ? iterate_apart(&i, count, &lost) : -1;
}

typedef struct {
  hid_t object;
  char names[NDR_HEADER_NAMES - 4];
  size_t used;
  int count;
} probe;

static int list_lost(void *user, ndr_raw *raw, const ndr_message *message) {
  probe *p = user;
  (void)raw;
  size_t left = sizeof p->names - p->used;
  hid_t attribute = ndr_header_open(p->object, message->name);
  if (attribute >= 0)
    H5Aclose(attribute);
  else if (strlen(message->name) + 3 < left)
    p->used += (size_t)snprintf(p->names + p->used, left, "%s%s", p->count++ ? ", " : "", message->name);
  return 0;
}

static herr_t visit_nothing(hid_t object, const char *name, const H5A_info_t *info, void *user) {
  (void)object, (void)name, (void)info, (void)user;
  return 0;
}

/* Of attributes outside the header. */
static htri_t all_decode(hid_t object, char names[NDR_HEADER_NAMES], char reason[NDR_HDF_REASON]) {
  iteration i = {object, visit_nothing, NULL, 0, 0};
  hsize_t count, lost, at = 0;
  if (iterate(&i, H5_ITER_NATIVE, &at) >= 0) return true;
  if (!ndr_hdf_is_malformed()) return -1;
  ndr_hdf_reason(reason);
  if (!count_attributes(object, &count) || iterate_apart(&i, count, &lost) < 0) return -1;
  snprintf(names, NDR_HEADER_NAMES, "s, %lld of %lld,", (long long)lost, (long long)count);
  return false;
}

htri_t ndr_header_is_sound(hid_t object, char names[NDR_HEADER_NAMES], char reason[NDR_HDF_REASON]) {
  probe p = {.object = object};
  object_info info;
  walk w;
  *names = *reason = 0;
  if (decodes(object)) return all_decode(object, names, reason);
  if (!ndr_hdf_is_malformed()) return -1;
  ndr_hdf_reason(reason);
  bool known = find_info(object, &info) && each_attribute(object, &info, list_lost, &p, &w) && w.complete && p.count;
  snprintf(names, NDR_HEADER_NAMES, "%s%s%s", known && p.count == 1 ? "" : "s", known ? " " : "", known ? p.names : "");
  return false;
}
