/* Accumulators that threads of one process show each other: ranks that are such threads need not export and import.
 * They tell each other keys; a key that a process does not know is of another process. */
#ifndef NDR_API_PARTS_OFFERS_H
#define NDR_API_PARTS_OFFERS_H

#include <stdbool.h>

#include "ndreduce/plan.h"

enum { NDR_OFFER_KEY_BYTES = 16 };

typedef struct ndr_offer {
  unsigned char key[NDR_OFFER_KEY_BYTES];
  const ndr_accumulator *states; /* NULL: there is no offer */
  int takers;                    /* who have taken it, and not given it back yet */
  struct ndr_offer *next;        /* of this process's */
} ndr_offer;

/* Offers an accumulator under a new key. If there are no random numbers to be had, makes no offer and returns false. */
bool ndr_offer_make(ndr_offer *offer, const ndr_accumulator *states);

/* The offer of that key, which stays until it is given back; NULL if this process has none. */
ndr_offer *ndr_offer_take(const unsigned char *key);
void ndr_offer_give_back(ndr_offer *offer);

/* Ends an offer, if it is one, when all that have taken it have given it back. */
void ndr_offer_end(ndr_offer *offer);

#endif
