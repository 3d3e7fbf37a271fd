/* See mail.h. A letter is cut into messages of at most NDR_MESSAGE_BYTES, each with its kind and whether more of the
 * letter follows.
 *
 * Each rank but 0 ends the call by one letter to rank 0, which says how it fared and how many letters it has sent to
 * whom. Rank 0, once it has all of these, tells each rank the outcome and how many letters it has to wait for. Before
 * that it may tell all ranks to stop. */
#include "common/mail.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"
#include "core/status.h"
#include "core/words.h"

enum { HEAD = 8, OUTCOME_HEAD = 32, SENTENCE = 1024 };

/* Kinds of our own. */
enum { END = -1, STOP = -2, OUTCOME = -3 };

/* Of a rank, as the others have sent it so far. */
typedef struct {
  unsigned char *bytes; /* of the letter that is coming */
  size_t count;
  int64_t sent, expected; /* letters to it from here, and from all together */
} other;

struct ndr_mail {
  ndr_comm comm, *given; /* as this library knows it, and the caller's */
  ndr_mail_handler *handler;
  void *user;
  other *others;
  int64_t received, awaited; /* letters; the latter -1 until the outcome has come */
  int ended;                 /* ranks whose last letter rank 0 has */
  bool lost;                 /* the comm has failed: there is nobody to agree with */
  bool told;                 /* rank 0 has told all to stop */
  ndr_status status;         /* of the call, as far as is known here */
  int failed;                /* the rank that it is of */
  char sentence[SENTENCE];
};

static ndr_status read_comm(const ndr_comm *given, ndr_comm *comm) {
  *comm = (ndr_comm)NDR_COMM_INIT;
  if (!given) return ndr_fail(NDR_ERR_ARGUMENT, "comm is a null pointer");
  NDR_TRY(ndr_sized_read(given, comm, sizeof *comm, "comm", "NDR_COMM_INIT"));
  if (comm->ranks < 1 || comm->rank < 0 || comm->rank >= comm->ranks)
    return ndr_fail(NDR_ERR_ARGUMENT, "comm has no rank %d of %d", comm->rank, comm->ranks);
  if (comm->ranks > 1 && (!comm->send || !comm->receive))
    return ndr_fail(NDR_ERR_ARGUMENT, "comm.%s is a null pointer", comm->send ? "receive" : "send");
  return NDR_OK;
}

ndr_status ndr_mail_open(ndr_mail **mail, ndr_comm *comm, ndr_mail_handler *handler, void *user) {
  ndr_comm read;
  *mail = NULL;
  NDR_TRY(read_comm(comm, &read));
  ndr_mail *m = calloc(1, sizeof *m);
  other *others = m ? calloc((size_t)read.ranks, sizeof *others) : NULL;
  if (!others) {
    free(m);
    return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  }
  *m = (ndr_mail){.comm = read, .given = comm, .handler = handler, .user = user, .others = others, .awaited = -1};
  *mail = m;
  return NDR_OK;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

static ndr_status lose(ndr_mail *m, ndr_status status, const char *what, int rank) {
  m->lost = true;
  return ndr_fail(status, "rank %d: %s rank %d failed", m->comm.rank, what, rank);
}

static ndr_status send_message(ndr_mail *m, int to, int kind, bool more, const void *bytes, size_t count) {
  unsigned char *message = malloc(HEAD + count);
  if (!message) {
    m->lost = true; /* the others would wait for it */
    return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  }
  ndr_word_store((uint32_t)kind | (uint64_t)more << 32, message);
  if (count) memcpy(message + HEAD, bytes, count);
  ndr_status status = m->comm.send(m->comm.user, to, message, HEAD + count);
  free(message);
  return status == NDR_OK ? NDR_OK : lose(m, status, "sending to", to);
}

static ndr_status send_letter(ndr_mail *m, int to, int kind, const void *bytes, size_t count) {
  const size_t most = NDR_MESSAGE_BYTES - HEAD;
  const char *at = bytes;
  for (; count > most; at += most, count -= most) NDR_TRY(send_message(m, to, kind, true, at, most));
  return send_message(m, to, kind, false, at, count);
}

ndr_status ndr_mail_send(ndr_mail *m, int to, int kind, const void *bytes, size_t count) {
  m->others[to].sent++;
  return send_letter(m, to, kind, bytes, count);
}

/* Adds a message to what has come of its letter. */
static ndr_status add_message(other *o, const unsigned char *bytes, size_t count) {
  unsigned char *all = realloc(o->bytes, o->count + count + 1);
  if (!all) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  if (count) memcpy(all + o->count, bytes, count);
  o->bytes = all;
  o->count += count;
  return NDR_OK;
}

/* Receives one message; *more: its letter is not whole yet. Where none has come, letter->from is -1. */
static ndr_status receive_message(ndr_mail *m, bool wait, ndr_letter *letter, bool *more) {
  void *bytes = NULL;
  size_t count;
  *more = false;
  ndr_status status = m->comm.receive(m->comm.user, wait, &letter->from, &bytes, &count);
  if (status != NDR_OK) return lose(m, status, "receiving on", m->comm.rank);
  if (letter->from < 0) return NDR_OK;
  if (letter->from >= m->comm.ranks || count < HEAD) {
    free(bytes);
    return lose(m, NDR_ERR_ARGUMENT, "a message from", letter->from);
  }
  uint64_t head = ndr_word_load(bytes);
  letter->kind = (int32_t)(uint32_t)head;
  *more = head >> 32 & 1;
  status = add_message(&m->others[letter->from], (unsigned char *)bytes + HEAD, count - HEAD);
  free(bytes);
  m->lost = status != NDR_OK;
  return status;
}

/* The next letter that has come whole, or, under `wait`, comes; *got: there is one. */
static ndr_status receive_letter(ndr_mail *m, bool wait, ndr_letter *letter, bool *got) {
  bool more;
  *got = false;
  do NDR_TRY(receive_message(m, wait, letter, &more));
  while (more);
  *got = letter->from >= 0;
  if (!*got) return NDR_OK;
  other *o = &m->others[letter->from];
  letter->bytes = o->bytes;
  letter->count = o->count;
  o->bytes = NULL;
  o->count = 0;
  return NDR_OK;
}

/* ---- How the call fares ----------------------------------------------------------------------------------------- */

/* Keeps the failure of the lowest rank. */
static void note_failure(ndr_mail *m, int rank, ndr_status status, const char *sentence) {
  if (status == NDR_OK || (m->status != NDR_OK && m->failed <= rank)) return;
  m->status = status;
  m->failed = rank;
  snprintf(m->sentence, sizeof m->sentence, "%s", sentence);
}

/* What END, STOP and OUTCOME begin with: status, rank, a number, and the sentence. */
static size_t put_outcome(const ndr_mail *m, int64_t number, unsigned char *bytes) {
  size_t length = m->status == NDR_OK ? 0 : strlen(m->sentence);
  ndr_word_store((uint64_t)m->status, bytes);
  ndr_word_store((uint64_t)m->failed, bytes + 8);
  ndr_word_store((uint64_t)number, bytes + 16);
  ndr_word_store(length, bytes + 24);
  memcpy(bytes + OUTCOME_HEAD, m->sentence, length);
  return OUTCOME_HEAD + length;
}

/* Bytes behind it; *number may be NULL. */
static const unsigned char *take_outcome(ndr_mail *m, const ndr_letter *letter, int64_t *number) {
  char sentence[SENTENCE] = "";
  size_t length = (size_t)ndr_word_load(letter->bytes + 24);
  memcpy(sentence, letter->bytes + OUTCOME_HEAD, length < SENTENCE ? length : SENTENCE - 1);
  note_failure(m, (int)ndr_word_load(letter->bytes + 8), (ndr_status)ndr_word_load(letter->bytes), sentence);
  if (number) *number = (int64_t)ndr_word_load(letter->bytes + 16);
  return letter->bytes + OUTCOME_HEAD + length;
}

/* Rank 0 tells all, once, that there is nothing more to do. */
static ndr_status tell_to_stop(ndr_mail *m) {
  unsigned char bytes[OUTCOME_HEAD + SENTENCE];
  if (m->comm.rank != 0 || m->status == NDR_OK || m->told) return NDR_OK;
  m->told = true;
  size_t count = put_outcome(m, 0, bytes);
  for (int to = 1; to < m->comm.ranks; to++) NDR_TRY(send_letter(m, to, STOP, bytes, count));
  return NDR_OK;
}

/* The last letter of a rank: its outcome, and pairs of a rank and how many letters that was sent. */
static ndr_status take_end(ndr_mail *m, const ndr_letter *letter) {
  int64_t pairs;
  const unsigned char *at = take_outcome(m, letter, &pairs);
  for (int64_t i = 0; i < pairs; i++, at += 16) m->others[ndr_word_load(at)].expected += (int64_t)ndr_word_load(at + 8);
  m->ended++;
  return tell_to_stop(m);
}

static ndr_status take_own(ndr_mail *m, const ndr_letter *letter) {
  if (letter->kind == END) return take_end(m, letter);
  take_outcome(m, letter, letter->kind == OUTCOME ? &m->awaited : NULL);
  return NDR_OK;
}

/* Takes a letter that has come; once the call has failed, throws it away. */
static ndr_status take_letter(ndr_mail *m, ndr_letter *letter, bool handles) {
  if (letter->kind < 0) return take_own(m, letter);
  m->received++;
  if (!handles || m->status != NDR_OK) return NDR_OK;
  ndr_status status = m->handler(m->user, letter);
  if (status == NDR_OK) return NDR_OK;
  note_failure(m, m->comm.rank, status, ndr_last_error());
  return tell_to_stop(m);
}

static ndr_status take_next(ndr_mail *m, bool wait, bool handles, bool *got) {
  ndr_letter letter;
  NDR_TRY(receive_letter(m, wait, &letter, got));
  if (!*got) return NDR_OK;
  ndr_status status = take_letter(m, &letter, handles);
  free(letter.bytes);
  return status;
}

/* What the call has come to, as this rank's failure. */
static ndr_status outcome(const ndr_mail *m) {
  if (m->status == NDR_OK) return NDR_OK;
  if (m->failed == 0) return ndr_fail(m->status, "%s", m->sentence);
  return ndr_fail(m->status, "%s (rank %d of %d)", m->sentence, m->failed, m->comm.ranks);
}

ndr_status ndr_mail_look(ndr_mail *m, bool wait) {
  bool got = m->comm.ranks > 1;
  for (; got && m->status == NDR_OK; wait = false) NDR_TRY(take_next(m, wait, true, &got));
  return outcome(m);
}

/* ---- The end ---------------------------------------------------------------------------------------------------- */

static ndr_status send_end(ndr_mail *m) {
  size_t capacity = OUTCOME_HEAD + SENTENCE + 16 * (size_t)m->comm.ranks;
  unsigned char *bytes = malloc(capacity);
  int64_t pairs = 0;
  if (!bytes) {
    m->lost = true;
    return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  }
  for (int to = 0; to < m->comm.ranks; to++) pairs += m->others[to].sent > 0;
  size_t count = put_outcome(m, pairs, bytes);
  for (int to = 0; to < m->comm.ranks; to++) {
    if (m->others[to].sent == 0) continue;
    ndr_word_store((uint64_t)to, bytes + count);
    ndr_word_store((uint64_t)m->others[to].sent, bytes + count + 8);
    count += 16;
  }
  ndr_status status = send_letter(m, 0, END, bytes, count);
  free(bytes);
  return status;
}

/* Rank 0, when all others have ended: all letters to it have come, as each sent its last one behind them. */
static ndr_status send_outcome(ndr_mail *m) {
  unsigned char bytes[OUTCOME_HEAD + SENTENCE];
  for (int to = 1; to < m->comm.ranks; to++) {
    size_t count = put_outcome(m, m->others[to].expected + m->others[to].sent, bytes);
    NDR_TRY(send_letter(m, to, OUTCOME, bytes, count));
  }
  return NDR_OK;
}

static ndr_status agree(ndr_mail *m) {
  bool got;
  if (m->comm.rank == 0) {
    NDR_TRY(tell_to_stop(m));
    while (m->ended < m->comm.ranks - 1) NDR_TRY(take_next(m, true, true, &got));
    return send_outcome(m);
  }
  NDR_TRY(send_end(m));
  while (m->awaited < 0 || m->received < m->awaited) NDR_TRY(take_next(m, true, false, &got));
  return NDR_OK;
}

ndr_status ndr_mail_end(ndr_mail *m, ndr_status mine) {
  ndr_status status = mine;
  if (!m) return mine;
  if (m->status == NDR_OK) note_failure(m, m->comm.rank, mine, ndr_last_error());
  if (!m->lost && m->comm.ranks > 1) status = agree(m);
  if (!m->lost) status = outcome(m);
  if (m->given->size >= offsetof(ndr_comm, last) + sizeof m->comm.last) m->given->last = status;
  for (int i = 0; i < m->comm.ranks; i++) free(m->others[i].bytes);
  free(m->others);
  free(m);
  return status;
}
