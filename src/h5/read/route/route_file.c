/* Contiguous data. A box is read in spans of the file, each with as much of the box as lies close together there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "h5/read/route/route.h"

/* Skipping fewer bytes than this in the file costs more than reading them. */
#define GAP 4096

/* Reading less than this at a time costs as much in handing out as in work. */
#define TASK ((int64_t)1 << 20)

/* Where the spans of a box are: `take` steps of axis `cut` and all of the axes inside it are one. cut is -1 where all
 * of the box is one. */
typedef struct {
  ndr_gather box;
  int64_t begin; /* of the box in the file */
  int cut;
  int64_t take;
} plan;

static void place_box(const ndr_reader *reader, ndr_box box, plan *p) {
  const ndr_h5_dataset *dataset = reader->dataset;
  int64_t from[NDR_MAX_DIMS], to[NDR_MAX_DIMS];
  int64_t from_step = ndr_stored_bytes(reader), to_step = (int64_t)ndr_dtype_bytes(reader->unpack.to);
  p->begin = reader->address;
  for (int d = dataset->info.ndim - 1; d >= 0; d--) {
    from[d] = from_step * dataset->step[d];
    to[d] = to_step;
    p->begin += (dataset->from[d] + box.begin[d] * dataset->step[d]) * from_step;
    from_step *= dataset->extent[d];
    to_step *= box.size[d];
  }
  p->box.count = 0;
  for (int d = 0; d < dataset->info.ndim; d++) ndr_gather_add(&p->box, box.size[d], from[d], to[d]);
}

static plan make_plan(const ndr_reader *reader, ndr_box box) {
  plan p = {.cut = -1, .take = 1};
  int64_t span = ndr_stored_bytes(reader);
  place_box(reader, box, &p);
  for (int i = p.box.count - 1; i >= 0; i--) {
    const ndr_gather_axis *axis = &p.box.axes[i];
    int64_t all = span + (axis->size - 1) * axis->from;
    bool close = axis->from <= 2 * span || axis->from - span <= GAP;
    if (!close || all > reader->span) {
      p.cut = i;
      p.take = close && span < reader->span ? (reader->span - span) / axis->from + 1 : 1;
      break;
    }
    span = all;
  }
  return p;
}

static int64_t parts(int64_t size, int64_t part) {
  return size / part + (size % part != 0);
}

/* The part of the box that a piece is, and where it begins. */
static ndr_gather find_piece(const plan *p, int64_t piece, int64_t *from, int64_t *to) {
  ndr_gather part = {0};
  *from = p->begin;
  *to = 0;
  if (p->cut < 0) return p->box;
  const ndr_gather_axis *cut = &p->box.axes[p->cut];
  int64_t count = parts(cut->size, p->take), first = piece % count * p->take;
  *from += first * cut->from;
  *to += first * cut->to;
  piece /= count;
  for (int i = p->cut - 1; i >= 0; i--) {
    const ndr_gather_axis *axis = &p->box.axes[i];
    *from += piece % axis->size * axis->from;
    *to += piece % axis->size * axis->to;
    piece /= axis->size;
  }
  ndr_gather_add(&part, cut->size - first < p->take ? cut->size - first : p->take, cut->from, cut->to);
  for (int i = p->cut + 1; i < p->box.count; i++)
    ndr_gather_add(&part, p->box.axes[i].size, p->box.axes[i].from, p->box.axes[i].to);
  return part;
}

int64_t ndr_file_pieces(const ndr_reader *reader, ndr_box box, int64_t *task) {
  plan p = make_plan(reader, box);
  int64_t from, to, count = 1;
  for (int i = 0; i < p.cut; i++) count *= p.box.axes[i].size;
  if (p.cut >= 0) count *= parts(p.box.axes[p.cut].size, p.take);
  ndr_gather first = find_piece(&p, 0, &from, &to);
  *task = TASK / ndr_gather_span(&first, ndr_stored_bytes(reader));
  if (*task < 1) *task = 1;
  return count;
}

int64_t ndr_file_scratch_bytes(const ndr_reader *reader) {
  return reader->span;
}

ndr_status ndr_file_set_up(const ndr_reader *reader, ndr_reader_scratch *scratch) {
  scratch->raw = malloc((size_t)reader->span);
  return scratch->raw ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for a buffer", reader->dataset->where);
}

ndr_status ndr_file_pread(const ndr_reader *reader, int64_t offset, int64_t bytes, char *to) {
  while (bytes > 0) {
    ssize_t got = pread(reader->fd, to, (size_t)bytes, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ndr_fail(NDR_ERR_FILE, "%s: cannot be read: %s", reader->dataset->where, strerror(errno));
    if (got == 0)
      return ndr_fail(NDR_ERR_FILE, "%s: cannot be read: the file ends before its data do", reader->dataset->where);
    offset += got;
    bytes -= got;
    to += got;
  }
  return NDR_OK;
}

ndr_status ndr_file_read(const ndr_reader *reader, ndr_reader_scratch *scratch, ndr_box box, int64_t piece,
                         void *data) {
  const ndr_unpack *unpack = &reader->unpack;
  int64_t from, to, stored = ndr_stored_bytes(reader);
  plan p = make_plan(reader, box);
  ndr_gather part = find_piece(&p, piece, &from, &to);
  bool direct = ndr_unpack_copies(unpack) && ndr_gather_is_run(&part, stored, stored);
  int64_t bytes = ndr_gather_span(&part, stored);
  double begin = ndr_seconds();
  NDR_TRY(ndr_file_pread(reader, from, bytes, direct ? (char *)data + to : scratch->raw));
  double middle = ndr_seconds();
  scratch->read_seconds += middle - begin;
  scratch->stored_bytes += bytes;
  if (direct) return NDR_OK;
  ndr_gather_run(&part, unpack, scratch->raw, (char *)data + to);
  scratch->unpack_seconds += ndr_seconds() - middle;
  return NDR_OK;
}
