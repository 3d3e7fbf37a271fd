/* Reads and writes public structs that begin with their size. The caller's struct may have more or fewer members than
 * the library knows; members that one side lacks count as 0. */
#ifndef NDR_CORE_SIZED_H
#define NDR_CORE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/status.h"

/* A struct whose size is larger than this was not started from its ..._INIT. */
#define NDR_MOST_STRUCT_BYTES 65536

static inline bool ndr_sized_is_zero(const void *bytes, size_t from, size_t to) {
  for (size_t i = from; i < to; i++)
    if (((const unsigned char *)bytes)[i]) return false;
  return true;
}

/* Reads the size of the caller's struct. A struct that begins with a size_t has whole ones as its size, in which only
 * an array can be cut off between two elements; other sizes end inside a member. */
static inline ndr_status ndr_sized_size(const void *given, size_t *size, const char *name, const char *init) {
  memcpy(size, given, sizeof *size);
  if (*size >= sizeof *size && *size <= NDR_MOST_STRUCT_BYTES && *size % sizeof *size == 0) return NDR_OK;
  if (*size > sizeof *size && *size <= NDR_MOST_STRUCT_BYTES)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s.size is %zu, which no version of the struct has: start from %s", name, *size,
                    init);
  return ndr_fail(NDR_ERR_ARGUMENT, "%s.size is %zu: start from %s", name, *size, init);
}

/* Copies the caller's struct `given` to `out`, which has `known` bytes. `name` and `init` are named in errors. */
static inline ndr_status ndr_sized_read(const void *given, void *out, size_t known, const char *name,
                                        const char *init) {
  size_t size;
  NDR_TRY(ndr_sized_size(given, &size, name, init));
  if (size > known && !ndr_sized_is_zero(given, known, size))
    return ndr_fail(NDR_ERR_ARGUMENT, "%s of %zu bytes sets a member that this library does not know", name, size);
  memset(out, 0, known);
  memcpy(out, given, size < known ? size : known);
  memcpy(out, &known, sizeof known);
  return NDR_OK;
}

/* Copies `made`, which has `known` bytes, to the caller's struct `given`, whose size stays. */
static inline ndr_status ndr_sized_write(void *given, const void *made, size_t known, const char *name,
                                         const char *init) {
  size_t size;
  NDR_TRY(ndr_sized_size(given, &size, name, init));
  if (size < known && !ndr_sized_is_zero(made, size, known))
    return ndr_fail(NDR_ERR_UNSUPPORTED, "%s of %zu bytes has no room for a member that is set", name, size);
  memset((char *)given + sizeof size, 0, size - sizeof size);
  memcpy((char *)given + sizeof size, (const char *)made + sizeof size, (size < known ? size : known) - sizeof size);
  return NDR_OK;
}

#endif
