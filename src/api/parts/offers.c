/* See offers.h. */
#include "api/parts/offers.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static ndr_offer *offers;

bool ndr_offer_make(ndr_offer *offer, const ndr_accumulator *states) {
  *offer = (ndr_offer){.states = NULL};
  if (getrandom(offer->key, sizeof offer->key, GRND_NONBLOCK) != (ssize_t)sizeof offer->key) return false;
  offer->states = states;
  pthread_mutex_lock(&lock);
  offer->next = offers;
  offers = offer;
  pthread_mutex_unlock(&lock);
  return true;
}

ndr_offer *ndr_offer_take(const unsigned char *key) {
  pthread_mutex_lock(&lock);
  ndr_offer *offer = offers;
  while (offer && memcmp(offer->key, key, sizeof offer->key) != 0) offer = offer->next;
  if (offer) offer->takers++;
  pthread_mutex_unlock(&lock);
  return offer;
}

void ndr_offer_give_back(ndr_offer *offer) {
  pthread_mutex_lock(&lock);
  offer->takers--;
  pthread_cond_broadcast(&given_back);
  pthread_mutex_unlock(&lock);
}

void ndr_offer_end(ndr_offer *offer) {
  if (!offer->states) return;
  pthread_mutex_lock(&lock);
  while (offer->takers > 0) pthread_cond_wait(&given_back, &lock);
  ndr_offer **link = &offers;
  while (*link != offer) link = &(*link)->next;
  *link = offer->next;
  pthread_mutex_unlock(&lock);
  offer->states = NULL;
}
