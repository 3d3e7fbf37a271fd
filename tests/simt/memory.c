#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "sanitizer.h"

enum { ALIGNMENT = 256, GUARD_BYTES = 64, GUARD = 0x3c };

/* raw: a multiple of 256; then guard up to `memory`, the block, guard again. */
typedef struct block {
  struct block *next;
  unsigned char *raw, *memory;
  size_t bytes;
  bool pooled;
} block;

static block *blocks;
static bool broken;

static size_t raw_bytes(const block *b) {
  return (size_t)(b->memory - b->raw) + b->bytes + GUARD_BYTES;
}

void *simt_allocate(size_t bytes, size_t past) {
  void *raw;
  block *b = malloc(sizeof *b);
  if (!b || posix_memalign(&raw, ALIGNMENT, ALIGNMENT + past % ALIGNMENT + bytes + GUARD_BYTES)) {
    free(b);
    return NULL;
  }
  *b = (block){blocks, raw, (unsigned char *)raw + ALIGNMENT + past % ALIGNMENT, bytes, false};
  blocks = b;
  memset(b->raw, GUARD, raw_bytes(b));
  memset(b->memory, SIMT_POISON, bytes);
  ASAN_POISON_MEMORY_REGION(b->raw, (size_t)(b->memory - b->raw));
  ASAN_POISON_MEMORY_REGION(b->memory + bytes, GUARD_BYTES);
  return b->memory;
}

/* Leaves the whole block accessible. */
static void inspect(const block *b) {
  size_t before = (size_t)(b->memory - b->raw);
  ASAN_UNPOISON_MEMORY_REGION(b->raw, raw_bytes(b));
  for (size_t i = 0; i < before; i++) broken = broken || b->raw[i] != GUARD;
  for (size_t i = 0; i < GUARD_BYTES; i++) broken = broken || b->memory[b->bytes + i] != GUARD;
}

bool simt_release(void *memory) {
  block **link = &blocks;
  while (*link && (*link)->memory != memory) link = &(*link)->next;
  block *found = *link;
  if (!found) return false;
  *link = found->next;
  inspect(found);
  free(found->raw);
  free(found);
  return true;
}

static block *find(const void *memory) {
  block *b = blocks;
  while (b && b->memory != memory) b = b->next;
  return b;
}

void simt_set_pooled(void *memory) {
  block *b = find(memory);
  if (b) b->pooled = true;
}

bool simt_is_pooled(const void *memory) {
  const block *b = find(memory);
  return b && b->pooled;
}

bool simt_guards_broken(void) {
  for (const block *b = blocks; b; b = b->next) {
    inspect(b);
    ASAN_POISON_MEMORY_REGION(b->raw, (size_t)(b->memory - b->raw));
    ASAN_POISON_MEMORY_REGION(b->memory + b->bytes, GUARD_BYTES);
  }
  bool result = broken;
  broken = false;
  return result;
}

int simt_living_blocks(void) {
  int count = 0;
  for (const block *b = blocks; b; b = b->next) count++;
  return count;
}
