/* How a call of ranks ends: whatever fails where, all say the same, and nobody waits for ever. */
#include <stdio.h>
#include <stdlib.h>

#include "common/mail.h"
#include "core/status.h"
#include "support/cases.h"
#include "support/findings.h"
#include "support/suite.h"
#include "support/threads_comm.h"

static const int rank_counts[] = {1, 2, 3, 7, 64};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* ---- agreement ---- */

typedef struct vote {
  bool (*fails)(int rank, int ranks);
  finding *findings;
} vote;

static bool nobody(int rank, int ranks) {
  (void)rank, (void)ranks;
  return false;
}
static bool first(int rank, int ranks) {
  (void)ranks;
  return rank == 0;
}
static bool last(int rank, int ranks) {
  return rank == ranks - 1;
}
static bool upper_half(int rank, int ranks) {
  return rank >= ranks / 2;
}
static bool everybody(int rank, int ranks) {
  (void)rank, (void)ranks;
  return true;
}

static ndr_status status_of(int rank) {
  return rank % 2 ? NDR_ERR_FILE : NDR_ERR_MEMORY;
}

static ndr_status no_letters(void *user, ndr_letter *letter) {
  (void)user;
  return ndr_fail(NDR_ERR_ARGUMENT, "a letter of kind %d", letter->kind);
}

static void vote_body(ndr_comm *comm, void *user) {
  const vote *v = user;
  ndr_mail *mail;
  ndr_status status = ndr_mail_open(&mail, comm, NDR_CALL_AGREE, no_letters, NULL);
  if (v->fails(comm->rank, comm->ranks)) status = ndr_fail(status_of(comm->rank), "file of %d is missing", comm->rank);
  keep_outcome(&v->findings[comm->rank], ndr_mail_end(mail, status));
}

static void check_vote(bool (*fails)(int rank, int ranks), int ranks, uint64_t seed) {
  char expected[100] = "";
  int lowest = 0;
  threads_sent *sent = calloc((size_t)ranks, sizeof *sent);
  vote v = {fails, calloc((size_t)ranks, sizeof *v.findings)};
  ck_assert_int_eq(threads_run(ranks, seed, vote_body, &v, sent), 0);
  while (lowest < ranks && !fails(lowest, ranks)) lowest++;
  if (lowest == 0) snprintf(expected, sizeof expected, "file of 0 is missing");
  if (lowest > 0 && lowest < ranks)
    snprintf(expected, sizeof expected, "file of %d is missing (rank %d of %d)", lowest, lowest, ranks);
  assert_all(v.findings, ranks, lowest < ranks ? status_of(lowest) : NDR_OK, expected);
  for (int r = 1; r < ranks; r++) ck_assert_int_eq(sent[r].messages, 1);
  if (lowest == ranks) ck_assert_int_eq(sent[0].messages, ranks - 1);
  free(sent);
  free(v.findings);
}

START_TEST(all_fail_as_the_lowest_rank_that_failed) {
  static bool (*const ways[])(int, int) = {nobody, first, last, upper_half, everybody};
  for (size_t w = 0; w < COUNT(ways); w++) {
    for (size_t i = 0; i < COUNT(rank_counts); i++)
      for (uint64_t seed = 0; seed < test_orders(4); seed++) check_vote(ways[w], rank_counts[i], seed);
    check_vote(ways[w], test_many_ranks(), 0);
  }
}
END_TEST

/* ---- ranks that fail while others wait ---- */

/* What the rank that fails does, and what the others do until they hear of it. */
typedef enum { FAILS_AT_ONCE, FAILS_IN_HANDLER } failing;
typedef enum { WAIT, POLL } waiting;

typedef struct strike {
  failing how;
  waiting others;
  int who;
  finding *findings;
} strike;

typedef struct striker {
  const strike *s;
  ndr_comm *comm;
  int call;
} striker;

static ndr_status strike_handler(void *user, ndr_letter *letter) {
  striker *self = user;
  if (letter->kind != self->call)
    FIND(&self->s->findings[self->comm->rank], "a letter of call %d in call %d", letter->kind, self->call);
  if (self->s->how == FAILS_IN_HANDLER && self->comm->rank == self->s->who && self->call % 2 == 0)
    return ndr_fail(NDR_ERR_PARSE, "cannot read");
  return NDR_OK;
}

/* All write to all, and each waits for more letters than come. */
static ndr_status strike_work(striker *self, ndr_mail *mail) {
  ndr_comm *comm = self->comm;
  if (self->s->how == FAILS_AT_ONCE && comm->rank == self->s->who) return ndr_fail(NDR_ERR_PARSE, "cannot read");
  for (int to = 0; to < comm->ranks; to++)
    if (to != comm->rank) NDR_TRY(ndr_mail_send(mail, to, self->call, "12345", 5));
  for (;;) NDR_TRY(ndr_mail_look(mail, self->s->others == WAIT));
}

static void strike_body(ndr_comm *comm, void *user) {
  const strike *s = user;
  finding *found = &s->findings[comm->rank];
  for (int call = 0; call < 6; call++) {
    ndr_mail *mail;
    striker self = {s, comm, call};
    ndr_status status = ndr_mail_open(&mail, comm, NDR_CALL_AGREE, strike_handler, &self);
    if (status == NDR_OK && call % 2 == 0) status = strike_work(&self, mail);
    status = ndr_mail_end(mail, status);
    if (call % 2 == 0)
      keep_outcome(found, status);
    else if (status != NDR_OK)
      FIND(found, "the call after a failed one: %s", ndr_last_error());
  }
}

static void check_strike(failing how, waiting others, int who, int ranks, uint64_t seed) {
  char expected[100] = "cannot read";
  strike s = {how, others, who, calloc((size_t)ranks, sizeof *s.findings)};
  ck_assert_int_eq(threads_run(ranks, seed, strike_body, &s, NULL), 0);
  if (who > 0) snprintf(expected, sizeof expected, "cannot read (rank %d of %d)", who, ranks);
  assert_all(s.findings, ranks, NDR_ERR_PARSE, expected);
  free(s.findings);
}

static void check_strikes(failing how) {
  static const int counts[] = {2, 3, 7, 33};
  for (size_t i = 0; i < COUNT(counts); i++)
    for (uint64_t seed = 0; seed < test_orders(4); seed++)
      for (int others = WAIT; others <= POLL; others++) {
        if (others == POLL && counts[i] > 7) continue; /* they would take the cores from the one that fails */
        check_strike(how, (waiting)others, 0, counts[i], seed);
        check_strike(how, (waiting)others, 1, counts[i], seed);
        check_strike(how, (waiting)others, counts[i] - 1, counts[i], seed);
      }
}

START_TEST(nobody_waits_for_a_rank_that_failed) {
  check_strikes(FAILS_AT_ONCE);
}
END_TEST

START_TEST(a_handler_that_fails_is_the_rank_that_fails) {
  check_strikes(FAILS_IN_HANDLER);
}
END_TEST

/* ---- ranks in different calls ---- */

typedef struct mixed {
  int other; /* the rank that is in another call */
  bool writes;
  finding *findings;
} mixed;

/* The others wait for a letter, or for the end. */
static void mixed_body(ndr_comm *comm, void *user) {
  const mixed *x = user;
  ndr_mail *mail;
  bool other = comm->rank == x->other;
  ndr_status status = ndr_mail_open(&mail, comm, other ? NDR_CALL_PARTS : NDR_CALL_H5, no_letters, NULL);
  if (other && x->writes) status = ndr_mail_send(mail, 0, 0, "letter", 6);
  if (!other && x->writes) status = ndr_mail_look(mail, true);
  keep_outcome(&x->findings[comm->rank], ndr_mail_end(mail, status));
}

START_TEST(ranks_in_different_calls_all_fail) {
  for (size_t i = 0; i < COUNT(rank_counts); i++)
    for (int other = 1; other < rank_counts[i]; other = other * 2 + 1) {
      char expected[100];
      mixed x = {other, true, calloc((size_t)rank_counts[i], sizeof *x.findings)};
      snprintf(expected, sizeof expected, "rank %d is in another call than rank 0", other);
      for (int k = 0; k < 2; k++, x.writes = false) {
        ck_assert_int_eq(threads_run(rank_counts[i], (uint64_t)other, mixed_body, &x, NULL), 0);
        assert_all(x.findings, rank_counts[i], NDR_ERR_ARGUMENT, expected);
      }
      free(x.findings);
    }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("common mail, failures");
  suite_case(suite, "agreement", 300, all_fail_as_the_lowest_rank_that_failed, NULL);
  suite_case(suite, "failures", 300, nobody_waits_for_a_rank_that_failed, a_handler_that_fails_is_the_rank_that_fails,
             ranks_in_different_calls_all_fail, NULL);
  return suite_run(suite);
}
