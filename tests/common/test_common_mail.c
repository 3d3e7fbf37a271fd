/* Letters between ranks: of all lengths they arrive whole and in order, and none is taken for one of another call.
 * Comms that are none are refused. */
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

/* ---- letters ---- */

static const size_t sizes[] = {0, 1, 7, 8, 4096, 0, 100003};
static const size_t large_sizes[] = {NDR_MESSAGE_BYTES - 8, NDR_MESSAGE_BYTES - 7, 2 * NDR_MESSAGE_BYTES + 5, 0, 3};
static const int steps[] = {1, 2, 5}; /* a rank writes to rank + step */

typedef struct exchange {
  const size_t *sizes;
  int size_count;
  int calls; /* one after the other */
  finding *findings;
} exchange;

typedef struct reader {
  const exchange *x;
  ndr_comm *comm;
  finding *found;
  int call, *next; /* of each rank: the letter that comes next */
  int64_t received;
} reader;

static unsigned char byte_of(int from, int to, int call, int letter, size_t at) {
  return (unsigned char)(from * 31 + to * 7 + call * 5 + letter * 3 + (int)(at % 251));
}

/* Of long letters only some bytes are checked: the thread sanitizer is slow on each one. */
static size_t step_of(size_t count) {
  return count > 4096 ? 997 : 1;
}

static void check_letter(reader *self, const ndr_letter *letter) {
  int number = self->next[letter->from]++, me = self->comm->rank;
  if (letter->kind != self->call)
    FIND(self->found, "a letter of call %d of rank %d in call %d", letter->kind, letter->from, self->call);
  else if (letter->count != self->x->sizes[number % self->x->size_count])
    FIND(self->found, "letter %d of rank %d has %zu bytes", number, letter->from, letter->count);
  else
    for (size_t i = 0; i < letter->count; i += step_of(letter->count))
      if (letter->bytes[i] != byte_of(letter->from, me, self->call, number % self->x->size_count, i)) {
        FIND(self->found, "byte %zu of letter %d of rank %d", i, number, letter->from);
        break;
      }
}

static ndr_status read_letter(void *user, ndr_letter *letter) {
  reader *self = user;
  check_letter(self, letter);
  self->received++;
  if (self->received % 3 == 0) { /* now and then the reader keeps one */
    free(letter->bytes);
    letter->bytes = NULL;
  }
  return NDR_OK;
}

static ndr_status send_letters(const reader *self, ndr_mail *mail, int to) {
  const exchange *x = self->x;
  for (int l = 0; l < x->size_count; l++) {
    unsigned char *bytes = x->sizes[l] ? calloc(x->sizes[l], 1) : NULL;
    for (size_t i = 0; i < x->sizes[l]; i += step_of(x->sizes[l]))
      bytes[i] = byte_of(self->comm->rank, to, self->call, l, i);
    ndr_status status = ndr_mail_send(mail, to, self->call, bytes, x->sizes[l]);
    free(bytes);
    if (status != NDR_OK) return status;
  }
  return NDR_OK;
}

/* Sends letters to some ranks, and reads those of others. */
static ndr_status exchange_letters(reader *self, ndr_mail *mail) {
  int ranks = self->comm->ranks;
  int64_t due = 0;
  ndr_status status = NDR_OK;
  for (size_t s = 0; s < COUNT(steps); s++) {
    if (steps[s] % ranks == 0) continue;
    due += self->x->size_count;
    status = send_letters(self, mail, (self->comm->rank + steps[s]) % ranks);
    if (status == NDR_OK) status = ndr_mail_look(mail, false);
    if (status != NDR_OK) return status;
  }
  while (status == NDR_OK && self->received < due) status = ndr_mail_look(mail, true);
  return status;
}

static void exchange_body(ndr_comm *comm, void *user) {
  const exchange *x = user;
  finding *found = &x->findings[comm->rank];
  for (int call = 0; call < x->calls; call++) {
    ndr_mail *mail;
    reader self = {.x = x, .comm = comm, .found = found, .call = call};
    self.next = calloc((size_t)comm->ranks, sizeof *self.next);
    ndr_status status = ndr_mail_open(&mail, comm, NDR_CALL_AGREE, read_letter, &self);
    if (status == NDR_OK) status = exchange_letters(&self, mail);
    keep_outcome(found, ndr_mail_end(mail, status));
    free(self.next);
  }
}

static void check_exchange(int ranks, uint64_t seed, const size_t *lengths, int count, int calls) {
  finding *findings = calloc((size_t)ranks, sizeof *findings);
  exchange x = {lengths, count, calls, findings};
  ck_assert_int_eq(threads_run(ranks, seed, exchange_body, &x, NULL), 0);
  assert_all(findings, ranks, NDR_OK, "");
  free(findings);
}

START_TEST(letters_of_all_sizes_arrive_in_order) {
  for (size_t i = 0; i < COUNT(rank_counts); i++)
    for (uint64_t seed = 0; seed < test_orders(4); seed++)
      check_exchange(rank_counts[i], seed, sizes, sizeof sizes / sizeof *sizes, 3);
}
END_TEST

START_TEST(letters_longer_than_a_message_arrive_whole) {
  for (int ranks = 1; ranks <= 3; ranks++)
    for (uint64_t seed = 0; seed < 2; seed++)
      check_exchange(ranks, seed, large_sizes, sizeof large_sizes / sizeof *large_sizes, 1);
}
END_TEST

START_TEST(a_thousand_ranks_write_to_each_other) {
  for (uint64_t seed = 0; seed < test_orders(2); seed++) check_exchange(test_many_ranks(), seed, sizes, 3, 2);
}
END_TEST

/* ---- letters of calls that follow each other ---- */

typedef struct row {
  uint64_t seed;
  int calls;
  finding *findings;
} row;

typedef struct row_reader {
  finding *found;
  int call;
} row_reader;

static ndr_status read_row(void *user, ndr_letter *letter) {
  row_reader *self = user;
  if (letter->kind != self->call)
    FIND(self->found, "a letter of call %d of rank %d in call %d", letter->kind, letter->from, self->call);
  return NDR_OK;
}

/* Writes to anybody, and ends the call at once: letters are still under way. One call in three fails, somewhere. */
static ndr_status hurried_call(ndr_comm *comm, const row *all, row_reader *self) {
  ndr_mail *mail;
  rng same = {all->seed * 977 + (uint64_t)self->call}, own = {same.state + 31 * (uint64_t)(comm->rank + 1)};
  int fails = rng_once_in(&same, 3) ? (int)rng_between(&same, 0, comm->ranks - 1) : -1;
  int letters = (int)rng_between(&own, 0, 3);
  ndr_status status = ndr_mail_open(&mail, comm, NDR_CALL_AGREE, read_row, self);
  for (int l = 0; l < letters && status == NDR_OK; l++) {
    int to = (int)rng_between(&own, 0, comm->ranks - 1);
    if (to != comm->rank) status = ndr_mail_send(mail, to, self->call, "letter", 6);
  }
  if (status == NDR_OK && rng_once_in(&own, 2)) status = ndr_mail_look(mail, false);
  if (comm->rank == fails) status = ndr_fail(NDR_ERR_FILE, "failed");
  status = ndr_mail_end(mail, status);
  if ((status == NDR_OK) != (fails < 0)) FIND(self->found, "call %d: %s", self->call, ndr_status_name(status));
  return status;
}

static void row_body(ndr_comm *comm, void *user) {
  const row *all = user;
  for (int call = 0; call < all->calls; call++) {
    row_reader self = {&all->findings[comm->rank], call};
    (void)hurried_call(comm, all, &self);
  }
}

START_TEST(no_letter_is_taken_for_one_of_another_call) {
  static const int counts[] = {2, 3, 5, 16};
  for (size_t i = 0; i < COUNT(counts); i++)
    for (uint64_t seed = 1; seed <= 8; seed++) {
      row all = {seed, test_case_count(100), calloc((size_t)counts[i], sizeof *all.findings)};
      ck_assert_int_eq(threads_run(counts[i], seed, row_body, &all, NULL), 0);
      assert_all(all.findings, counts[i], NDR_OK, "");
      free(all.findings);
    }
}
END_TEST

/* ---- comms that are none, and comms that fail ---- */

static int calls_of_broken;

static ndr_status broken_send(void *user, int to, const void *bytes, size_t count) {
  (void)user, (void)to, (void)bytes, (void)count;
  calls_of_broken++;
  return ndr_fail(NDR_ERR_DEVICE, "the cable is cut");
}

static ndr_status broken_receive(void *user, int wait, int *from, void **bytes, size_t *count) {
  (void)user, (void)wait, (void)from, (void)bytes, (void)count;
  calls_of_broken++;
  return ndr_fail(NDR_ERR_DEVICE, "the cable is cut");
}

static ndr_status no_letters(void *user, ndr_letter *letter) {
  (void)user;
  return ndr_fail(NDR_ERR_ARGUMENT, "a letter of kind %d", letter->kind);
}

static ndr_comm sound = {sizeof(ndr_comm), 1, 2, 0, 1, NULL, broken_send, broken_receive, NDR_OK};

static ndr_status open_comm(ndr_comm *comm) {
  ndr_mail *mail;
  ndr_status status = ndr_mail_open(&mail, comm, NDR_CALL_AGREE, no_letters, NULL);
  if (status != NDR_OK) {
    ck_assert_ptr_null(mail);
    return ndr_mail_end(mail, status);
  }
  /* Ends without a message, as this comm would fail. */
  (void)ndr_mail_send(mail, 1 - comm->rank, 0, NULL, 0);
  (void)ndr_mail_end(mail, NDR_OK);
  return NDR_OK;
}

START_TEST(comms_that_are_none_are_refused) {
  ndr_comm comm = sound;
  assert_ok(open_comm(&comm));
  assert_fails(open_comm(NULL), NDR_ERR_ARGUMENT, "comm");
  comm.size = 1;
  assert_fails(open_comm(&comm), NDR_ERR_ARGUMENT, "NDR_COMM_INIT");
  comm = sound, comm.ranks = 0;
  assert_fails(open_comm(&comm), NDR_ERR_ARGUMENT, "rank 1 of 0");
  comm = sound, comm.rank = 2;
  assert_fails(open_comm(&comm), NDR_ERR_ARGUMENT, "rank 2 of 2");
  comm = sound, comm.rank = -1;
  assert_fails(open_comm(&comm), NDR_ERR_ARGUMENT, "rank -1 of 2");
  comm = sound, comm.send = NULL;
  assert_fails(open_comm(&comm), NDR_ERR_ARGUMENT, "comm.send");
  comm = sound, comm.receive = NULL;
  assert_fails(open_comm(&comm), NDR_ERR_ARGUMENT, "comm.receive");
}
END_TEST

START_TEST(a_rank_alone_needs_no_calls) {
  ndr_comm alone = NDR_COMM_INIT;
  ndr_mail *mail;
  assert_ok(ndr_mail_open(&mail, &alone, NDR_CALL_AGREE, no_letters, NULL));
  assert_ok(ndr_mail_look(mail, true));
  assert_ok(ndr_mail_end(mail, NDR_OK));
  assert_ok(ndr_mail_open(&mail, &alone, NDR_CALL_AGREE, no_letters, NULL));
  assert_fails(ndr_mail_end(mail, ndr_fail(NDR_ERR_FILE, "no file")), NDR_ERR_FILE, "no file");
}
END_TEST

/* With a comm that failed, nobody can agree. */
START_TEST(a_comm_that_fails_is_left_alone) {
  ndr_mail *mail;
  assert_ok(ndr_mail_open(&mail, &sound, NDR_CALL_AGREE, no_letters, NULL));
  calls_of_broken = 0;
  assert_fails(ndr_mail_send(mail, 0, 0, NULL, 0), NDR_ERR_DEVICE, "sending to rank 0");
  assert_fails(ndr_mail_end(mail, NDR_ERR_DEVICE), NDR_ERR_DEVICE, "rank 1 of 2");
  ck_assert_int_eq(calls_of_broken, 1);
  assert_ok(ndr_mail_open(&mail, &sound, NDR_CALL_AGREE, no_letters, NULL));
  assert_fails(ndr_mail_look(mail, true), NDR_ERR_DEVICE, "receiving");
  assert_fails(ndr_mail_end(mail, NDR_ERR_DEVICE), NDR_ERR_DEVICE, "rank 1 of 2");
  ck_assert_int_eq(calls_of_broken, 2);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("common mail");
  suite_case(suite, "letters", 300, letters_of_all_sizes_arrive_in_order, letters_longer_than_a_message_arrive_whole,
             a_thousand_ranks_write_to_each_other, no_letter_is_taken_for_one_of_another_call, NULL);
  suite_case(suite, "comms", 60, comms_that_are_none_are_refused, a_rank_alone_needs_no_calls,
             a_comm_that_fails_is_left_alone, NULL);
  return suite_run(suite);
}
