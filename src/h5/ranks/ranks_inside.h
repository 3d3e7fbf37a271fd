/* What ranks.c (letters) and ranks_join.c (states and outputs) share. */
#ifndef NDR_H5_RANKS_RANKS_INSIDE_H
#define NDR_H5_RANKS_RANKS_INSIDE_H

#include "common/mail.h"
#include "h5/ranks/deal.h"
#include "h5/ranks/ranks.h"

/* States of a piece, for outputs that this rank owns. */
typedef struct ndr_owned_state {
  struct ndr_owned_state *next;
  ndr_state_key key;
  unsigned char *letter; /* NDR_STATES_HEAD bytes and an exported accumulator */
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
  bool begun;                              /* ndr_ranks_next has given this rank's first range */
  bool asked;                              /* rank 0 for a range, and it has not answered */
  int64_t answer;                          /* the range that rank 0 has handed out to this rank; -1: none is left */
  ndr_owned_state *owned[NDR_OWNED_LISTS]; /* lists by a hash of their keys */
  int64_t sent_bytes;
  double reported; /* when this rank last reported */
  /* Of rank 0. */
  char *job_text, **job_texts; /* of ndr_job_text: this rank's, and on rank 0 the others' */
  int64_t *handed_out;         /* how many ranges of each stage */
  ndr_h5_progress *progress;   /* the last report of each rank */
  int finished;                /* how many other ranks have done all stages */
  bool weighed;                /* another rank has seen a weight other than 0 */
};

/* Kinds of letters. */
enum {
  NDR_LETTER_JOB,    /* to rank 0: the text of the sender's job */
  NDR_LETTER_ASK,    /* to rank 0: for the next range of a stage; the stage, and how many ranges it hands out */
  NDR_LETTER_RANGE,  /* from rank 0: the number of that range; -1: none is left */
  NDR_LETTER_STATES, /* to an owner: a key and an export */
  NDR_LETTER_BOX,    /* to rank 0: a box of a result: its number, begin[d] and size[d] of each dim, elements */
  NDR_LETTER_REPORT  /* to rank 0: a report, the sender's progress */
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

/* Keeps a letter of states; takes it over even on failure. */
ndr_status ndr_ranks_own(ndr_ranks *ranks, unsigned char *letter, size_t count);

/* Puts a box of results that another rank has sent into the job's output. */
ndr_status ndr_ranks_take_box(ndr_ranks *ranks, const unsigned char *bytes, size_t count);

/* The `put` of the sink on ranks other than 0: sends the box to rank 0. */
ndr_status ndr_ranks_put_box(void *user, int i, const int64_t *begin, const int64_t *size, void *data);

/* Frees the states that have not been merged. */
void ndr_ranks_drop_owned(ndr_ranks *ranks);

#endif
