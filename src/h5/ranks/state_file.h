/* Partial states of a part of a job in a file, and the results of all its parts from such files.
 *
 * A file holds, little-endian: the magic "NDRPARTS", the version, the part's number and their count; the text of
 * whoever wrote it and the job's; a record for each accumulator, which is its key and what ndr_accumulator_export
 * wrote; and a record without bytes that has the number of the others. A checksum of all but the exports, which have
 * their own, ends it. It appears whole or not at all. */
#ifndef NDR_H5_RANKS_STATE_FILE_H
#define NDR_H5_RANKS_STATE_FILE_H

#include "ndreduce/h5_reduce.h"

/* Which outputs of which piece an accumulator has. */
typedef struct ndr_state_key {
  int64_t stage, piece, column;
} ndr_state_key;

typedef struct ndr_state_writer ndr_state_writer;

/* What a file says before its records. The texts end with 0. */
typedef struct ndr_state_head {
  int part, part_count; /* the former from 1 on */
  const char *note, *job;
} ndr_state_head;

/* A file at path is replaced if it has partial states, too. */
ndr_status ndr_state_writer_open(ndr_state_writer **writer, const char *path, const ndr_state_head *head);
ndr_status ndr_state_writer_put(ndr_state_writer *writer, ndr_state_key key, const ndr_accumulator *sums);
ndr_status ndr_state_writer_commit(ndr_state_writer *writer);

/* NULL is allowed. */
void ndr_state_writer_close(ndr_state_writer *writer);

typedef struct ndr_state_set ndr_state_set;

/* The job whose parts the files must have: its text, and the names of its files, one a line, in the text's order. */
typedef struct ndr_state_job {
  const char *text, *files;
} ndr_state_job;

/* Opens the files of all parts of a job. Fails, naming the file, where one is damaged or of another job, and where a
 * part is missing or there twice. Where this or a later ndr_state_set_add fails because of a file, *refused says why.
 * paths and refused must outlive the set. To be closed even if that fails. */
ndr_status ndr_state_set_open(ndr_state_set **opened, int count, const char *const *paths, const ndr_state_job *job,
                              ndr_h5_refused *refused);

/* The text of the job that a file is of, to be freed. */
ndr_status ndr_state_file_job(const char *path, char **job);

/* Adds what a part has under the key. Fails with NDR_ERR_FILE where none has. */
ndr_status ndr_state_set_add(ndr_state_set *set, ndr_state_key key, ndr_accumulator *into);

/* NULL is allowed. */
void ndr_state_set_close(ndr_state_set *set);

#endif
