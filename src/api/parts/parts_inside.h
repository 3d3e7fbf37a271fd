/* What the files parts*.c share: parts.c plans, parts_find.c cuts labels, parts_one.c runs a part,
 * parts_add.c adds the states of all, parts_sorted.c those of blocks that are sorted, parts_execute.c writes results.
 */
#ifndef NDR_API_PARTS_INSIDE_H
#define NDR_API_PARTS_INSIDE_H

#include <stdatomic.h>

#include "api/parts/parts.h"

typedef struct part {
  ndr_piece piece;
  int64_t row;                   /* the piece counts from this label of the request */
  const int32_t *rows;           /* not NULL: where the piece's labels are, from there */
  ndr_box *box;                  /* not NULL: the part is these windows; piece.label is the first */
  ndr_table *table;              /* not NULL: the part has all groups of a row of labels */
  int64_t labels;                /* of that row */
  int64_t from[NDR_MOST_ARRAYS]; /* elements from the array's and the operands' first to the part's */
  ndr_plan *plan;                /* that of an earlier part with the same shape, or this part's own */
  bool shares;
} part;

struct ndr_parts {
  _Atomic int holders;
  ndr_request request;
  const ndr_backend *backend;
  DLDevice device;
  bool direct;             /* parts write results */
  const ndr_groups *given; /* windows that the request's labels stand for; held, as the cache knows plans by them */
  int64_t count, room, plans;
  part *parts;
  uint8_t *seen;       /* a bit for each group: it has a part */
  int32_t *rows;       /* of all parts with a table */
  bool sorted;         /* there are no parts: blocks are copied, and their runs are parts */
  ndr_options options; /* without pointers */
};

/* Finds the parts of a request with groups, notes which groups have one, and whether parts can write results. */
ndr_status ndr_parts_find(ndr_parts *parts, const ndr_options *options);
ndr_status ndr_parts_append(ndr_parts *parts, part added);

/* Plans part number `at`; where plans may be alike, an earlier part's plan is shared. */
ndr_status ndr_parts_plan(ndr_parts *parts, int64_t at, bool alike, const ndr_options *options);
void ndr_parts_free_plans(ndr_parts *parts);

/* The states of the whole, or where parts write results those of one output without elements. A workspace begins with
 * these states; behind them are those of a part, and then what its plan needs. */
int64_t ndr_parts_state_count(const ndr_parts *parts);
ndr_status ndr_parts_state_bytes(const ndr_parts *parts, size_t *states, size_t *scratch);

/* The addresses of a part's arrays, from those of the request's. */
void ndr_part_move(const ndr_parts *parts, const part *p, const void *const *data, const void **moved);

/* Runs a part's plan, whose arguments have been checked; without a workspace it borrows one. */
ndr_status ndr_part_execute(const part *p, const void *const *data, void *const *results, void *workspace,
                            void *stream);

/* Merges the part of a request with `merges` into the states; such a request has one part. */
ndr_status ndr_part_add(const ndr_parts *parts, const part *p, const void *const *data, uint64_t *const *states,
                        void *workspace, void *stream);

/* Reduces a part to partial states in `scratch`, and merges these into the states of `whole`. */
ndr_status ndr_part_reduce(const ndr_parts *parts, const part *p, const void *const *data, void *scratch,
                           void *workspace, void *stream);
ndr_status ndr_part_merge(const ndr_parts *parts, const part *p, const ndr_request *whole, uint64_t *const *states,
                          int64_t outputs, void *scratch, void *stream);

/* As ndr_parts_add, of parts that are sorted; on the host. */
ndr_status ndr_parts_add_sorted(const ndr_parts *parts, const void *const *data, const ndr_request *whole,
                                uint64_t *const *states, int64_t outputs);

/* Refuses NaN among the weights on the host, those of no group included. */
ndr_status ndr_parts_check_weights(const ndr_parts *parts, const void *const *data);

#endif
