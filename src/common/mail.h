/* Letters between the ranks of a comm during one collective call, and the end of the call, on which all of them agree.
 * A rank that fails tells rank 0, which tells the others; they hear of it when they next look for letters. So no rank
 * waits for one that has given up. When the call ends, no letter is under way. */
#ifndef NDR_COMMON_MAIL_H
#define NDR_COMMON_MAIL_H

#include <stdbool.h>

#include "ndreduce/comm.h"

typedef struct ndr_letter {
  int from, kind; /* a rank; a number of the caller's, from 0 on */
  size_t count;
  unsigned char *bytes; /* the mail's; a handler that keeps them sets this to NULL, and frees them with free() later */
} ndr_letter;

/* The calls that ranks make together. */
typedef enum ndr_call { NDR_CALL_AGREE, NDR_CALL_PARTS, NDR_CALL_H5, NDR_CALL_STRUCTURE } ndr_call;

/* Handles a letter. If it fails, this rank has failed. */
typedef ndr_status ndr_mail_handler(void *user, ndr_letter *letter);

typedef struct ndr_mail ndr_mail;

/* Begins the call. NDR_ERR_ARGUMENT for a comm that is none. Close even after a failure, with ndr_mail_end. A letter
 * from a rank that is in another call, or rank 0's hearing that such a call went well, makes all fail. */
ndr_status ndr_mail_open(ndr_mail **mail, ndr_comm *comm, ndr_call call, ndr_mail_handler *handler, void *user);

/* Sends a letter of any length to another rank; `bytes` may be NULL where there are none. */
ndr_status ndr_mail_send(ndr_mail *mail, int to, int kind, const void *bytes, size_t count);

/* Handles all letters that have come; if `wait`, waits for one at least. Fails if any rank has failed. */
ndr_status ndr_mail_look(ndr_mail *mail, bool wait);

/* Ends the call and frees the mail. `mine` is this rank's status; ndr_last_error() is why, if it has failed. Letters
 * that come meanwhile are handled on rank 0, and thrown away on others: a rank that needs letters waits for them
 * before. Returns the status on which all ranks agree, with its sentence. If the call could not begin, `mail` is NULL:
 * returns `mine`. */
ndr_status ndr_mail_end(ndr_mail *mail, ndr_status mine);

#endif
