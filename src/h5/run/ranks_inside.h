/* What ranks.c, which has the letters, and ranks_join.c, which has the outputs, share. */
#ifndef NDR_H5_RUN_RANKS_INSIDE_H
#define NDR_H5_RUN_RANKS_INSIDE_H

#include "common/mail.h"
#include "h5/run/deal.h"
#include "h5/run/ranks.h"

/* States of a piece that this rank owns, as they were exported. */
typedef struct ndr_owned_state {
  struct ndr_owned_state *next;
  ndr_state_key key;
  unsigned char *letter; /* of which the export is the end */
  size_t count;          /* bytes of the letter */
} ndr_owned_state;

enum { NDR_OWNED_LISTS = 4096 };

struct ndr_ranks {
  ndr_mail *mail;
  int rank, ranks;
  const ndr_job *job; /* NULL until it is made */
  DLTensor *const *results;
  ndr_sink sink; /* sends boxes to rank 0 */
  ndr_deal deal;
  bool begun;                              /* the range that is this rank's from the beginning is taken */
  bool asked;                              /* for a range of the stage, and not been answered */
  int64_t answer;                          /* a range, or -1 */
  ndr_owned_state *owned[NDR_OWNED_LISTS]; /* by their keys */
  int64_t sent_bytes;
  double told; /* when rank 0 was last told */
  /* Of rank 0. */
  char *job_text, **job_texts; /* its own job's, and those of the others */
  int64_t *handed_out;         /* ranges of each stage */
  ndr_h5_progress *progress;   /* of each rank */
  int finished;                /* other ranks */
  bool weighed;                /* one of them has seen a weight other than 0 */
};

/* Kinds of letters. */
enum {
  NDR_LETTER_JOB,    /* to rank 0: what the sender is going to reduce */
  NDR_LETTER_ASK,    /* to rank 0: for the next range of a stage, of so many that are handed out */
  NDR_LETTER_RANGE,  /* from rank 0: which that is; -1: there is none left */
  NDR_LETTER_STATES, /* to an owner: a key and an export */
  NDR_LETTER_BOX,    /* to rank 0: a box of results: which, begin[] and size[] in turns, elements */
  NDR_LETTER_TELL    /* to rank 0: how far the sender is */
};

static inline ndr_status ndr_ranks_send(ndr_ranks *r, int to, int kind, const void *bytes, size_t count) {
  r->sent_bytes += (int64_t)count;
  return ndr_mail_send(r->mail, to, kind, bytes, count);
}

/* Waits for a letter and handles it. */
static inline ndr_status ndr_ranks_wait(ndr_ranks *r) {
  return ndr_mail_look(r->mail, true);
}

/* Bytes in front of the export in a letter of states. */
enum { NDR_STATES_HEAD = 24 };

/* Keeps a letter of states, which is the ranks' from now on. */
ndr_status ndr_ranks_own(ndr_ranks *ranks, unsigned char *letter, size_t count);

/* Writes a box of results that another rank has sent. */
ndr_status ndr_ranks_take_box(ndr_ranks *ranks, const unsigned char *bytes, size_t count);

/* What the sink of ranks other than 0 does. */
ndr_status ndr_ranks_put_box(void *user, int i, const int64_t *begin, const int64_t *size, void *data);

void ndr_ranks_drop_owned(ndr_ranks *ranks);

#endif
