/* See ranks.h: the letters that ranks send each other. ranks_join.c makes outputs of the states and boxes in them. */
#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "h5/ranks/job_text.h"
#include "h5/ranks/ranks_inside.h"
#include "h5/read/route/route.h"

/* The other ranks report to rank 0 at most this often. */
#define REPORT_SECONDS 0.25

/* ---- The job ---------------------------------------------------------------------------------------------------- */

/* Compares the jobs of rank 0 and another rank, if both are known. */
static ndr_status compare_jobs(const ndr_ranks *r, int rank) {
  if (!r->job_text || !r->job_texts[rank] || strcmp(r->job_text, r->job_texts[rank]) == 0) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "%s: rank %d has another file or another job (%s) than rank 0 (%s)",
                  r->job->dataset->where, rank, r->job_texts[rank], r->job_text);
}

static ndr_status take_job(ndr_ranks *r, ndr_letter *letter) {
  r->job_texts[letter->from] = (char *)letter->bytes; /* the sender included the final 0 */
  letter->bytes = NULL;
  return compare_jobs(r, letter->from);
}

ndr_status ndr_ranks_start(ndr_ranks *r, const ndr_job *job, DLTensor *const *results) {
  r->job = job;
  r->results = results;
  r->handed_out = calloc((size_t)job->stage_count, sizeof *r->handed_out);
  r->job_text = ndr_job_text(job);
  if (!r->handed_out || !r->job_text) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  if (r->rank != 0) return ndr_ranks_send(r, 0, NDR_LETTER_JOB, r->job_text, strlen(r->job_text) + 1);
  for (int rank = 1; rank < r->ranks; rank++) NDR_TRY(compare_jobs(r, rank));
  return NDR_OK;
}

/* ---- Ranges ----------------------------------------------------------------------------------------------------- */

/* On rank 0: the next range of a stage that hands out `count` ranges; -1: none is left. Other ranks may be in a later
 * stage than rank 0, so they say the stage and its count. */
static int64_t hand_out(ndr_ranks *r, int64_t stage, int64_t count) {
  if (stage < 0 || stage >= r->job->stage_count || r->handed_out[stage] >= count) return -1;
  return r->ranks + r->handed_out[stage]++;
}

static ndr_status take_question(ndr_ranks *r, const ndr_letter *letter) {
  unsigned char answer[8];
  int64_t stage = (int64_t)ndr_word_load(letter->bytes), count = (int64_t)ndr_word_load(letter->bytes + 8);
  ndr_word_store((uint64_t)hand_out(r, stage, count), answer);
  return ndr_ranks_send(r, letter->from, NDR_LETTER_RANGE, answer, sizeof answer);
}

static void take_answer(ndr_ranks *r, int64_t range) {
  r->answer = range;
  r->asked = false;
}

/* Asks for the next range. Called before the range at hand is reduced, so that the answer has come when it is done. */
static ndr_status ask(ndr_ranks *r) {
  unsigned char question[16];
  int64_t count = r->deal.count > r->ranks ? r->deal.count - r->ranks : 0;
  if (r->rank == 0 || count == 0) {
    take_answer(r, hand_out(r, r->job->stage, count));
    return NDR_OK;
  }
  ndr_word_store((uint64_t)r->job->stage, question);
  ndr_word_store((uint64_t)count, question + 8);
  r->asked = true;
  return ndr_ranks_send(r, 0, NDR_LETTER_ASK, question, sizeof question);
}

ndr_status ndr_ranks_deal(ndr_ranks *r) {
  const ndr_job *job = r->job;
  r->begun = false;
  return ndr_deal_make(&r->deal, &job->feed.iterator, r->ranks, job->stage, job->stage_count);
}

static ndr_status next_range(ndr_ranks *r, int64_t *range) {
  if (!r->begun) {
    r->begun = true;
    *range = ndr_deal_range(&r->deal, r->rank);
    NDR_TRY(ask(r));
    if (*range >= 0 && r->deal.begins[*range] < r->deal.begins[*range + 1]) return NDR_OK;
  }
  while (r->asked) NDR_TRY(ndr_ranks_wait(r));
  *range = r->answer;
  return *range < 0 ? NDR_OK : ask(r);
}

ndr_status ndr_ranks_next(ndr_ranks *r, int64_t *from, int64_t *to, bool *done) {
  int64_t range;
  NDR_TRY(next_range(r, &range));
  *done = range < 0;
  if (*done) return NDR_OK;
  if (range >= r->deal.count) return ndr_fail(NDR_ERR_ARGUMENT, "rank 0 has dealt the job otherwise");
  *from = r->deal.begins[range];
  *to = r->deal.begins[range + 1];
  return NDR_OK;
}

/* ---- Reports ---------------------------------------------------------------------------------------------------- */

enum { REPORT_WORDS = 14 };

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double value_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static ndr_status send_report(ndr_ranks *r, const ndr_h5_progress *p, bool finished, bool weighed) {
  unsigned char bytes[8 * REPORT_WORDS];
  const uint64_t words[REPORT_WORDS] = {(uint64_t)p->bytes,
                                        (uint64_t)p->slabs,
                                        (uint64_t)p->stored_bytes,
                                        (uint64_t)p->threads,
                                        bits_of(p->read_seconds),
                                        bits_of(p->decode_seconds),
                                        bits_of(p->unpack_seconds),
                                        bits_of(p->wait_seconds),
                                        bits_of(p->reduce_seconds),
                                        (uint64_t)r->sent_bytes,
                                        finished,
                                        weighed,
                                        (uint64_t)p->device.device_type,
                                        (uint64_t)p->device.device_id};
  for (int i = 0; i < REPORT_WORDS; i++) ndr_word_store(words[i], bytes + (size_t)8 * i);
  return ndr_ranks_send(r, 0, NDR_LETTER_REPORT, bytes, sizeof bytes);
}

static ndr_status take_report(ndr_ranks *r, const ndr_letter *letter) {
  uint64_t words[REPORT_WORDS];
  for (int i = 0; i < REPORT_WORDS; i++) words[i] = ndr_word_load(letter->bytes + (size_t)8 * i);
  r->progress[letter->from] = (ndr_h5_progress){.bytes = (int64_t)words[0],
                                                .slabs = (int64_t)words[1],
                                                .stored_bytes = (int64_t)words[2],
                                                .threads = (int)words[3],
                                                .read_seconds = value_of(words[4]),
                                                .decode_seconds = value_of(words[5]),
                                                .unpack_seconds = value_of(words[6]),
                                                .wait_seconds = value_of(words[7]),
                                                .reduce_seconds = value_of(words[8]),
                                                .sent_bytes = (int64_t)words[9],
                                                .device = {(DLDeviceType)words[12], (int)words[13]}};
  r->finished += words[10] != 0;
  r->weighed = r->weighed || words[11];
  return NDR_OK;
}

/* *all: `mine`; on rank 0 with the sums of all ranks' bytes and slabs, and all reports. */
static void add_reports(ndr_ranks *r, const ndr_h5_progress *mine, ndr_h5_progress *all) {
  *all = *mine;
  all->sent_bytes = r->sent_bytes;
  if (r->rank != 0) return;
  r->progress[0] = *all;
  for (int i = 1; i < r->ranks; i++) {
    all->bytes += r->progress[i].bytes;
    all->slabs += r->progress[i].slabs;
    all->stored_bytes += r->progress[i].stored_bytes;
  }
  all->ranks = r->ranks;
  all->of_ranks = r->progress;
}

ndr_status ndr_ranks_look(ndr_ranks *r, const ndr_h5_progress *mine, ndr_h5_progress *all) {
  NDR_TRY(ndr_mail_look(r->mail, false));
  add_reports(r, mine, all);
  double now = ndr_seconds();
  if (r->rank == 0 || now - r->reported < REPORT_SECONDS) return NDR_OK;
  r->reported = now;
  return send_report(r, mine, false, false);
}

ndr_status ndr_ranks_finish(ndr_ranks *r, const ndr_h5_progress *mine, ndr_h5_progress *all, bool *weighed) {
  if (r->rank != 0) return send_report(r, mine, true, *weighed);
  while (r->finished < r->ranks - 1) NDR_TRY(ndr_ranks_wait(r));
  *weighed = *weighed || r->weighed;
  add_reports(r, mine, all);
  return NDR_OK;
}

/* ---- Letters ---------------------------------------------------------------------------------------------------- */

static ndr_status take_states(ndr_ranks *r, ndr_letter *letter) {
  unsigned char *bytes = letter->bytes;
  letter->bytes = NULL;
  return ndr_ranks_own(r, bytes, letter->count);
}

/* Trusts the lengths of letters: they come from the same program. */
static ndr_status take(void *user, ndr_letter *letter) {
  ndr_ranks *r = user;
  switch (letter->kind) {
  case NDR_LETTER_JOB: return take_job(r, letter);
  case NDR_LETTER_ASK: return take_question(r, letter);
  case NDR_LETTER_RANGE: take_answer(r, (int64_t)ndr_word_load(letter->bytes)); return NDR_OK;
  case NDR_LETTER_STATES: return take_states(r, letter);
  case NDR_LETTER_BOX: return ndr_ranks_take_box(r, letter->bytes, letter->count);
  default: return take_report(r, letter);
  }
}

/* ---- The call --------------------------------------------------------------------------------------------------- */

static void free_ranks(ndr_ranks *r) {
  for (int i = 0; r->job_texts && i < r->ranks; i++) free(r->job_texts[i]);
  ndr_ranks_drop_owned(r);
  ndr_deal_clear(&r->deal);
  free(r->job_texts);
  free(r->job_text);
  free(r->handed_out);
  free(r->progress);
  free(r);
}

ndr_status ndr_ranks_open(ndr_ranks **ranks, const ndr_h5_options *options, ndr_job_output *output) {
  ndr_comm *comm = options->comm;
  *ranks = NULL;
  if (!comm || comm->ranks == 1) return NDR_OK;
  ndr_ranks *r = calloc(1, sizeof *r);
  if (!r) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  r->rank = comm->rank;
  r->ranks = comm->ranks;
  ndr_status status = ndr_mail_open(&r->mail, comm, NDR_CALL_H5, take, r);
  if (status != NDR_OK) {
    free(r);
    return status;
  }
  *ranks = r;
  r->job_texts = calloc((size_t)r->ranks, sizeof *r->job_texts);
  r->progress = calloc((size_t)r->ranks, sizeof *r->progress);
  if (!r->job_texts || !r->progress) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  if (r->rank == 0) return NDR_OK;
  r->sink = (ndr_sink){ndr_ranks_put_box, r, 0, NULL};
  output->sink = &r->sink;
  output->results = NULL;
  return NDR_OK;
}

ndr_status ndr_ranks_close(ndr_ranks *r, ndr_status mine) {
  if (!r) return mine;
  ndr_status status = ndr_mail_end(r->mail, mine);
  free_ranks(r);
  return status;
}
