/* See message.h. Only lengths are checked, not what they say. */
#include "h5/bytes/message.h"

#include <string.h>

enum { MOST_DEPTH = 32, MOST_RANK = H5S_MAX_RANK, TYPE_HEAD = 8 };
enum { SHARED_TYPE = 1, SHARED_SPACE = 2 };

/* Bytes not yet looked at. */
typedef struct {
  const uint8_t *at;
  size_t left;
} cursor;

static bool skip(cursor *c, size_t count) {
  if (count > c->left) return false;
  c->at += count;
  c->left -= count;
  return true;
}

static size_t padded(size_t count) {
  return (count + 7) / 8 * 8;
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

static bool skip_type(cursor *c, int depth);

static bool skip_name(cursor *c, unsigned version) {
  const uint8_t *end = memchr(c->at, 0, c->left);
  if (!end) return false;
  size_t count = (size_t)(end - c->at) + 1;
  return skip(c, version < 3 ? padded(count) : count);
}

/* A member's offset has, since version 3, as many bytes as the size of the compound needs. */
static bool skip_members(cursor *c, unsigned version, unsigned count, size_t bytes, int depth) {
  size_t offset = version == 1 ? 32 : 4;
  if (version == 3)
    for (offset = 1; bytes >> 8 * offset; offset++) {
    }
  for (unsigned i = 0; i < count; i++)
    if (!skip_name(c, version) || !skip(c, offset) || !skip_type(c, depth + 1)) return false;
  return true;
}

static bool skip_enumeration(cursor *c, unsigned version, unsigned count, int depth) {
  if (c->left < TYPE_HEAD) return false;
  size_t value = ndr_raw_number(c->at + 4, 4);
  if (!skip_type(c, depth + 1)) return false;
  for (unsigned i = 0; i < count; i++)
    if (!skip_name(c, version)) return false;
  return skip(c, count * value);
}

static bool skip_array(cursor *c, unsigned version, int depth) {
  if (c->left == 0) return false;
  size_t rank = c->at[0];
  return skip(c, version < 3 ? 4 + 8 * rank : 1 + 4 * rank) && skip_type(c, depth + 1);
}

/* A type of a later version, or of a class that only later versions have, is taken to fill the rest. */
static bool skip_type(cursor *c, int depth) {
  const uint8_t *head = c->at;
  if (depth > MOST_DEPTH || !skip(c, TYPE_HEAD)) return false;
  unsigned version = head[0] >> 4, members = (unsigned)ndr_raw_number(head + 1, 2);
  if (version < 1 || version > 3) return skip(c, c->left);
  switch ((H5T_class_t)(head[0] & 15)) {
  case H5T_INTEGER:
  case H5T_BITFIELD: return skip(c, 4);
  case H5T_FLOAT: return skip(c, 12);
  case H5T_TIME: return skip(c, 2);
  case H5T_STRING:
  case H5T_REFERENCE: return true;
  case H5T_OPAQUE: return skip(c, head[1]);
  case H5T_COMPOUND: return skip_members(c, version, members, ndr_raw_number(head + 4, 4), depth);
  case H5T_ENUM: return skip_enumeration(c, version, members, depth);
  case H5T_VLEN: return skip_type(c, depth + 1);
  case H5T_ARRAY: return skip_array(c, version, depth);
  default: return skip(c, c->left);
  }
}

/* ---- Dataspaces ------------------------------------------------------------------------------------------------- */

/* *known is false for one of a later version. */
static bool count_elements(cursor c, size_t length_bytes, uint64_t *count, bool *known) {
  *count = 1;
  *known = false;
  if (c.left < 4) return false;
  unsigned version = c.at[0], rank = c.at[1], flags = c.at[2], kind = c.at[3];
  if (version < 1 || version > 2 || (version == 2 && kind > 2)) return true;
  if (rank > MOST_RANK || !skip(&c, version == 1 ? 8 : 4)) return false;
  if (c.left / length_bytes < rank * (flags & 1 ? 2 : 1)) return false;
  for (unsigned d = 0; d < rank; d++)
    if (__builtin_mul_overflow(*count, ndr_raw_number(c.at + d * length_bytes, length_bytes), count)) return false;
  if (version == 2 && kind == 2) *count = 0;
  *known = true;
  return true;
}

/* ---- The message ------------------------------------------------------------------------------------------------ */

/* Version 1 pads each part; version 3 has the encoding of the name behind the lengths. */
static bool take_part(cursor *c, unsigned version, size_t count, cursor *part) {
  *part = (cursor){c->at, count};
  return skip(c, version == 1 ? padded(count) : count);
}

bool ndr_message_split(const uint8_t *bytes, size_t count, const ndr_raw *raw, ndr_message *message) {
  cursor c = {bytes, count}, name, type, space;
  *message = (ndr_message){NULL, NULL, 0, 0, NULL};
  if (count < 8 || raw->length_bytes == 0) return false;
  unsigned version = bytes[0], flags = version == 1 ? 0 : bytes[1];
  if (version < 1 || version > 3 || !skip(&c, version == 3 ? 9 : 8)) return false;
  if (!take_part(&c, version, ndr_raw_number(bytes + 2, 2), &name) || name.left < 2 ||
      memchr(name.at, 0, name.left) != name.at + name.left - 1)
    return false;
  message->name = (const char *)name.at;
  if (!take_part(&c, version, ndr_raw_number(bytes + 4, 2), &type) ||
      !take_part(&c, version, ndr_raw_number(bytes + 6, 2), &space))
    return false;
  bool known = false;
  if (!(flags & SHARED_TYPE)) {
    message->type = type.at;
    if (!skip_type(&type, 0)) return false;
    message->element_bytes = ndr_raw_number(message->type + 4, 4);
  }
  if (!(flags & SHARED_SPACE) && !count_elements(space, raw->length_bytes, &message->count, &known)) return false;
  if (!message->type || !known) return true;
  uint64_t needed;
  if (__builtin_mul_overflow(message->count, message->element_bytes, &needed) || needed > c.left) return false;
  message->data = c.at;
  return true;
}
