/* What is the same for who writes files of partial states and who reads them. */
#ifndef NDR_H5_RANKS_STATE_BYTES_H
#define NDR_H5_RANKS_STATE_BYTES_H

#include "core/words.h"

#define NDR_STATE_MAGIC "NDRPARTS"
#define NDR_STATE_VERSION 1

/* Bytes of the head before its texts, of what stands before the bytes of a record, and of the checksum. */
enum { NDR_STATE_HEAD = 40, NDR_STATE_RECORD = 32, NDR_STATE_CHECKSUM = 8 };

/* FNV-1a, of bytes that come one after the other: it goes on from what it was for those before. */
#define NDR_STATE_CHECK_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t ndr_state_check(uint64_t check, const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) check = (check ^ bytes[i]) * UINT64_C(0x100000001b3);
  return check;
}

#endif
