/* See search.h. */
#include "h5gpured/search.h"

bool search_fail_memory(const search *s) {
  complain("%s: out of memory", s->where);
  return false;
}

bool search_refuse(const search *s, const char *option) {
  complain("%s: %s: %s", s->where, option, ndr_last_error());
  return false;
}

bool search_refuse_reason(const search *s, const char *option) {
  complain("%s: %s: %s", s->where, option, weights_reason(s->where));
  return false;
}

ndr_h5_operand *search_add(const search *s, ndr_role role) {
  besides *b = s->b;
  if (b->count == MOST_BESIDES) {
    complain("%s: --where and operators read too many arrays", s->where);
    return NULL;
  }
  b->operands[b->count] = (ndr_h5_operand)NDR_H5_OPERAND_INIT;
  b->operands[b->count].role = role;
  b->pointers[b->count] = &b->operands[b->count];
  return &b->operands[b->count++];
}
