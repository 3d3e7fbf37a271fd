/* Accumulators that one thread of a process offers to others: ranks that are threads of one process need not export
 * and import states. A rank sends the key of its offer. If the receiver's process knows no such key, the sender is in
 * another process. All calls may be made by several threads at once. */
#ifndef NDR_API_PARTS_OFFERS_H
#define NDR_API_PARTS_OFFERS_H

#include <stdbool.h>

#include "ndreduce/plan.h"

enum { NDR_OFFER_KEY_BYTES = 16 };

typedef struct ndr_offer {
  unsigned char key[NDR_OFFER_KEY_BYTES];
  const ndr_accumulator *states; /* NULL: there is no offer */
  int takers;                    /* how many have taken it, and not given it back yet */
  struct ndr_offer *next;        /* in the list of this process's offers */
} ndr_offer;

/* Offers an accumulator under a new random key. Neither may move until ndr_offer_end. Returns false, and makes no
 * offer, if the system has no random numbers yet. */
bool ndr_offer_make(ndr_offer *offer, const ndr_accumulator *states);

/* Finds the offer with that key of NDR_OFFER_KEY_BYTES; NULL if this process has none. It lasts until it is given back.
 */
ndr_offer *ndr_offer_take(const unsigned char *key);
void ndr_offer_give_back(ndr_offer *offer);

/* Waits until all who have taken the offer have given it back, and ends it. Does nothing for an offer that was never
 * made, with `states` NULL, or that has ended. */
void ndr_offer_end(ndr_offer *offer);

#endif
