/* Numbers of state files: little-endian, and what they check themselves by. */
#ifndef NDR_H5_RUN_STATE_BYTES_H
#define NDR_H5_RUN_STATE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define NDR_STATE_MAGIC "NDRSTATE"
#define NDR_STATE_VERSION 1

/* Bytes of the head before its texts, of what stands before the bytes of a record, and of the checksum. */
enum { NDR_STATE_HEAD = 40, NDR_STATE_RECORD = 32, NDR_STATE_CHECKSUM = 8 };

static inline void ndr_state_put_number(unsigned char *to, uint64_t number) {
  for (int i = 0; i < 8; i++) to[i] = (unsigned char)(number >> 8 * i);
}

static inline uint64_t ndr_state_number(const unsigned char *from) {
  uint64_t number = 0;
  for (int i = 0; i < 8; i++) number |= (uint64_t)from[i] << 8 * i;
  return number;
}

/* FNV-1a, which goes on from what it was for the bytes before. */
#define NDR_STATE_CHECK_START 0xcbf29ce484222325U

static inline uint64_t ndr_state_check(uint64_t check, const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) check = (check ^ bytes[i]) * 0x100000001b3U;
  return check;
}

#endif
