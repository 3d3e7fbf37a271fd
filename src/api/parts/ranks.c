/* Collective calls for arrays: see ndreduce/comm.h. Each rank reduces its part to partial states. They go up a binary
 * tree of ranks, which merges them; rank 0 finishes them. A rank whose states are on a GPU offers them (offers.h): if
 * it is a thread of the same process, the one above merges them where they are. Else it exports them. */
#include <stdio.h>
#include <stdlib.h>

#include "api/accumulator.h"
#include "api/parts/offers.h"
#include "common/mail.h"

enum { MOST_LEVELS = 31 };

/* Kinds of letters: STATES + level has exported states, OFFER + level the key of an offer. TAKEN and REFUSED answer an
 * offer. */
enum { STATES = 0, OFFER = 32, TAKEN = 64, REFUSED };

typedef struct tree {
  int rank, ranks;
  ndr_accumulator *states;
  /* letters[level] has the states of rank + 2^level until the levels below are merged; its bytes are NULL before they
   * come, and afterwards. */
  ndr_letter letters[MOST_LEVELS];
  ndr_offer offer; /* of this rank's states */
  int answer;      /* to the offer; 0: none yet */
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

static ndr_status keep_answer(tree *t, ndr_letter *letter) {
  if (!t->offer.states || t->answer || letter->kind > REFUSED || t->rank - letter->from != (t->rank & -t->rank))
    return refuse_letter(NULL, letter);
  t->answer = letter->kind;
  return NDR_OK;
}

static ndr_status keep_letter(void *user, ndr_letter *letter) {
  tree *t = user;
  if (letter->kind >= TAKEN) return keep_answer(t, letter);
  int level = letter->kind % OFFER;
  if (level >= MOST_LEVELS || t->letters[level].bytes || letter->from - t->rank != 1 << level ||
      (letter->kind >= OFFER && letter->count != NDR_OFFER_KEY_BYTES))
    return refuse_letter(NULL, letter);
  t->letters[level] = *letter;
  letter->bytes = NULL;
  return NDR_OK;
}

static ndr_status await_letter(tree *t, ndr_mail *mail, int level) {
  while (!t->letters[level].bytes) NDR_TRY(ndr_mail_look(mail, true));
  return NDR_OK;
}

/* Frees a letter that has been read, and says whose states failed. */
static ndr_status drop_letter(ndr_letter *letter, ndr_status status) {
  char reason[512];
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  free(letter->bytes);
  letter->bytes = NULL;
  return status == NDR_OK ? NDR_OK : ndr_fail(status, "the states of rank %d: %s", letter->from, reason);
}

/* Merges states that a thread of this process offers. Sets *taken to false if the key is of another process, or if the
 * states are of another problem or kind of device: the other rank then exports them, and the import says what differs.
 */
static ndr_status take_offer(tree *t, ndr_letter *letter, bool *taken) {
  ndr_offer *offer = ndr_offer_take(letter->bytes);
  *taken = offer && ndr_accumulators_are_alike(t->states, offer->states);
  ndr_status status = *taken ? ndr_accumulator_merge(t->states, offer->states) : NDR_OK;
  if (offer) ndr_offer_give_back(offer);
  return drop_letter(letter, status);
}

static ndr_status take_states(tree *t, ndr_mail *mail, int level) {
  ndr_letter *letter = &t->letters[level];
  NDR_TRY(await_letter(t, mail, level));
  if (letter->kind >= OFFER) {
    bool taken;
    NDR_TRY(take_offer(t, letter, &taken));
    NDR_TRY(ndr_mail_send(mail, letter->from, taken ? TAKEN : REFUSED, NULL, 0));
    if (taken) return NDR_OK;
    NDR_TRY(await_letter(t, mail, level));
  }
  return drop_letter(letter, ndr_accumulator_import(t->states, letter->bytes, letter->count));
}

static ndr_status send_exported(const tree *t, ndr_mail *mail, int to, int level) {
  size_t count;
  NDR_TRY(ndr_accumulator_export(t->states, NULL, 0, &count));
  void *bytes = malloc(count);
  if (!bytes) return ndr_fail(NDR_ERR_MEMORY, "out of memory for partial states, %zu bytes", count);
  ndr_status status = ndr_accumulator_export(t->states, bytes, count, &count);
  if (status == NDR_OK) status = ndr_mail_send(mail, to, STATES + level, bytes, count);
  free(bytes);
  return status;
}

/* Offers states, and waits for the answer. If they are taken, waits for the GPU too, so that its failure is known
 * before the call ends. */
static ndr_status offer_states(tree *t, ndr_mail *mail, int to, int level) {
  const ndr_accumulator *states = t->states;
  if (!ndr_offer_make(&t->offer, states)) return NDR_OK;
  NDR_TRY(ndr_mail_send(mail, to, OFFER + level, t->offer.key, sizeof t->offer.key));
  while (!t->answer) NDR_TRY(ndr_mail_look(mail, true));
  return t->answer == TAKEN ? states->backend->calls->wait(states->place.device_id, states->options.stream) : NDR_OK;
}

static ndr_status send_states(tree *t, ndr_mail *mail, int level) {
  int to = t->rank - (1 << level);
  if (t->states->backend->calls) NDR_TRY(offer_states(t, mail, to, level));
  return t->answer == TAKEN ? NDR_OK : send_exported(t, mail, to, level);
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
  ndr_offer_end(&t.offer);
  ndr_accumulator_destroy(t.states);
  return status;
}
