/* Numbers in a stream, the highest byte first. */
#ifndef NDR_H5_CODEC_BYTES_H
#define NDR_H5_CODEC_BYTES_H

#include <stdint.h>

static inline uint32_t ndr_load_be32(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint64_t ndr_load_be64(const uint8_t *bytes) {
  return (uint64_t)ndr_load_be32(bytes) << 32 | ndr_load_be32(bytes + 4);
}

#endif
