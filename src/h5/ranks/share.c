/* How rank 0 hands the others what it has read of files: one letter, which goes down a tree of ranks.
 *
 * The letter is made of words of 8 bytes and texts: how many files; for each its facts, whether it is a new one, the
 * length of its name, the number of its extents; the name; where each extent begins and its size; then their bytes. */
#include <stdlib.h>
#include <string.h>

#include "common/mail.h"
#include "core/status.h"
#include "core/words.h"
#include "h5/structure/structure.h"

ndr_status ndr_h5_structure_create(ndr_h5_structure **structure, ndr_comm *comm) {
  if (!structure || !comm) return ndr_fail(NDR_ERR_ARGUMENT, "%s is a null pointer", structure ? "comm" : "structure");
  *structure = calloc(1, sizeof **structure);
  if (!*structure) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  (*structure)->comm = comm;
  (*structure)->room = comm->ranks > 1 ? ndr_structure_bytes : 0;
  return NDR_OK;
}

void ndr_h5_structure_destroy(ndr_h5_structure *s) {
  if (!s) return;
  for (int i = 0; i < s->file_count; i++) {
    ndr_image_clear(&s->files[i]->image);
    free(s->files[i]->name);
    free(s->files[i]);
  }
  for (int i = 0; i < s->letter_count; i++) free(s->letters[i]);
  free(s->letters);
  free(s->files);
  free(s);
}

/* ---- The letter -------------------------------------------------------------------------------------------------- */

enum { WORD = 8, FILE_WORDS = 7 };

/* Extents that the others lack and that follow each other are one: finds the next one from *i on, and sets *i behind
 * it. */
static bool next_stretch(const ndr_image *image, size_t *i, ndr_extent *stretch) {
  while (*i < image->count && image->extents[*i].shared) ++*i;
  if (*i == image->count) return false;
  *stretch = image->extents[(*i)++];
  for (; *i < image->count; ++*i) {
    const ndr_extent *next = &image->extents[*i];
    if (next->shared || next->begin != stretch->begin + stretch->size) break;
    stretch->size += next->size;
  }
  return true;
}

/* What a letter has of a file. */
typedef struct {
  size_t stretches, bytes;
} amount;

static amount measure(const ndr_image *image) {
  amount all = {0, 0};
  ndr_extent stretch;
  for (size_t i = 0; next_stretch(image, &i, &stretch); all.stretches++) all.bytes += (size_t)stretch.size;
  return all;
}

static unsigned char *put(unsigned char *at, uint64_t word) {
  ndr_word_store(word, at);
  return at + WORD;
}

static uint64_t take(const unsigned char **at) {
  uint64_t word = ndr_word_load(*at);
  *at += WORD;
  return word;
}

static size_t file_bytes(const ndr_structure_file *file, amount a) {
  return FILE_WORDS * WORD + strlen(file->name) + a.stretches * 2 * WORD + a.bytes;
}

static unsigned char *put_file(unsigned char *at, ndr_structure_file *file) {
  const ndr_file_facts *facts = &file->facts;
  size_t length = strlen(file->name);
  amount all = measure(&file->image);
  ndr_extent stretch;
  const uint64_t words[FILE_WORDS] = {(uint64_t)facts->bytes,
                                      (uint64_t)facts->inode,
                                      (uint64_t)facts->modified,
                                      (uint64_t)facts->changed,
                                      facts->check,
                                      length,
                                      all.stretches};
  for (int i = 0; i < FILE_WORDS; i++) at = put(at, words[i]);
  memcpy(at, file->name, length);
  at += length;
  for (size_t i = 0; next_stretch(&file->image, &i, &stretch);)
    at = put(put(at, (uint64_t)stretch.begin), (uint64_t)stretch.size);
  for (size_t i = 0; i < file->image.count; i++) {
    ndr_extent *extent = &file->image.extents[i];
    if (extent->shared) continue;
    memcpy(at, extent->bytes, (size_t)extent->size);
    at += extent->size;
    extent->shared = true;
  }
  file->announced = true;
  return at;
}

/* A file in which rank 0 has read nothing new since the last letter is left out. */
static bool has_news(const ndr_structure_file *file, amount *a) {
  *a = measure(&file->image);
  return file->known && (a->stretches > 0 || !file->announced);
}

static ndr_status write_letter(ndr_h5_structure *s, ndr_letter *letter) {
  amount a;
  uint64_t files = 0;
  letter->count = WORD;
  for (int i = 0; i < s->file_count; i++) {
    if (!has_news(s->files[i], &a)) continue;
    letter->count += file_bytes(s->files[i], a);
    files++;
  }
  unsigned char *at = letter->bytes = malloc(letter->count);
  if (!at) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the structure of the files");
  at = put(at, files);
  for (int i = 0; i < s->file_count; i++)
    if (has_news(s->files[i], &a)) at = put_file(at, s->files[i]);
  return NDR_OK;
}

/* The extents stay in the letter. */
static bool take_file(ndr_h5_structure *s, const unsigned char **at) {
  uint64_t words[FILE_WORDS];
  for (int i = 0; i < FILE_WORDS; i++) words[i] = take(at);
  size_t length = (size_t)words[5], stretches = (size_t)words[6];
  char *name = strndup((const char *)*at, length);
  ndr_structure_file *file = name ? ndr_structure_find(s, name, true) : NULL;
  free(name);
  if (!file) return false;
  file->facts = (ndr_file_facts){(int64_t)words[0], (int64_t)words[1], (int64_t)words[2], (int64_t)words[3], words[4]};
  const unsigned char *places = *at + length, *bytes = places + stretches * 2 * WORD;
  for (size_t i = 0; i < stretches; i++) {
    int64_t begin = (int64_t)take(&places), size = (int64_t)take(&places);
    if (!ndr_image_add(&file->image, begin, size, (const char *)bytes)) return false;
    bytes += size;
  }
  *at = bytes;
  return true;
}

/* Takes over the letter's bytes. */
static ndr_status read_letter(ndr_h5_structure *s, ndr_letter *letter) {
  unsigned char **more = realloc(s->letters, (size_t)(s->letter_count + 1) * sizeof *more);
  const unsigned char *at = letter->bytes;
  bool good = more != NULL;
  if (good) {
    s->letters = more;
    s->letters[s->letter_count++] = letter->bytes;
    letter->bytes = NULL;
  }
  for (uint64_t files = good ? take(&at) : 0; good && files > 0; files--) good = take_file(s, &at);
  return good ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "out of memory for the structure of the files");
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

/* Kinds of letters. WAITING goes to rank 0, so that rank 0 notices it if it is in another call. */
enum { STRUCTURE, WAITING };

/* A call of ndr_h5_structure_share. */
typedef struct {
  ndr_h5_structure *structure;
  ndr_mail *mail;
  bool has_come;
} sharing;

/* Rank r hands the letter to r + 1, r + 2, r + 4 ... below r + its lowest bit, the one with most ranks behind it first.
 */
static ndr_status hand_on(const sharing *call, const ndr_letter *letter) {
  const ndr_comm *comm = call->structure->comm;
  int64_t step = comm->rank & -comm->rank;
  if (comm->rank == 0)
    for (step = 1; step < comm->ranks;) step *= 2;
  for (step /= 2; step > 0; step /= 2)
    if (comm->rank + step < comm->ranks)
      NDR_TRY(ndr_mail_send(call->mail, (int)(comm->rank + step), STRUCTURE, letter->bytes, letter->count));
  return NDR_OK;
}

static ndr_status take_letter(void *user, ndr_letter *letter) {
  sharing *call = user;
  if (letter->kind == WAITING) return NDR_OK;
  call->has_come = true;
  NDR_TRY(hand_on(call, letter));
  return read_letter(call->structure, letter);
}

static ndr_status share(sharing *call) {
  ndr_letter letter;
  if (call->structure->comm->rank == 0) {
    NDR_TRY(write_letter(call->structure, &letter));
    ndr_status status = hand_on(call, &letter);
    free(letter.bytes);
    return status;
  }
  NDR_TRY(ndr_mail_send(call->mail, 0, WAITING, NULL, 0));
  while (!call->has_come) NDR_TRY(ndr_mail_look(call->mail, true));
  return NDR_OK;
}

ndr_status ndr_h5_structure_share(ndr_h5_structure *s) {
  if (!s) return ndr_fail(NDR_ERR_ARGUMENT, "structure is a null pointer");
  sharing call = {s, NULL, false};
  s->opening = false;
  if (s->comm->ranks == 1) return NDR_OK;
  NDR_TRY(ndr_mail_open(&call.mail, s->comm, NDR_CALL_STRUCTURE, take_letter, &call));
  return ndr_mail_end(call.mail, share(&call));
}
