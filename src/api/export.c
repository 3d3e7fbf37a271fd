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

/* Queues copies of the states, one operator's after the other's. */
static ndr_status copy_states(const ndr_accumulator *a, unsigned char *to) {
  for (int i = 0; i < a->whole.problem.op_count; i++) {
    size_t bytes = 8 * state_words(a, i);
    if (a->backend->calls)
      NDR_TRY(a->backend->calls->copy(a->place.device_id, to, a->states[i], bytes, a->options.stream));
    else
      memcpy(to, a->states[i], bytes);
    to += bytes;
  }
  return NDR_OK;
}

static ndr_status write_states(const ndr_accumulator *a, const layout *l, unsigned char *bytes) {
  ndr_status status = copy_states(a, bytes + 8 * l->at_states), done = NDR_OK;
  /* Even on failure: copies that were queued write to the caller's memory. */
  if (a->backend->calls) done = a->backend->calls->wait(a->place.device_id, a->options.stream);
  for (uint64_t w = l->at_states; w < l->at_checksum; w++) {
    uint64_t word;
    memcpy(&word, bytes + 8 * w, 8);
    store(word, bytes, w);
  }
  return status == NDR_OK ? done : status;
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

/* Copies the states from the host's memory to scratch on the device, and points there. */
static ndr_status upload(ndr_accumulator *into, uint64_t **states) {
  uint64_t *there[NDR_MAX_OPS];
  const ndr_device_calls *calls = into->backend->calls;
  int id = into->place.device_id;
  void *stream = into->options.stream;
  ndr_status status = NDR_OK;
  NDR_TRY(ndr_accumulator_place(into, there));
  for (int i = 0; status == NDR_OK && i < into->whole.problem.op_count; i++) {
    status = calls->copy(id, there[i], states[i], 8 * state_words(into, i), stream);
    states[i] = there[i];
  }
  ndr_status done = calls->wait(id, stream); /* the host's memory is freed next */
  return status == NDR_OK ? done : status;
}

static ndr_status merge_states(ndr_accumulator *into, const unsigned char *bytes, const layout *l) {
  uint64_t *words = malloc(8 * l->states + 1), *states[NDR_MAX_OPS] = {NULL};
  if (!words) return ndr_fail(NDR_ERR_MEMORY, "out of memory for states, %zu bytes", (size_t)(8 * l->states));
  for (uint64_t w = 0; w < l->states; w++) words[w] = load(bytes, l->at_states + w);
  states[0] = words;
  for (int i = 1; i < into->whole.problem.op_count; i++) states[i] = states[i - 1] + state_words(into, i - 1);
  ndr_status status = into->backend->calls ? upload(into, states) : NDR_OK;
  if (status == NDR_OK) status = ndr_accumulator_merge_states(into, states);
  free(words);
  return status;
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
