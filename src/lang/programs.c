/* Counts the holders of a problem's programs. */
#include "lang/programs.h"

#include <stdlib.h>

struct ndr_program_owner *ndr_programs_make(int count) {
  struct ndr_program_owner *owner = calloc(1, sizeof *owner + (size_t)count * sizeof *owner->programs);
  if (owner) atomic_init(&owner->holders, 1);
  return owner;
}

void ndr_programs_share(struct ndr_program_owner *owner) {
  if (owner) atomic_fetch_add(&owner->holders, 1);
}

void ndr_programs_drop(struct ndr_program_owner *owner) {
  if (owner && atomic_fetch_sub(&owner->holders, 1) == 1) free(owner);
}
