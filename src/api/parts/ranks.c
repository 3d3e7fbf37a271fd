/* Collective calls for arrays: see ndreduce/comm.h. Each rank reduces its part to partial states. Exported, they go up
 * a binary tree of ranks, which merges them; rank 0 finishes them. */
#include <stdio.h>
#include <stdlib.h>

#include "api/accumulator.h"
#include "common/mail.h"

enum { MOST_LEVELS = 31 };

typedef struct tree {
  int rank, ranks;
  ndr_accumulator *states;
  /* letters[level] has the states of rank + 2^level until the levels below are merged; its bytes are NULL before they
   * come, and afterwards. */
  ndr_letter letters[MOST_LEVELS];
} tree;

static ndr_status refuse_letter(void *user, ndr_letter *letter) {
  (void)user;
  return ndr_fail(NDR_ERR_ARGUMENT, "rank %d is in another call", letter->from);
}

ndr_status ndr_comm_agree(ndr_comm *comm, ndr_status mine, const char *sentence) {
  ndr_mail *mail;
  if (mine != NDR_OK && sentence && sentence != ndr_last_error()) ndr_explain_failure("%s", sentence);
  NDR_TRY(ndr_mail_open(&mail, comm, NDR_CALL_AGREE, refuse_letter, NULL));
  return ndr_mail_end(mail, mine);
}

static ndr_status check_part(const ndr_problem *problem, const DLTensor *part, const int64_t *offset) {
  ndr_dtype dtype;
  if (!part) return ndr_fail(NDR_ERR_ARGUMENT, "part is a null pointer");
  if (!offset && problem->ndim) return ndr_fail(NDR_ERR_ARGUMENT, "offset is a null pointer");
  NDR_TRY(ndr_dtype_from_dlpack(part->dtype, &dtype));
  if (dtype != problem->dtype || part->ndim != problem->ndim)
    return ndr_fail(NDR_ERR_ARGUMENT, "a part of %d dim%s of %s does not fit a problem of %d dim%s of %s", part->ndim,
                    NDR_PLURAL(part->ndim), ndr_dtype_name(dtype), problem->ndim, NDR_PLURAL(problem->ndim),
                    ndr_dtype_name(problem->dtype));
  for (int d = 0; d < part->ndim && part->shape && part->shape[d] >= 0; d++)
    if (offset[d] < 0 || offset[d] > problem->shape[d] - part->shape[d])
      return ndr_fail(NDR_ERR_ARGUMENT, "a part of size %lld at %lld leaves dim %d of size %lld",
                      (long long)part->shape[d], (long long)offset[d], d, (long long)problem->shape[d]);
  return NDR_OK; /* ndr_accumulator_add checks the rest of the tensor */
}

/* Before the work: ndr_accumulator_finish would refuse them only after it. */
static ndr_status check_results(const ndr_accumulator *a, DLTensor *const *results) {
  ndr_request request = a->whole;
  return ndr_request_results(&request, (const DLTensor *const *)results);
}

static ndr_status reduce_part(tree *t, const ndr_problem *given, const DLTensor *part, const int64_t *offset,
                              DLTensor *const *results, const ndr_options *options) {
  ndr_problem problem;
  NDR_TRY(ndr_problem_read(given, &problem));
  if (problem.operand_count != 0)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "ndreduce_parts takes no operands, and the problem has %d",
                    problem.operand_count);
  if (!part) return ndr_fail(NDR_ERR_ARGUMENT, "part is a null pointer");
  NDR_TRY(ndr_accumulator_create(&t->states, &problem, part->device, options));
  NDR_TRY(check_part(&problem, part, offset));
  if (t->rank == 0) NDR_TRY(check_results(t->states, results));
  return ndr_accumulator_add(t->states, part, offset);
}

static ndr_status keep_letter(void *user, ndr_letter *letter) {
  tree *t = user;
  int level = letter->kind;
  if (level >= MOST_LEVELS || t->letters[level].bytes || letter->from - t->rank != 1 << level)
    return refuse_letter(NULL, letter);
  t->letters[level] = *letter;
  letter->bytes = NULL;
  return NDR_OK;
}

static ndr_status take_states(tree *t, ndr_mail *mail, int level) {
  ndr_letter *letter = &t->letters[level];
  while (!letter->bytes) NDR_TRY(ndr_mail_look(mail, true));
  char reason[512];
  ndr_status status = ndr_accumulator_import(t->states, letter->bytes, letter->count);
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  if (status != NDR_OK) status = ndr_fail(status, "the states of rank %d: %s", letter->from, reason);
  free(letter->bytes);
  letter->bytes = NULL;
  return status;
}

static ndr_status send_states(const tree *t, ndr_mail *mail, int level) {
  size_t count;
  NDR_TRY(ndr_accumulator_export(t->states, NULL, 0, &count));
  void *bytes = malloc(count);
  if (!bytes) return ndr_fail(NDR_ERR_MEMORY, "out of memory for partial states, %zu bytes", count);
  ndr_status status = ndr_accumulator_export(t->states, bytes, count, &count);
  if (status == NDR_OK) status = ndr_mail_send(mail, t->rank - (1 << level), level, bytes, count);
  free(bytes);
  return status;
}

/* At level k a rank that is a multiple of 2^(k+1) takes the states of rank + 2^k. Any other rank sends its own, and is
 * done. */
static ndr_status climb(tree *t, ndr_mail *mail) {
  for (int level = 0; level < MOST_LEVELS && 1 << level < t->ranks; level++) {
    if (t->rank & 1 << level) return send_states(t, mail, level);
    if (1 << level < t->ranks - t->rank) NDR_TRY(take_states(t, mail, level));
  }
  return NDR_OK;
}

ndr_status ndreduce_parts(ndr_comm *comm, const ndr_problem *problem, const DLTensor *part, const int64_t *offset,
                          DLTensor *const *results, const ndr_options *options) {
  ndr_mail *mail;
  tree t = {0};
  NDR_TRY(ndr_mail_open(&mail, comm, NDR_CALL_PARTS, keep_letter, &t));
  t.rank = comm->rank;
  t.ranks = comm->ranks;
  ndr_status status = reduce_part(&t, problem, part, offset, results, options);
  if (status == NDR_OK) status = climb(&t, mail);
  if (status == NDR_OK && t.rank == 0) status = ndr_accumulator_finish(t.states, results);
  status = ndr_mail_end(mail, status);
  for (int level = 0; level < MOST_LEVELS; level++) free(t.letters[level].bytes);
  ndr_accumulator_destroy(t.states);
  return status;
}
