#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "control.h"

typedef struct item {
  struct item *next;
  simt_work work;
  _Alignas(16) unsigned char argument[];
} item;

/* Streams that have ended are kept, as points of them may be asked for; those with nothing left to do apart. */
struct simt_stream {
  struct simt_stream *next;
  item *first, **last;
  int64_t queued, done;
  int device, ended;
};

static cudaStream_t streams, gone;

cudaStream_t simt_stream_make(int device) {
  cudaStream_t made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->last = &made->first;
  made->device = device;
  made->next = streams;
  return streams = made;
}

void simt_stream_end(cudaStream_t stream) {
  stream->ended = 1;
}

int simt_stream_count(void) {
  int count = 0;
  for (const struct simt_stream *s = streams; s; s = s->next) count += !s->ended;
  return count;
}

/* Tests also name streams by small numbers, which are as the default one. */
static bool is_made(cudaStream_t stream) {
  return (uintptr_t)stream >= 4096;
}

const char *simt_queue(cudaStream_t stream, simt_work work, const void *argument, size_t bytes) {
  if (!simt_controls.lazy || !is_made(stream)) {
    const char *why = simt_catch_up(simt_point_of(stream));
    return why ? why : work(argument);
  }
  item *made = malloc(sizeof *made + bytes);
  if (!made) return "out of memory for what a stream is to do";
  made->next = NULL;
  made->work = work;
  memcpy(made->argument, argument, bytes);
  *stream->last = made;
  stream->last = &made->next;
  stream->queued++;
  return NULL;
}

simt_point simt_point_of(cudaStream_t stream) {
  return (simt_point){stream, is_made(stream) ? stream->queued : 0};
}

/* An item may itself make another stream catch up: it is taken off first. */
const char *simt_catch_up(simt_point point) {
  const char *why = NULL;
  while (is_made(point.stream) && point.stream->done < point.number && !why) {
    item *now = point.stream->first;
    if (!now) return "a stream has lost what it was to do";
    point.stream->first = now->next;
    if (!now->next) point.stream->last = &point.stream->first;
    point.stream->done++;
    why = now->work(now->argument);
    free(now);
  }
  return why;
}

const char *simt_catch_up_device(int device) {
  const char *why = NULL;
  for (cudaStream_t *link = &streams; *link && !why;) {
    cudaStream_t s = *link;
    if (s->device != device) {
      link = &s->next;
      continue;
    }
    why = simt_catch_up(simt_point_of(s));
    if (!s->ended || why) {
      link = &s->next;
      continue;
    }
    *link = s->next;
    s->next = gone;
    gone = s;
  }
  return why;
}

const char *simt_catch_up_all(void) {
  const char *why = NULL;
  for (int device = 0; device < SIMT_DEVICES && !why; device++) why = simt_catch_up_device(device);
  return why;
}
