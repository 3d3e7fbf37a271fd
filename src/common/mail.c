/* See mail.h. A letter is cut into messages of at most NDR_MESSAGE_BYTES, each with its kind and whether more of the
 * letter follows.
 *
 * Each rank but 0 ends the call by END to rank 0: how it fared, how many letters it has, and how many it has sent to
 * whom. With the last of these rank 0 has all letters that were sent to it. If a rank had fewer letters than were sent
 * to it, rank 0 tells that one by COUNT how many there are in all, and is answered DONE when they have come. Then rank
 * 0 tells everybody the OUTCOME and leaves. Before all that it may tell everybody to STOP.
 *
 * A rank that has the OUTCOME may be in the next call at once, and its letters must not be taken for letters of this
 * one. So between END and OUTCOME a rank listens to rank 0 alone, and to everybody only between COUNT and DONE, when
 * nobody has the OUTCOME yet. */
#include "common/mail.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"
#include "core/status.h"
#include "core/words.h"

enum { HEAD = 8, OUTCOME_HEAD = 32, SENTENCE = 1024, ANYBODY = -1 };

/* Kinds of the mail's own letters. */
enum { END = -1, STOP = -2, COUNT = -3, DONE = -4, OUTCOME = -5 };

/* Bits of a message's first word, beside its kind. */
#define MORE (UINT64_C(1) << 32)    /* of the letter follows */
#define DROPPED (UINT64_C(1) << 33) /* the letter ends here, and is not whole */
enum { CALL_SHIFT = 40 };           /* of the sender's ndr_call */

/* What there is to know of another rank. */
typedef struct {
  unsigned char *bytes; /* what has come of the letter that it is sending */
  size_t count;
  bool dropped;           /* that letter is lost, as memory for it ran out, here or there */
  int64_t sent, expected; /* letters to it: from this rank; on rank 0: from all ranks but 0, by their ENDs */
  int64_t has;            /* on rank 0: letters that it had received at its END */
} other;

struct ndr_mail {
  ndr_comm comm, *given; /* a copy of this library's size, and the caller's own */
  ndr_call call;
  unsigned char *own; /* room for a message of the mail's own, so that a rank without memory can say so */
  unsigned char *end; /* room for END */
  ndr_mail_handler *handler;
  void *user;
  other *others;
  int64_t received, awaited; /* letters: so far, and by COUNT; the latter -1 before COUNT and after DONE */
  int ended, done;           /* on rank 0: ranks whose END has come, and ranks that have all their letters */
  bool decided;              /* on others: OUTCOME has come */
  bool lost;                 /* the comm has failed: there is nobody to agree with */
  bool told;                 /* rank 0 has told all to stop */
  bool strays;               /* the letter at hand belongs to another call */
  ndr_status status;         /* of the call, as far as is known here */
  int failed_rank;           /* whose failure that is */
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

/* Bytes of END, the longest letter of our own. */
static size_t end_bytes(const ndr_comm *comm) {
  return OUTCOME_HEAD + SENTENCE + 8 + 16 * (size_t)comm->ranks;
}

ndr_status ndr_mail_open(ndr_mail **mail, ndr_comm *comm, ndr_call call, ndr_mail_handler *handler, void *user) {
  ndr_comm read;
  *mail = NULL;
  NDR_TRY(read_comm(comm, &read));
  ndr_mail *m = calloc(1, sizeof *m);
  other *others = calloc((size_t)read.ranks, sizeof *others);
  unsigned char *own = malloc(HEAD + 2 * end_bytes(&read));
  if (!m || !others || !own) {
    free(own);
    free(others);
    free(m);
    return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  }
  *m = (ndr_mail){.comm = read, .given = comm, .call = call, .own = own, .handler = handler, .user = user};
  m->end = own + HEAD + end_bytes(&read);
  m->others = others;
  m->awaited = -1;
  *mail = m;
  return NDR_OK;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

/* Keeps the failure of the lowest rank. */
static void note_failure(ndr_mail *m, int rank, ndr_status status, const char *sentence) {
  if (status == NDR_OK || (m->status != NDR_OK && m->failed_rank <= rank)) return;
  m->status = status;
  m->failed_rank = rank;
  snprintf(m->sentence, sizeof m->sentence, "%s", sentence);
}

static ndr_status lose(ndr_mail *m, ndr_status status, const char *what, int rank) {
  m->lost = true;
  return ndr_fail(status, "rank %d of %d: %s rank %d failed", m->comm.rank, m->comm.ranks, what, rank);
}

static ndr_status send_bytes(ndr_mail *m, int to, const unsigned char *message, size_t count) {
  ndr_status status = m->comm.send(m->comm.user, to, message, count);
  return status == NDR_OK ? NDR_OK : lose(m, status, "sending to", to);
}

static uint64_t head_of(const ndr_mail *m, int kind) {
  return (uint32_t)kind | (uint64_t)m->call << CALL_SHIFT;
}

/* Ends a letter for which there is no memory, so that nobody waits for the rest of it. */
static ndr_status drop_letter(ndr_mail *m, int to, int kind, size_t count) {
  unsigned char message[HEAD];
  ndr_word_store(head_of(m, kind) | DROPPED, message);
  NDR_TRY(send_bytes(m, to, message, HEAD));
  return ndr_fail(NDR_ERR_MEMORY, "out of memory for a message of %zu bytes", count);
}

static ndr_status send_message(ndr_mail *m, int to, int kind, bool more, const void *bytes, size_t count) {
  unsigned char *message = kind < 0 && count <= end_bytes(&m->comm) ? m->own : malloc(HEAD + count);
  if (!message) return drop_letter(m, to, kind, count);
  ndr_word_store(head_of(m, kind) | (more ? MORE : 0), message);
  if (count) memcpy(message + HEAD, bytes, count);
  ndr_status status = send_bytes(m, to, message, HEAD + count);
  if (message != m->own) free(message);
  return status;
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

/* Adds a message to what has come of its letter, and takes it over. The first one is the letter so far: what comes in
 * one message needs no more memory. */
static bool add_message(other *o, unsigned char *message, size_t count) {
  size_t added = count - HEAD;
  if (!o->bytes) {
    memmove(message, message + HEAD, added);
    o->bytes = message;
    o->count = added;
    return true;
  }
  unsigned char *all = realloc(o->bytes, o->count + added + 1);
  if (all) {
    memcpy(all + o->count, message + HEAD, added);
    o->bytes = all;
    o->count += added;
  } else {
    free(o->bytes);
    o->bytes = NULL;
    o->count = 0;
    o->dropped = true;
  }
  free(message);
  return all != NULL;
}

/* Takes the message apart, and over; *more: its letter is not whole yet. */
static ndr_status take_message(ndr_mail *m, unsigned char *message, size_t count, ndr_letter *letter, bool *more) {
  other *o = &m->others[letter->from];
  uint64_t head = ndr_word_load(message);
  letter->kind = (int32_t)(uint32_t)head;
  *more = (head & MORE) != 0;
  m->strays = (ndr_call)(head >> CALL_SHIFT) != m->call;
  if (head & DROPPED) o->dropped = true; /* its sender says why */
  if (o->dropped) {
    free(message);
    return NDR_OK;
  }
  if (add_message(o, message, count)) return NDR_OK;
  if (letter->kind < 0) return lose(m, NDR_ERR_MEMORY, "for want of memory, receiving from", letter->from);
  note_failure(m, m->comm.rank, NDR_ERR_MEMORY, "out of memory for a message of another rank");
  return NDR_OK;
}

/* Receives one message. Where none has come, letter->from is -1. */
static ndr_status receive_message(ndr_mail *m, int from, bool wait, ndr_letter *letter, bool *more) {
  void *bytes = NULL;
  size_t count;
  *more = false;
  letter->from = from;
  ndr_status status = m->comm.receive(m->comm.user, wait, &letter->from, &bytes, &count);
  if (status != NDR_OK) return lose(m, status, "receiving on", m->comm.rank);
  if (letter->from < 0) return NDR_OK;
  if (letter->from < m->comm.ranks && count >= HEAD) return take_message(m, bytes, count, letter, more);
  free(bytes);
  return lose(m, NDR_ERR_ARGUMENT, "understanding a message of", letter->from);
}

/* The next letter that has come whole, or, under `wait`, comes; *got: there is one. letter->bytes is NULL for one that
 * was dropped. */
static ndr_status receive_letter(ndr_mail *m, int from, bool wait, ndr_letter *letter, bool *got) {
  bool more;
  *got = false;
  do NDR_TRY(receive_message(m, from, wait, letter, &more));
  while (more);
  *got = letter->from >= 0;
  if (!*got) return NDR_OK;
  other *o = &m->others[letter->from];
  if (o->dropped) free(o->bytes);
  letter->bytes = o->dropped ? NULL : o->bytes;
  letter->count = o->count;
  o->bytes = NULL;
  o->count = 0;
  o->dropped = false;
  return NDR_OK;
}

/* ---- How the call fares ----------------------------------------------------------------------------------------- */

/* END, STOP and OUTCOME begin with status, rank that failed, a number, length of the sentence, and the sentence.
 * Returns how many bytes that is. */
static size_t put_outcome(const ndr_mail *m, int64_t number, unsigned char *bytes) {
  size_t length = m->status == NDR_OK ? 0 : strlen(m->sentence);
  ndr_word_store((uint64_t)m->status, bytes);
  ndr_word_store((uint64_t)m->failed_rank, bytes + 8);
  ndr_word_store((uint64_t)number, bytes + 16);
  ndr_word_store(length, bytes + 24);
  memcpy(bytes + OUTCOME_HEAD, m->sentence, length);
  return OUTCOME_HEAD + length;
}

/* Reads what put_outcome wrote, and returns what follows it; `number` may be NULL. */
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
  if (m->comm.rank != 0 || m->status == NDR_OK || m->told || m->lost) return NDR_OK;
  m->told = true;
  size_t count = put_outcome(m, 0, bytes);
  for (int to = 1; to < m->comm.ranks; to++) NDR_TRY(send_letter(m, to, STOP, bytes, count));
  return NDR_OK;
}

static void note_stray(ndr_mail *m, int rank) {
  char sentence[64];
  snprintf(sentence, sizeof sentence, "rank %d is in another call than rank %d", rank, m->comm.rank);
  note_failure(m, m->comm.rank, NDR_ERR_ARGUMENT, sentence);
}

/* END is an outcome, how many letters have come, and pairs: a rank, and how many letters were sent to it. One of
 * another call is no mistake if its rank has failed: ndr_comm_agree may say so in place of a call that the rank cannot
 * make. */
static ndr_status take_end(ndr_mail *m, const ndr_letter *letter) {
  int64_t pairs;
  const unsigned char *at = take_outcome(m, letter, &pairs);
  m->others[letter->from].has = (int64_t)ndr_word_load(at);
  at += 8;
  for (int64_t i = 0; i < pairs; i++, at += 16) m->others[ndr_word_load(at)].expected += (int64_t)ndr_word_load(at + 8);
  m->ended++;
  if (m->strays && m->status == NDR_OK) note_stray(m, letter->from);
  return tell_to_stop(m);
}

static ndr_status take_own(ndr_mail *m, const ndr_letter *letter) {
  switch (letter->kind) {
  case END: return take_end(m, letter);
  case COUNT: m->awaited = (int64_t)ndr_word_load(letter->bytes); return NDR_OK;
  case DONE: m->done++; return NDR_OK;
  default:
    m->decided = letter->kind == OUTCOME;
    take_outcome(m, letter, NULL);
    return NDR_OK;
  }
}

/* Handles a letter, or throws it away if not `handles`, or if the call has failed. */
static ndr_status take_letter(ndr_mail *m, ndr_letter *letter, bool handles) {
  if (letter->kind < 0 && letter->bytes) return take_own(m, letter);
  if (letter->kind < 0) return lose(m, NDR_ERR_ARGUMENT, "understanding a message of", letter->from);
  m->received++;
  if (m->strays) note_stray(m, letter->from);
  if (!handles || !letter->bytes || m->status != NDR_OK) return tell_to_stop(m);
  ndr_status status = m->handler(m->user, letter);
  if (status == NDR_OK) return NDR_OK;
  note_failure(m, m->comm.rank, status, ndr_last_error());
  return tell_to_stop(m);
}

static ndr_status take_next(ndr_mail *m, int from, bool wait, bool handles, bool *got) {
  ndr_letter letter;
  NDR_TRY(receive_letter(m, from, wait, &letter, got));
  if (!*got) return NDR_OK;
  ndr_status status = take_letter(m, &letter, handles);
  free(letter.bytes);
  return status;
}

/* The status of the call, and its sentence as ndr_last_error(). */
static ndr_status outcome(const ndr_mail *m) {
  if (m->status == NDR_OK) return NDR_OK;
  if (m->failed_rank == 0) return ndr_fail(m->status, "%s", m->sentence);
  return ndr_fail(m->status, "%s (rank %d of %d)", m->sentence, m->failed_rank, m->comm.ranks);
}

ndr_status ndr_mail_look(ndr_mail *m, bool wait) {
  bool got = m->comm.ranks > 1;
  for (; got && m->status == NDR_OK; wait = false) NDR_TRY(take_next(m, ANYBODY, wait, true, &got));
  return outcome(m);
}

/* ---- The end ---------------------------------------------------------------------------------------------------- */

static ndr_status send_end(ndr_mail *m) {
  unsigned char *bytes = m->end;
  int64_t pairs = 0;
  for (int to = 0; to < m->comm.ranks; to++) pairs += m->others[to].sent > 0;
  size_t count = put_outcome(m, pairs, bytes);
  ndr_word_store((uint64_t)m->received, bytes + count);
  count += 8;
  for (int to = 0; to < m->comm.ranks; to++) {
    if (m->others[to].sent == 0) continue;
    ndr_word_store((uint64_t)to, bytes + count);
    ndr_word_store((uint64_t)m->others[to].sent, bytes + count + 8);
    count += 16;
  }
  return send_letter(m, 0, END, bytes, count);
}

/* Rank 0 waits until all others have the letters that were sent to them. */
static ndr_status await_letters(ndr_mail *m) {
  bool got;
  unsigned char bytes[8];
  for (int to = 1; to < m->comm.ranks; to++) {
    const other *o = &m->others[to];
    if (o->has == o->expected + o->sent) {
      m->done++;
      continue;
    }
    ndr_word_store((uint64_t)(o->expected + o->sent), bytes);
    NDR_TRY(send_letter(m, to, COUNT, bytes, sizeof bytes));
  }
  while (m->done < m->comm.ranks - 1) NDR_TRY(take_next(m, ANYBODY, true, false, &got));
  return NDR_OK;
}

static ndr_status decide(ndr_mail *m) {
  bool got;
  unsigned char bytes[OUTCOME_HEAD + SENTENCE];
  NDR_TRY(tell_to_stop(m));
  while (m->ended < m->comm.ranks - 1) NDR_TRY(take_next(m, ANYBODY, true, true, &got));
  NDR_TRY(await_letters(m));
  size_t count = put_outcome(m, 0, bytes);
  for (int to = 1; to < m->comm.ranks; to++) NDR_TRY(send_letter(m, to, OUTCOME, bytes, count));
  return NDR_OK;
}

static ndr_status await_outcome(ndr_mail *m) {
  bool got;
  NDR_TRY(send_end(m));
  while (!m->decided) {
    NDR_TRY(take_next(m, 0, true, false, &got));
    if (m->awaited < 0) continue;
    while (m->received < m->awaited) NDR_TRY(take_next(m, ANYBODY, true, false, &got));
    NDR_TRY(send_letter(m, 0, DONE, NULL, 0));
    m->awaited = -1;
  }
  return NDR_OK;
}

ndr_status ndr_mail_end(ndr_mail *m, ndr_status mine) {
  ndr_status status = mine;
  if (!m) return mine;
  if (m->status == NDR_OK) note_failure(m, m->comm.rank, mine, ndr_last_error());
  if (!m->lost && m->comm.ranks > 1) status = m->comm.rank == 0 ? decide(m) : await_outcome(m);
  if (!m->lost) status = outcome(m);
  if (m->given->size >= offsetof(ndr_comm, last) + sizeof m->comm.last) m->given->last = status;
  for (int i = 0; i < m->comm.ranks; i++) free(m->others[i].bytes);
  free(m->others);
  free(m->own);
  free(m);
  return status;
}
