/* Accumulators that threads of a process offer each other: an offer is found by its key alone, and stays while anyone
 * has taken it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "api/parts/offers.h"
#include "support/suite.h"

static const ndr_accumulator *some_accumulator(void *number) {
  return number; /* no offer looks at what it is of */
}

START_TEST(an_offer_is_found_by_its_key_until_it_ends) {
  int numbers[2] = {0, 0};
  ndr_offer offers[2];
  unsigned char other[NDR_OFFER_KEY_BYTES];
  for (int i = 0; i < 2; i++) ck_assert(ndr_offer_make(&offers[i], some_accumulator(&numbers[i])));
  memcpy(other, offers[0].key, sizeof other);
  other[NDR_OFFER_KEY_BYTES - 1] ^= 1;
  ck_assert_ptr_null(ndr_offer_take(other));
  for (int i = 0; i < 2; i++) {
    ndr_offer *taken = ndr_offer_take(offers[i].key);
    ck_assert_ptr_eq(taken, &offers[i]);
    ck_assert_ptr_eq(taken->states, some_accumulator(&numbers[i]));
    ndr_offer_give_back(taken);
  }
  memcpy(other, offers[0].key, sizeof other);
  ndr_offer_end(&offers[0]);
  ck_assert_ptr_null(ndr_offer_take(other));
  ck_assert_ptr_nonnull(ndr_offer_take(offers[1].key));
  ndr_offer_give_back(&offers[1]);
  ndr_offer_end(&offers[1]);
  ndr_offer_end(&offers[1]); /* is none any more */
}
END_TEST

enum { THREADS = 6, ROUNDS = 3000 };

/* What the threads share: the key that each offered last, and whether the offer has ended. */
typedef struct market {
  pthread_mutex_t lock;
  unsigned char keys[THREADS][NDR_OFFER_KEY_BYTES];
  int alive[THREADS]; /* written before the offer is made and after it has ended, read by who has taken it */
  atomic_int wrong, taken;
} market;

typedef struct trader {
  market *at;
  int number;
} trader;

static void take_from(market *m, int from) {
  unsigned char key[NDR_OFFER_KEY_BYTES];
  pthread_mutex_lock(&m->lock);
  memcpy(key, m->keys[from], sizeof key);
  pthread_mutex_unlock(&m->lock);
  ndr_offer *offer = ndr_offer_take(key);
  if (!offer) return; /* it has ended */
  atomic_fetch_add(&m->taken, 1);
  sched_yield(); /* so that the offer's maker comes to its end */
  if (offer->states != some_accumulator(&m->alive[from]) || !m->alive[from]) atomic_fetch_add(&m->wrong, 1);
  ndr_offer_give_back(offer);
}

static void *trade(void *user) {
  trader *t = user;
  market *m = t->at;
  for (int i = 0; i < ROUNDS; i++) {
    ndr_offer offer;
    m->alive[t->number] = 1;
    if (!ndr_offer_make(&offer, some_accumulator(&m->alive[t->number]))) atomic_fetch_add(&m->wrong, 1);
    pthread_mutex_lock(&m->lock);
    memcpy(m->keys[t->number], offer.key, sizeof offer.key);
    pthread_mutex_unlock(&m->lock);
    sched_yield();
    for (int k = 1; k < THREADS; k++) take_from(m, (t->number + k) % THREADS);
    ndr_offer_end(&offer);
    m->alive[t->number] = 0;
  }
  return NULL;
}

START_TEST(an_offer_ends_when_all_have_given_it_back) {
  static market m = {.lock = PTHREAD_MUTEX_INITIALIZER};
  trader traders[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    traders[i] = (trader){&m, i};
    ck_assert_int_eq(pthread_create(&threads[i], NULL, trade, &traders[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  ck_assert_int_eq(m.wrong, 0);
  ck_assert_int_gt(m.taken, 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("offers of accumulators");
  suite_case(suite, "offers", 60, an_offer_is_found_by_its_key_until_it_ends, an_offer_ends_when_all_have_given_it_back,
             NULL);
  return suite_run(suite);
}
