/* The checksum of exported states: whether bytes are those that were written. It does not keep anyone from forging
 * them. */
#ifndef NDR_CORE_CHECKSUM_H
#define NDR_CORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* A cyclic redundancy check of 64 bits over `count` words of 8 bytes, which may begin at any address. */
uint64_t ndr_checksum(const unsigned char *bytes, size_t count);

#endif
