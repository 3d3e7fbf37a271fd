/* See units.h. Dimensional analysis: the units of each array count as a base unit of its own, and each node gets a
 * product of powers of these. */
#include "lang/units.h"

#include <math.h>

/* NUMBER has no units, and may be added to anything. UNKNOWN may have any units, as a parameter, and so may its
 * products. */
typedef struct {
  enum { NUMBER, UNKNOWN, PRODUCT } kind;
  double power[NDR_MOST_ARRAYS]; /* of a product; else 0 */
} quantity;

typedef struct {
  const ndr_syntax *syntax;
  quantity all[NDR_MOST_NODES];
  bool mixed[NDR_MOST_ARRAYS];
} analysis;

static bool differ(double a, double b) {
  return fabs(a - b) > 1e-6;
}

/* Notes which arrays mix with array 0 where a and b are added or compared: those whose powers in a and b differ, if
 * array 0's do, too. But only where the powers in a and b have the same sum: else, as in x + y*z, arrays of the same
 * units would be wrong. */
static void compare(analysis *s, const quantity *a, const quantity *b) {
  double degree = 0;
  if (a->kind != PRODUCT || b->kind != PRODUCT || !differ(a->power[0], b->power[0])) return;
  for (int i = 0; i < NDR_MOST_ARRAYS; i++) degree += a->power[i] - b->power[i];
  for (int i = 1; i < NDR_MOST_ARRAYS && !differ(degree, 0); i++) s->mixed[i] |= differ(a->power[i], b->power[i]);
}

static quantity sum(analysis *s, const quantity *a, const quantity *b) {
  compare(s, a, b);
  return a->kind >= b->kind ? *a : *b;
}

/* a times b to the power of n. */
static quantity product(const quantity *a, const quantity *b, double n) {
  quantity q = {.kind = NUMBER};
  if (a->kind == UNKNOWN || b->kind == UNKNOWN) return (quantity){.kind = UNKNOWN};
  for (int i = 0; i < NDR_MOST_ARRAYS; i++) {
    q.power[i] = a->power[i] + n * b->power[i];
    if (differ(q.power[i], 0)) q.kind = PRODUCT;
  }
  return q;
}

static quantity power(const quantity *a, const ndr_syntax_node *exponent) {
  const quantity one = {.kind = NUMBER};
  if (exponent->kind == NDR_NODE_INTEGER) return product(&one, a, (double)exponent->integer);
  if (exponent->kind == NDR_NODE_REAL) return product(&one, a, exponent->real);
  return (quantity){.kind = a->kind == NUMBER ? NUMBER : UNKNOWN};
}

static quantity total(const analysis *s, const ndr_syntax_update *update) {
  const bool keeps = update->op == NDR_SUM || update->op == NDR_MIN || update->op == NDR_MAX;
  return keeps ? s->all[update->value] : (quantity){.kind = update->op == NDR_PROD ? UNKNOWN : NUMBER};
}

static quantity element(int number) {
  quantity q = {.kind = PRODUCT};
  q.power[number] = 1;
  return q;
}

static quantity quantity_of(analysis *s, const ndr_syntax_node *node) {
  const quantity one = {.kind = NUMBER}, *all = s->all;
  switch (node->kind) {
  case NDR_NODE_ARRAY: return element(node->a);
  case NDR_NODE_TOTAL: return total(s, &s->syntax->updates[node->a]);
  case NDR_NODE_NEGATE:
  case NDR_NODE_ABS:
  case NDR_NODE_FLOOR:
  case NDR_NODE_REAL_PART:
  case NDR_NODE_IMAGINARY_PART:
  case NDR_NODE_CONJUGATE:
  case NDR_SYNTAX_F64: return all[node->a];
  case NDR_NODE_ADD:
  case NDR_NODE_SUBTRACT:
  case NDR_NODE_MINIMUM:
  case NDR_NODE_MAXIMUM: return sum(s, &all[node->a], &all[node->b]);
  case NDR_NODE_SELECT: return sum(s, &all[node->b], &all[node->c]);
  case NDR_NODE_MULTIPLY: return product(&all[node->a], &all[node->b], 1);
  case NDR_NODE_DIVIDE: return product(&all[node->a], &all[node->b], -1);
  case NDR_NODE_POWER: return power(&all[node->a], &s->syntax->nodes[node->b]);
  case NDR_NODE_SQRT: return product(&one, &all[node->a], 0.5);
  case NDR_NODE_PARAMETER:
  case NDR_SYNTAX_POLY:
  case NDR_NODE_EXP:
  case NDR_NODE_LOG: return (quantity){.kind = UNKNOWN};
  case NDR_NODE_LESS:
  case NDR_NODE_LESS_EQUAL:
  case NDR_SYNTAX_GREATER:
  case NDR_SYNTAX_GREATER_EQUAL:
  case NDR_NODE_EQUAL:
  case NDR_NODE_UNEQUAL: compare(s, &all[node->a], &all[node->b]); return one;
  default: return one;
  }
}

bool ndr_syntax_mixes(const ndr_syntax *syntax, int array) {
  analysis s = {.syntax = syntax};
  for (int n = 0; n < syntax->node_count; n++) s.all[n] = quantity_of(&s, &syntax->nodes[n]);
  return array > 0 && array < NDR_MOST_ARRAYS && s.mixed[array];
}
