/* The numbers of operators of one's own, and what they stand for. Knows nothing of their language (src/lang). */
#ifndef NDR_CORE_OWN_OPS_H
#define NDR_CORE_OWN_OPS_H

#include "core/types.h"

/* The most numbers that the parameters of an operator have in all. */
enum { NDR_MOST_PARAMETERS = 64 };

/* What a text says, which only the language reads. One allocation, freed with free(). */
typedef struct ndr_syntax ndr_syntax;

/* Shared by all operators that are bound from one. */
typedef struct ndr_definition {
  ndr_syntax *syntax;
  const char *name; /* once it is registered: with a final 0, for as long as the process lives */
  size_t name_length;
  int value_count; /* of each operator's values */
  int holders;
} ndr_definition;

/* An operator with the values of its parameters. */
typedef struct ndr_own_op {
  int holders; /* whoever made it is one, until it is destroyed */
  bool destroyed;
  ndr_op op;
  ndr_definition *definition;
  char *key; /* its text in braces, for operators that are found by it; else NULL */
  double values[NDR_MOST_PARAMETERS];
} ndr_own_op;

/* Registers an operator of a new definition, a copy of the given one. Takes over the syntax, also if it fails. NULL for
 * values: all are 0. With a key: if there is an operator of that key, its number is given instead. */
ndr_status ndr_own_op_add(const ndr_definition *given, const double *values, const char *key, ndr_op *op);
/* Registers an operator of the definition of another. */
ndr_status ndr_own_op_bind(const ndr_own_op *own, const double *values, ndr_op *op);
/* Destroys an operator: whoever made it holds it no longer. */
void ndr_own_op_remove(ndr_op op);

/* The operator of that number, or NULL. It stays, and never changes, until all that hold it have released it. NULL may
 * be released. */
ndr_own_op *ndr_own_op_hold(ndr_op op);
void ndr_own_op_release(ndr_own_op *own);

/* Its name, which lives as long as the process; NULL if there is no such operator. */
const char *ndr_own_op_name(ndr_op op);

#endif
