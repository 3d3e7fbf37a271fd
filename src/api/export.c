/* Accumulators as bytes: what they hold written for another process, and merged there. In words of 8 bytes,
 * little-endian:
 *
 *   NDRSTATE   8 letters
 *   version    of this form and of the words of states (core/state.h)
 *   size       bytes in all
 *   counts     words of the text; dims; spans; words of states
 *   text       the problem in the mini-language, with operands' strides of 0; bytes of 0 up to a whole word
 *   begin      where the array begins in a larger one, of each dim
 *   spans      of the numbers that are covered: the first, and the one behind the last; ascending, not adjacent
 *   states     of each operator, word-major
 *   checksum   of all before it (core/checksum.h)
 *
 * The text is never parsed, as that would register operators and keep groups for the process: it must be that of the
 * accumulator that imports. */
#include <stdlib.h>
#include <string.h>

#include "api/accumulator.h"
#include "core/checksum.h"
#include "core/words.h"

enum { VERSION = 1 };
enum { AT_MAGIC, AT_VERSION, AT_SIZE, AT_TEXT, AT_DIMS, AT_SPANS, AT_STATES, HEADER_WORDS };

static const uint64_t magic = UINT64_C(0x455441545352444e); /* NDRSTATE */

/* The counts, each of words, and where each part begins, in words. */
typedef struct layout {
  uint64_t text, dims, spans, states;
  uint64_t at_begin, at_spans, at_states, at_checksum;
} layout;

/* None of the counts is above 2^61, so that their sum does not wrap around. */
static void place(layout *l) {
  l->at_begin = HEADER_WORDS + l->text;
  l->at_spans = l->at_begin + l->dims;
  l->at_states = l->at_spans + 2 * l->spans;
  l->at_checksum = l->at_states + l->states;
}

static uint64_t load(const unsigned char *bytes, uint64_t at) {
  return ndr_word_load(bytes + 8 * at);
}

static void store(uint64_t word, unsigned char *bytes, uint64_t at) {
  ndr_word_store(word, bytes + 8 * at);
}

static size_t state_words(const ndr_accumulator *a, int i) {
  ndr_state state = ndr_request_state(&a->whole, i);
  return (size_t)ndr_state_size(&state) * (size_t)a->outputs;
}

/* ---- export ---- */

/* The whole is not in memory, so that any strides would do. */
static size_t print(const ndr_accumulator *a, char *text, size_t capacity) {
  ndr_problem problem = a->whole.problem;
  ndr_compact_strides(problem.ndim, problem.shape, problem.strides);
  return ndr_problem_print(&problem, text, capacity);
}

static ndr_status layout_of(const ndr_accumulator *a, layout *l) {
  size_t length = print(a, NULL, 0);
  if (length == 0) return NDR_ERR_OVERFLOW; /* the strides of an array of 2^61 bytes */
  *l = (layout){.text = length / 8 + 1, .dims = (uint64_t)a->whole.problem.ndim, .spans = a->covered.count};
  for (int i = 0; i < a->whole.problem.op_count; i++) l->states += state_words(a, i);
  place(l);
  return NDR_OK;
}

static void write_header(const ndr_accumulator *a, const layout *l, unsigned char *bytes) {
  store(magic, bytes, AT_MAGIC);
  store(VERSION, bytes, AT_VERSION);
  store(8 * (l->at_checksum + 1), bytes, AT_SIZE);
  store(l->text, bytes, AT_TEXT);
  store(l->dims, bytes, AT_DIMS);
  store(l->spans, bytes, AT_SPANS);
  store(l->states, bytes, AT_STATES);
  store(0, bytes, l->at_begin - 1); /* what the text leaves of its last word */
  print(a, (char *)bytes + 8 * (size_t)HEADER_WORDS, 8 * l->text);
  for (uint64_t d = 0; d < l->dims; d++) store((uint64_t)a->whole.begin[d], bytes, l->at_begin + d);
  for (uint64_t s = 0; s < l->spans; s++) {
    store((uint64_t)a->covered.spans[s].first, bytes, l->at_spans + 2 * s);
    store((uint64_t)a->covered.spans[s].end, bytes, l->at_spans + 2 * s + 1);
  }
}

static DLDevice pinned_of(const ndr_accumulator *a) {
  return (DLDevice){kDLCUDAHost, a->place.device_id};
}

static void copy_from_host(const ndr_accumulator *a, unsigned char *to) {
  for (int i = 0; i < a->whole.problem.op_count; i++) {
    size_t bytes = 8 * state_words(a, i);
    memcpy(to, a->states[i], bytes);
    to += bytes;
  }
}

/* Copies the states, one operator's after the other's, to pinned memory: copies to other memory take longer. */
static ndr_status copy_from_device(const ndr_accumulator *a, unsigned char *pinned) {
  const ndr_device_calls *calls = a->backend->calls;
  ndr_status status = NDR_OK;
  for (int i = 0; status == NDR_OK && i < a->whole.problem.op_count; i++) {
    size_t bytes = 8 * state_words(a, i);
    status = calls->copy(a->place.device_id, pinned, a->states[i], bytes, a->options.stream);
    pinned += bytes;
  }
  ndr_status done = calls->wait(a->place.device_id, a->options.stream); /* even on failure: the memory is freed next */
  return status == NDR_OK ? done : status;
}

static ndr_status fetch(const ndr_accumulator *a, const layout *l, unsigned char *to) {
  void *pinned;
  NDR_TRY(a->backend->calls->allocate(pinned_of(a), 8 * l->states, &pinned));
  ndr_status status = copy_from_device(a, pinned);
  if (status == NDR_OK) memcpy(to, pinned, 8 * l->states);
  a->backend->calls->free(pinned_of(a), pinned);
  return status;
}

static ndr_status write_states(const ndr_accumulator *a, const layout *l, unsigned char *bytes) {
  unsigned char *to = bytes + 8 * l->at_states;
  if (a->backend->calls)
    NDR_TRY(fetch(a, l, to));
  else
    copy_from_host(a, to);
  for (uint64_t w = l->at_states; w < l->at_checksum; w++) {
    uint64_t word;
    memcpy(&word, bytes + 8 * w, 8);
    store(word, bytes, w);
  }
  return NDR_OK;
}

ndr_status ndr_accumulator_export(const ndr_accumulator *a, void *bytes, size_t capacity, size_t *needed) {
  layout l;
  if (!a || !needed) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator or needed is a null pointer");
  NDR_TRY(layout_of(a, &l));
  *needed = 8 * (l.at_checksum + 1);
  if (!bytes) return NDR_OK;
  if (capacity < *needed)
    return ndr_fail(NDR_ERR_ARGUMENT, "the accumulator takes %zu bytes, and capacity is %zu", *needed, capacity);
  write_header(a, &l, bytes);
  NDR_TRY(write_states(a, &l, bytes));
  store(ndr_checksum(bytes, l.at_checksum), bytes, l.at_checksum);
  return NDR_OK;
}

/* ---- import ---- */

/* Checks that the bytes are whole, and finds their parts. */
static ndr_status check_bytes(const unsigned char *bytes, size_t count, layout *l) {
  size_t words = count / 8;
  if (count < 8 || load(bytes, AT_MAGIC) != magic)
    return ndr_fail(NDR_ERR_PARSE, "the bytes are no exported accumulator: they do not begin with NDRSTATE");
  if (words < HEADER_WORDS + 1)
    return ndr_fail(NDR_ERR_PARSE, "the bytes of an exported accumulator end after %zu, within their header", count);
  if (load(bytes, AT_VERSION) != VERSION)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "the accumulator was exported in version %llu, and this library reads %d",
                    (unsigned long long)load(bytes, AT_VERSION), VERSION);
  if (load(bytes, AT_SIZE) != count)
    return ndr_fail(NDR_ERR_PARSE, "the exported accumulator has %llu bytes, and %zu were given",
                    (unsigned long long)load(bytes, AT_SIZE), count);
  if (count % 8 != 0 || ndr_checksum(bytes, words - 1) != load(bytes, words - 1))
    return ndr_fail(NDR_ERR_PARSE, "the bytes of the exported accumulator are damaged: their checksum does not match");
  *l = (layout){.text = load(bytes, AT_TEXT),
                .dims = load(bytes, AT_DIMS),
                .spans = load(bytes, AT_SPANS),
                .states = load(bytes, AT_STATES)};
  bool small = l->text <= words && l->dims <= words && l->spans <= words && l->states <= words;
  if (small) place(l);
  if (!small || l->text == 0 || l->at_checksum != words - 1 || bytes[8 * l->at_begin - 1] != 0)
    return ndr_fail(NDR_ERR_PARSE, "the bytes of the exported accumulator are damaged: their counts do not match");
  return NDR_OK;
}

/* Cuts a text for an error: about 100 bytes around `at`, without bytes that would end the line. */
static void cut_out(const char *text, size_t at, char cut[120]) {
  size_t first = at > 40 ? at - 40 : 0, length = strlen(text), most = 100;
  size_t shown = length - first < most ? length - first : most;
  size_t ahead = first > 0 ? 3 : 0;
  memcpy(cut, "...", ahead);
  memcpy(cut + ahead, text + first, shown);
  for (char *byte = cut + ahead; byte < cut + ahead + shown; byte++)
    if (*byte < ' ') *byte = '?';
  strcpy(cut + ahead + shown, shown < length - first ? "..." : "");
}

static ndr_status compare_texts(const char *theirs, const char *ours) {
  size_t at = 0;
  char their_cut[120], our_cut[120];
  while (theirs[at] == ours[at] && ours[at]) at++;
  if (theirs[at] == ours[at]) return NDR_OK;
  cut_out(theirs, at, their_cut);
  cut_out(ours, at, our_cut);
  return ndr_fail(NDR_ERR_ARGUMENT, "the exported accumulator is of another problem: '%s', this one of '%s'", their_cut,
                  our_cut);
}

static ndr_status check_problem(const ndr_accumulator *into, const unsigned char *bytes, const layout *l) {
  layout own;
  NDR_TRY(layout_of(into, &own));
  char *text = malloc(8 * own.text);
  if (!text)
    return ndr_fail(NDR_ERR_MEMORY, "out of memory for the text of a problem, %zu bytes", (size_t)(8 * own.text));
  print(into, text, 8 * own.text);
  ndr_status status = compare_texts((const char *)bytes + 8 * (size_t)HEADER_WORDS, text);
  free(text);
  NDR_TRY(status);
  if (l->text != own.text || l->dims != own.dims || l->states != own.states)
    return ndr_fail(NDR_ERR_PARSE, "the bytes of the exported accumulator are damaged: their counts do not match");
  for (uint64_t d = 0; d < l->dims; d++) {
    int64_t begin = (int64_t)load(bytes, l->at_begin + d);
    if (begin != into->whole.begin[d])
      return ndr_fail(NDR_ERR_ARGUMENT,
                      "dim %d of the exported accumulator's array begins at %lld, of this one's at %lld", (int)d,
                      (long long)begin, (long long)into->whole.begin[d]);
  }
  return NDR_OK;
}

static ndr_status read_spans(const unsigned char *bytes, const layout *l, ndr_spans *spans) {
  int64_t behind = -1; /* the last number of which it is known that it is not covered, or the end of the span before */
  spans->spans = malloc(l->spans * sizeof *spans->spans + 1);
  spans->count = l->spans;
  if (!spans->spans) return ndr_fail(NDR_ERR_MEMORY, "out of memory for %zu spans of numbers", spans->count);
  for (size_t s = 0; s < spans->count; s++) {
    ndr_span *span = &spans->spans[s];
    span->first = (int64_t)load(bytes, l->at_spans + 2 * s);
    span->end = (int64_t)load(bytes, l->at_spans + 2 * s + 1);
    if (span->first <= behind || span->end <= span->first)
      return ndr_fail(NDR_ERR_PARSE, "the bytes of the exported accumulator are damaged: their spans are in no order");
    behind = span->end;
  }
  return NDR_OK;
}

/* Makes the set of what both cover. */
static ndr_status join_spans(const ndr_accumulator *into, const unsigned char *bytes, const layout *l,
                             ndr_spans *joined) {
  ndr_spans spans;
  ndr_status status = read_spans(bytes, l, &spans);
  if (status == NDR_OK) status = ndr_spans_join(&into->covered, &spans, joined);
  free(spans.spans);
  return status;
}

/* Makes room for states in pinned memory. Waits until an import before this one has been copied. */
static ndr_status stage(ndr_accumulator *into, size_t bytes) {
  const ndr_device_calls *calls = into->backend->calls;
  if (into->staging) NDR_TRY(calls->wait(into->place.device_id, into->options.stream));
  if (bytes <= into->staging_bytes) return NDR_OK;
  calls->free(pinned_of(into), into->staging);
  into->staging_bytes = 0;
  NDR_TRY(calls->allocate(pinned_of(into), bytes, &into->staging));
  into->staging_bytes = bytes;
  return NDR_OK;
}

/* Queues copies of the states from staging to scratch on the device, and their merge. */
static ndr_status merge_staged(ndr_accumulator *into) {
  uint64_t *there[NDR_MAX_OPS];
  const char *from = into->staging;
  NDR_TRY(ndr_accumulator_place(into, there));
  for (int i = 0; i < into->whole.problem.op_count; i++) {
    size_t bytes = 8 * state_words(into, i);
    NDR_TRY(into->backend->calls->copy(into->place.device_id, there[i], from, bytes, into->options.stream));
    from += bytes;
  }
  return ndr_accumulator_merge_states(into, there);
}

static void read_words(const unsigned char *bytes, const layout *l, uint64_t *words) {
  for (uint64_t w = 0; w < l->states; w++) words[w] = load(bytes, l->at_states + w);
}

static ndr_status merge_on_device(ndr_accumulator *into, const unsigned char *bytes, const layout *l) {
  NDR_TRY(stage(into, 8 * l->states + 1)); /* there is memory also for no states */
  read_words(bytes, l, into->staging);
  return merge_staged(into);
}

static ndr_status merge_on_host(ndr_accumulator *into, const unsigned char *bytes, const layout *l) {
  uint64_t *words = malloc(8 * l->states + 1), *states[NDR_MAX_OPS] = {NULL};
  if (!words) return ndr_fail(NDR_ERR_MEMORY, "out of memory for states, %zu bytes", (size_t)(8 * l->states));
  read_words(bytes, l, words);
  states[0] = words;
  for (int i = 1; i < into->whole.problem.op_count; i++) states[i] = states[i - 1] + state_words(into, i - 1);
  ndr_status status = ndr_accumulator_merge_states(into, states);
  free(words);
  return status;
}

static ndr_status merge_states(ndr_accumulator *into, const unsigned char *bytes, const layout *l) {
  return into->backend->calls ? merge_on_device(into, bytes, l) : merge_on_host(into, bytes, l);
}

ndr_status ndr_accumulator_import(ndr_accumulator *into, const void *bytes, size_t byte_count) {
  layout l;
  ndr_spans joined;
  if (!into || !bytes) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator or bytes is a null pointer");
  NDR_TRY(check_bytes(bytes, byte_count, &l));
  NDR_TRY(check_problem(into, bytes, &l));
  NDR_TRY(join_spans(into, bytes, &l, &joined));
  return ndr_spans_take(&into->covered, &joined, merge_states(into, bytes, &l));
}
