/* Chunked data. A piece is a chunk: where a table says where it lies, all is done outside HDF5's lock; else its stored
 * bytes are looked up and read inside. H5Dget_chunk_storage_size and H5Dread_chunk look one chunk up; the calls that
 * give its address walk the whole index in HDF5 1.10. */
#include <stdlib.h>
#include <string.h>

#include "h5/codec/planes.h"
#include "h5/file/seam.h"
#include "h5/read/route/route.h"

/* Decoding less than this at a time costs as much in handing out as in work. */
#define TASK ((int64_t)256 << 10)

/* A chunk and the part of the box that lies in it. */
typedef struct {
  hsize_t offset[NDR_MAX_DIMS]; /* of the chunk in the dataset */
  bool partial;                 /* reaches over the dataset's edge */
  bool empty;                   /* holds nothing of the box: a step leads over it */
  bool cut;                     /* the dataset ends in the part, so that only `present` of it is in the file */
  bool absent;                  /* none of the part is */
  ndr_gather part, present;
  int64_t from, to; /* where the part begins in the chunk and in the box */
} piece_plan;

/* How many chunks a run along dim d touches; *first is the number of the first of them. */
static int64_t touched(const ndr_h5_dataset *dataset, int d, const ndr_run *run, int64_t *first) {
  int64_t last = run->from + (run->count - 1) * dataset->step[d];
  *first = run->from / dataset->info.chunk[d];
  return last / dataset->info.chunk[d] - *first + 1;
}

/* The chunks that a box touches along one dim: those of the run before a seam, then those of the run behind it. One
 * that has some of both counts twice. */
typedef struct {
  ndr_run runs[2];
  int64_t first[2], count[2], all; /* all: the sum of both counts */
  bool shared;                     /* both runs lie in one chunk, the same */
} chunks_along;

static chunks_along find_along(const ndr_reader *reader, ndr_box box, int d) {
  chunks_along a = {.all = 0};
  const int runs = ndr_seam_runs(reader->dataset, d, box.begin[d], box.size[d], a.runs);
  for (int r = 0; r < runs; r++) a.all += a.count[r] = touched(reader->dataset, d, &a.runs[r], &a.first[r]);
  a.shared = a.count[0] == 1 && a.count[1] == 1 && a.first[0] == a.first[1];
  return a;
}

int64_t ndr_chunks_along(const ndr_reader *reader, ndr_box box, int d) {
  return find_along(reader, box, d).all;
}

/* Pieces of one chunk are in one task, so that it is decoded once. */
int64_t ndr_chunks_pieces(const ndr_reader *reader, ndr_box box, int64_t *task) {
  int64_t count = 1, shared = 1; /* shared: pieces of one chunk, at most */
  for (int d = 0; d < reader->dataset->info.ndim; d++) {
    const chunks_along a = find_along(reader, box, d);
    count *= a.all;
    if (a.shared) shared *= 2;
  }
  *task = (TASK / reader->chunk_bytes / shared + 1) * shared;
  return count;
}

/* Sets number[d] to which of the chunks along dim d a piece is. Dims whose runs share a chunk vary fastest, so that the
 * pieces of one chunk follow each other. */
static void number_chunks(const ndr_reader *reader, const chunks_along *along, int64_t piece, int64_t *number) {
  for (int pass = 0; pass < 2; pass++)
    for (int d = reader->dataset->info.ndim - 1; d >= 0; d--) {
      const bool now = along[d].shared == (pass == 0);
      if (!now) continue;
      number[d] = piece % along[d].all;
      piece /= along[d].all;
    }
}

/* How many elements of a run come before index `end` of the file. */
static int64_t count_before(const ndr_run *run, int64_t step, int64_t end) {
  int64_t distance = end - run->from, count = distance / step + (distance % step != 0);
  return distance <= 0 ? 0 : count < run->count ? count : run->count;
}

/* Of a piece, along one dim: the chunk's first index in the file, and the part of the box in it. */
typedef struct {
  int64_t corner;
  int64_t first, size; /* in the file */
  int64_t place;       /* in the box */
} piece_along;

static piece_along find_piece_along(const chunks_along *a, int64_t number, int64_t chunk, int64_t step, int64_t begin) {
  const int side = number >= a->count[0];
  const ndr_run *run = &a->runs[side];
  const int64_t corner = (a->first[side] + number - (side ? a->count[0] : 0)) * chunk;
  const int64_t low = count_before(run, step, corner), high = count_before(run, step, corner + chunk);
  return (piece_along){corner, run->from + low * step, high - low, run->begin + low - begin};
}

static piece_plan find_piece(const ndr_reader *reader, ndr_box box, int64_t piece) {
  const ndr_h5_dataset *dataset = reader->dataset;
  piece_plan p = {.partial = false};
  chunks_along along[NDR_MAX_DIMS] = {{.all = 0}};
  int64_t stored = ndr_stored_bytes(reader), result = (int64_t)ndr_dtype_bytes(reader->unpack.to);
  int64_t number[NDR_MAX_DIMS], from[NDR_MAX_DIMS], to[NDR_MAX_DIMS], size[NDR_MAX_DIMS], present[NDR_MAX_DIMS];
  for (int d = 0; d < dataset->info.ndim; d++) along[d] = find_along(reader, box, d);
  number_chunks(reader, along, piece, number);
  for (int d = dataset->info.ndim - 1; d >= 0; d--) {
    const int64_t chunk = dataset->info.chunk[d], step = dataset->step[d];
    const piece_along own = find_piece_along(&along[d], number[d], chunk, step, box.begin[d]);
    size[d] = own.size;
    present[d] = ndr_hdf_present(dataset, d, own.first, size[d]);
    p.offset[d] = (hsize_t)own.corner;
    p.partial = p.partial || dataset->stored[d] - own.corner < chunk;
    p.cut = p.cut || present[d] < size[d];
    p.absent = p.absent || present[d] <= 0;
    p.empty = p.empty || size[d] <= 0;
    p.from += (own.first - own.corner) * stored;
    p.to += own.place * result;
    from[d] = stored * step;
    to[d] = result;
    stored *= chunk;
    result *= box.size[d];
  }
  for (int d = 0; !p.empty && d < dataset->info.ndim; d++) ndr_gather_add(&p.part, size[d], from[d], to[d]);
  for (int d = 0; !p.absent && d < dataset->info.ndim; d++) ndr_gather_add(&p.present, present[d], from[d], to[d]);
  return p;
}

/* ---- Buffers ---------------------------------------------------------------------------------------------------- */

static size_t stored_limit(const ndr_reader *reader) {
  return ndr_decoder_stored_limit(&reader->filters, (size_t)reader->chunk_bytes);
}

int64_t ndr_chunks_scratch_bytes(const ndr_reader *reader) {
  if (reader->chunk_bytes > INT64_MAX / 16) return INT64_MAX;
  if (reader->filters.count == 0) return reader->chunk_bytes;
  return reader->chunk_bytes + (int64_t)stored_limit(reader) +
         (int64_t)ndr_decoder_bytes(&reader->filters, (size_t)reader->chunk_bytes);
}

ndr_status ndr_chunks_set_up(const ndr_reader *reader, ndr_reader_scratch *scratch) {
  const char *where = reader->dataset->where;
  scratch->raw = malloc((size_t)reader->chunk_bytes);
  if (!scratch->raw) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for a chunk", where);
  if (reader->filters.count == 0) return NDR_OK;
  scratch->stored = malloc(stored_limit(reader));
  if (!scratch->stored) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for a chunk", where);
  return ndr_decoder_create(&scratch->decoder, &reader->filters, (size_t)reader->chunk_bytes);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static ndr_status fail_chunk(const ndr_reader *reader, const piece_plan *p, const char *reason) {
  char corner[24 * NDR_MAX_DIMS] = "";
  size_t used = 0;
  for (int d = 0; d < reader->dataset->info.ndim; d++)
    used +=
        (size_t)snprintf(corner + used, sizeof corner - used, "%s%llu", d ? "," : "", (unsigned long long)p->offset[d]);
  return ndr_fail(NDR_ERR_FILE, "%s: chunk [%.200s] cannot be read: %s", reader->dataset->where, corner, reason);
}

/* HDF5 calls it an error to ask for the size of a chunk that was never written, and has no other sign of that. */
static bool was_never_written(void) {
  char text[NDR_HDF_TEXT];
  ndr_hdf_text(text);
  return strstr(text, "not allocated") != NULL;
}

static const char too_large[] = "it claims more bytes than it can take";

/* Inside the lock. bytes is 0 for a chunk that was never written. */
static ndr_status ask(const ndr_reader *reader, const piece_plan *p, void *to, hsize_t limit, hsize_t *bytes,
                      uint32_t *mask) {
  hid_t id = reader->dataset->id;
  const hsize_t *offset = p->offset + reader->dataset->new_dims;
  *bytes = 0;
  if (H5Dget_chunk_storage_size(id, offset, bytes) < 0)
    return was_never_written() ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, reader->dataset->where, "a chunk cannot be found");
  if (*bytes == 0) return NDR_OK;
  if (*bytes > limit) return fail_chunk(reader, p, too_large);
#if H5_VERSION_GE(2, 0, 0)
  size_t room = limit;
  herr_t done = H5Dread_chunk2(id, H5P_DEFAULT, offset, mask, to, &room);
#else
  herr_t done = H5Dread_chunk(id, H5P_DEFAULT, offset, mask, to);
#endif
  return done >= 0 ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, reader->dataset->where, "a chunk cannot be read");
}

/* The table, made by the first thread that needs it; the others wait, as they need it too. */
static const ndr_chunk_table *find_table(const ndr_reader *reader) {
  ndr_hdf_scope scope;
  if (!reader->table || __atomic_load_n(&reader->table->made, __ATOMIC_ACQUIRE)) return reader->table;
  ndr_hdf_enter(&scope, reader->dataset->no_plugins);
  if (!reader->table->made) {
    ndr_chunk_table made = {false, NULL};
    ndr_chunk_table_make(&made, reader->dataset, reader->table_bytes);
    reader->table->places = made.places;
    __atomic_store_n(&reader->table->made, true, __ATOMIC_RELEASE);
  }
  ndr_hdf_leave(&scope);
  return reader->table;
}

/* bytes is 0 for a chunk that was never written. */
static ndr_status read_stored(const ndr_reader *reader, const piece_plan *p, void *to, hsize_t limit, hsize_t *bytes,
                              uint32_t *mask) {
  *bytes = 0;
  if (p->absent) return NDR_OK;
  const ndr_chunk_table *table = find_table(reader);
  const ndr_chunk_place *place = table ? ndr_chunk_table_find(table, reader->dataset, p->offset) : NULL;
  ndr_hdf_scope scope;
  if (place) {
    *bytes = (hsize_t)place->bytes;
    *mask = place->mask;
    if (*bytes > limit) return fail_chunk(reader, p, too_large);
    return ndr_file_pread(reader, place->address, place->bytes, to);
  }
  ndr_hdf_enter(&scope, reader->dataset->no_plugins);
  ndr_status status = ask(reader, p, to, limit, bytes, mask);
  ndr_hdf_leave(&scope);
  return status;
}

/* Chunks that are handed on keep their shuffle, and get one where they were stored without. */
static ndr_status decode(const ndr_reader *reader, ndr_reader_scratch *scratch, const piece_plan *p, size_t bytes,
                         uint32_t mask, void *to) {
  char reason[256];
  bool keeps = reader->whole && reader->shuffled, lacks = keeps && (mask & 1);
  if (ndr_decoder_run(scratch->decoder, scratch->stored, bytes, keeps ? mask | 1 : mask, lacks ? scratch->raw : to) ==
      NDR_OK) {
    size_t element = (size_t)ndr_stored_bytes(reader);
    if (lacks) ndr_part_bytes(scratch->raw, to, (size_t)reader->chunk_bytes / element, element);
    return NDR_OK;
  }
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return fail_chunk(reader, p, reason);
}

/* What was never written: in a whole chunk, the planes one by one. */
static void fill(const ndr_reader *reader, const piece_plan *p, char *to) {
  size_t element = ndr_dtype_bytes(reader->unpack.to), count = (size_t)reader->chunk_bytes / element;
  const ndr_gather chunk = {1, {{(int64_t)count, 0, (int64_t)element}}};
  if (!reader->whole || !reader->shuffled)
    ndr_gather_fill(reader->whole ? &chunk : &p->part, element, reader->fill, to);
  else
    for (size_t byte = 0; byte < element; byte++) memset(to + byte * count, reader->fill[byte], count);
}

/* Whether all of a chunk goes where it will lie. */
static bool is_in_place(const ndr_reader *reader, const piece_plan *p) {
  int64_t element = ndr_stored_bytes(reader);
  return reader->whole ||
         (!p->cut && ndr_unpack_copies(&reader->unpack) && ndr_gather_is_run(&p->part, element, element) &&
          ndr_gather_elements(&p->part) * element == reader->chunk_bytes);
}

static size_t offset_bytes(const ndr_reader *reader) {
  return (size_t)reader->dataset->info.ndim * sizeof(uint64_t);
}

/* Whether raw is this chunk already: slabs may be parts of one. */
static bool is_held(const ndr_reader *reader, const ndr_reader_scratch *scratch, const piece_plan *p) {
  return scratch->holds && !p->absent && memcmp(scratch->held, p->offset, offset_bytes(reader)) == 0;
}

/* Puts the part of raw that the box has where it belongs. */
static void take_part(const ndr_reader *reader, ndr_reader_scratch *scratch, const piece_plan *p, void *target) {
  double begin = ndr_seconds();
  if (p->cut) fill(reader, p, target);
  ndr_gather_run(&p->present, &reader->unpack, (const char *)scratch->raw + p->from, target);
  scratch->unpack_seconds += ndr_seconds() - begin;
}

ndr_status ndr_chunks_read(const ndr_reader *reader, ndr_reader_scratch *scratch, ndr_box box, int64_t piece,
                           void *data) {
  piece_plan p = find_piece(reader, box, piece);
  char *target = (char *)data + (reader->whole ? piece * reader->chunk_bytes : p.to);
  hsize_t bytes;
  uint32_t mask = 0;
  if (p.empty) return NDR_OK;
  bool in_place = is_in_place(reader, &p), plain = reader->filters.count == 0;
  void *elements = in_place ? target : scratch->raw; /* of the chunk, decoded */
  if (!in_place && is_held(reader, scratch, &p)) {
    take_part(reader, scratch, &p, target);
    return NDR_OK;
  }
  scratch->holds = false;
  double begin = ndr_seconds();
  NDR_TRY(read_stored(reader, &p, plain ? elements : scratch->stored,
                      plain ? (hsize_t)reader->chunk_bytes : stored_limit(reader), &bytes, &mask));
  double read = ndr_seconds();
  scratch->read_seconds += read - begin;
  scratch->stored_bytes += (int64_t)bytes;
  if (bytes == 0) {
    fill(reader, &p, target);
    scratch->unpack_seconds += ndr_seconds() - read;
    return NDR_OK;
  }
  if (plain && (int64_t)bytes != reader->chunk_bytes) return fail_chunk(reader, &p, "its size is not that of a chunk");
  if (reader->bare_edges && p.partial) mask = UINT32_MAX;
  if (!plain) NDR_TRY(decode(reader, scratch, &p, (size_t)bytes, mask, elements));
  scratch->decode_seconds += ndr_seconds() - read;
  if (in_place) return NDR_OK;
  memcpy(scratch->held, p.offset, offset_bytes(reader));
  scratch->holds = true;
  take_part(reader, scratch, &p, target);
  return NDR_OK;
}
