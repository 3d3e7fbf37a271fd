/* Memory of the emulated device: blocks of exactly the bytes asked for, between guards. The address sanitizer sees
 * every step outside; without it the guards hold a pattern that is looked at afterwards. */
#ifndef SIMT_MEMORY_H
#define SIMT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* An address that is `past` bytes beyond a multiple of 256, as device memory is cut; full of SIMT_POISON. NULL when
 * memory ran out. */
void *simt_allocate(size_t bytes, size_t past);

/* False when the block is not one of ours. */
bool simt_release(void *memory);

/* Marks a block as one of a pool, which is freed without waiting for who uses it; whether it is one. */
void simt_set_pooled(void *memory);
bool simt_is_pooled(const void *memory);

/* Whether a guard of a block, living or released, has been written to since the last time this was asked. */
bool simt_guards_broken(void);

/* Blocks that have not been released. */
int simt_living_blocks(void);

#endif
