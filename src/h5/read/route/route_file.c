/* Contiguous data. A box is read in spans of the file, each with as much of the box as lies close together there. Of a
 * box that crosses a seam, first one side is read so, then the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "h5/file/seam.h"
#include "h5/read/route/route.h"

/* Skipping fewer bytes than this in the file costs more than reading them. */
#define GAP 4096

/* Reading less than this at a time costs as much in handing out as in work. */
#define TASK ((int64_t)1 << 20)

/* Where the spans of a side of a box are: `take` steps of axis `cut` and all of the axes inside it are one. cut is -1
 * where all of the side is one. */
typedef struct {
  ndr_gather side;
  int64_t begin, place; /* where the side begins, in bytes of the file and of the box */
  int cut;
  int64_t take;
} plan;

static void place_side(const ndr_reader *reader, ndr_box box, const ndr_side *side, plan *p) {
  const ndr_h5_dataset *dataset = reader->dataset;
  int64_t from[NDR_MAX_DIMS], to[NDR_MAX_DIMS];
  int64_t from_step = ndr_stored_bytes(reader), to_step = (int64_t)ndr_dtype_bytes(reader->unpack.to);
  p->begin = reader->address;
  for (int d = dataset->info.ndim - 1; d >= 0; d--) {
    from[d] = from_step * dataset->step[d];
    to[d] = to_step;
    p->begin += side->from[d] * from_step;
    p->place += (side->begin[d] - box.begin[d]) * to_step;
    from_step *= dataset->extent[d];
    to_step *= box.size[d];
  }
  for (int d = 0; d < dataset->info.ndim; d++) ndr_gather_add(&p->side, side->size[d], from[d], to[d]);
}

static plan make_plan(const ndr_reader *reader, ndr_box box, int number) {
  const ndr_side side = ndr_seam_side(reader->dataset, box.begin, box.size, number);
  plan p = {.cut = -1, .take = 1};
  int64_t span = ndr_stored_bytes(reader);
  place_side(reader, box, &side, &p);
  for (int i = p.side.count - 1; i >= 0; i--) {
    const ndr_gather_axis *axis = &p.side.axes[i];
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

/* The part of the side that a piece is, and where it begins. */
static ndr_gather find_piece(const plan *p, int64_t piece, int64_t *from, int64_t *to) {
  ndr_gather part = {0};
  *from = p->begin;
  *to = p->place;
  if (p->cut < 0) return p->side;
  const ndr_gather_axis *cut = &p->side.axes[p->cut];
  int64_t count = parts(cut->size, p->take), first = piece % count * p->take;
  *from += first * cut->from;
  *to += first * cut->to;
  piece /= count;
  for (int i = p->cut - 1; i >= 0; i--) {
    const ndr_gather_axis *axis = &p->side.axes[i];
    *from += piece % axis->size * axis->from;
    *to += piece % axis->size * axis->to;
    piece /= axis->size;
  }
  ndr_gather_add(&part, cut->size - first < p->take ? cut->size - first : p->take, cut->from, cut->to);
  for (int i = p->cut + 1; i < p->side.count; i++)
    ndr_gather_add(&part, p->side.axes[i].size, p->side.axes[i].from, p->side.axes[i].to);
  return part;
}

static int64_t pieces_of(const plan *p) {
  int64_t count = 1;
  for (int i = 0; i < p->cut; i++) count *= p->side.axes[i].size;
  return p->cut >= 0 ? count * parts(p->side.axes[p->cut].size, p->take) : count;
}

int64_t ndr_file_pieces(const ndr_reader *reader, ndr_box box, int64_t *task) {
  const int sides = ndr_seam_sides(reader->dataset, box.begin, box.size);
  int64_t from, to, count = 0;
  *task = TASK;
  for (int i = 0; i < sides; i++) {
    const plan p = make_plan(reader, box, i);
    const ndr_gather first = find_piece(&p, 0, &from, &to);
    const int64_t each = TASK / ndr_gather_span(&first, ndr_stored_bytes(reader));
    if (each < *task) *task = each > 1 ? each : 1;
    count += pieces_of(&p);
  }
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
  int side = 0;
  plan p = make_plan(reader, box, side);
  for (int64_t count; piece >= (count = pieces_of(&p)); piece -= count) p = make_plan(reader, box, ++side);
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
