/* Passes words from block to block. */
#include "cpu/scan/chain.h"

#include <sched.h>
#include <stdbool.h>
#include <string.h>

/* Some microseconds: as long as a block takes. */
enum { POLLS = 100 };

enum { EMPTY, WRITTEN, READY };

static int64_t state_bytes(int64_t blocks) {
  return ((blocks + 1) * (int64_t)sizeof(atomic_int) + 63) / 64 * 64;
}

int64_t ndr_scan_chain_bytes(int64_t blocks, int64_t bytes) {
  return state_bytes(blocks) + ((blocks + 1) * bytes + 63) / 64 * 64;
}

ndr_scan_chain ndr_scan_chain_at(char *memory, int64_t blocks, int64_t bytes) {
  return (ndr_scan_chain){(atomic_int *)(void *)memory, (unsigned char *)memory + state_bytes(blocks), bytes};
}

void ndr_scan_chain_begin(const ndr_scan_chain *chain, int64_t blocks) {
  for (int64_t b = 0; b <= blocks; b++)
    atomic_store_explicit(&chain->states[b], b ? EMPTY : READY, memory_order_relaxed);
}

static bool is_ready(const ndr_scan_chain *chain, int64_t block) {
  return atomic_load_explicit(&chain->states[block], memory_order_acquire) == READY;
}

static bool poll_for(const ndr_scan_chain *chain, int64_t block) {
  for (int polls = 0; polls < POLLS; polls++) {
    if (is_ready(chain, block)) return true;
#ifdef __SSE2__
    __builtin_ia32_pause();
#endif
  }
  return false;
}

static unsigned char *words_of(const ndr_scan_chain *chain, int64_t block) {
  return chain->words + block * chain->bytes;
}

const void *ndr_scan_chain_take(const ndr_scan_chain *chain, int64_t block, ndr_scan_help *help, void *context,
                                void *spare) {
  while (!poll_for(chain, block)) {
    int64_t from = block;
    if (!help) {
      sched_yield();
      continue;
    }
    while (!is_ready(chain, from)) from--;
    for (; from < block; from++) {
      if (is_ready(chain, from + 1)) continue;
      help(context, from, words_of(chain, from), spare);
      ndr_scan_chain_pass(chain, from, spare);
    }
  }
  return words_of(chain, block);
}

/* Both writers would write the same words; the second leaves it to the first, which takes no longer than a copy. */
void ndr_scan_chain_pass(const ndr_scan_chain *chain, int64_t block, const void *after) {
  int empty = EMPTY;
  if (atomic_compare_exchange_strong(&chain->states[block + 1], &empty, WRITTEN)) {
    memcpy(words_of(chain, block + 1), after, (size_t)chain->bytes);
    atomic_store_explicit(&chain->states[block + 1], READY, memory_order_release);
  }
  while (!is_ready(chain, block + 1))
    if (!poll_for(chain, block + 1)) sched_yield();
}
