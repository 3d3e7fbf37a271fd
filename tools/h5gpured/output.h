/* Where answers go: standard output or the file of -o, as text, JSON, tables or datasets; and what is drawn of
 * progress. */
#ifndef H5GPURED_OUTPUT_H
#define H5GPURED_OUTPUT_H

#include "h5gpured/besides.h"
#include "h5gpured/members.h"
#include "h5gpured/number.h"

/* Where results go with -o: the file, and what is to be said of it once it is there. */
typedef struct destination {
  ndr_h5_writer *writer;
  FILE *said, *bytes; /* the file's contents, where it is not HDF5 */
} destination;

/* Gives the answer for one dataset: to standard output where `to` is NULL. */
bool output_give(const destination *to, const ndr_h5_dataset *dataset, answer *a);

/* Reduces or scans it, and writes the results block by block. */
bool output_stream(const destination *to, ndr_h5_dataset *dataset, answer *a, const besides *b);
bool reduce_to_writer(ndr_h5_writer *writer, ndr_h5_dataset *dataset, answer *a, const besides *b,
                      const char *const *names);

/* Copies the other variables of a file: those that have none of the reduced dims. */
bool others_copy(const members *m, const destination *to);

void print_text(const answer *a, FILE *to);
void print_json(const answer *a, FILE *stream);

/* What is said of a variable that -o copies; `joined`: from all inputs of --concat. */
void print_copied(const h5gpured_options *options, const ndr_h5_info *info, const char *name, FILE *stream);
void print_copied_json(const h5gpured_options *options, const ndr_h5_info *info, bool joined, FILE *stream);

/* One line on a result, or on places, that -o writes; name is NULL where the file is a table. */
void print_written(const answer *a, int op, const char *name, FILE *stream);
void print_written_found(const answer *a, int i, const char *name, FILE *stream);

/* The only result as a .npy file, and all of them as a table of one row for each element. */
void print_npy(const answer *a, FILE *stream);
bool print_csv(const ndr_h5_dataset *dataset, const answer *a, FILE *stream);

/* Looks up the coordinates of what argmin and argmax have found, for each dim that has some. */
bool find_places(const ndr_h5_dataset *dataset, answer *a);

/* Coordinates along a dim as dates, to be freed; *dates is NULL where they are no times. False, after a complaint,
 * where that cannot be told. */
bool dates_of(const ndr_h5_dataset *dataset, int dim, int64_t count, const double *values, date **dates);

/* The precision of the date that needs most; and writes all dates with a precision, adding zeros. Texts that are no
 * dates stay as they are. */
date_precision dates_precision(int64_t count, date *dates);
void dates_refine(int64_t count, date *dates, date_precision precision);

/* The precision that the table's dates along a dim of that name need; `columns` or `dim` may be NULL. */
date_precision table_precision(const table_columns *columns, const char *dim);

/* A coordinate for people: its date, or the shortest number. NUMBER_CHARS are room for both. */
void coordinate_text(date *dates, const double *values, int64_t i, char text[NUMBER_CHARS]);
DLTensor found_tensor(const answer *a, int i);

/* A name for dim d that no other reduced dim has, if d is reduced, or no other kept one: its own name, NAME_2, NAME_3
 * ... if dims before it have the same name, dimD if it has none. */
void dim_label(const answer *a, int d, char label[DIM_CHARS]);

/* "f32 [time 12, lat 6]" */
void print_type(ndr_dtype dtype, int ndim, const int64_t *shape, const char *const *names, FILE *stream);

/* Lists the datasets of a file; returns the exit code. */
int list_file(const h5gpured_options *options, const char *file);

/* Draws how far the work is, once it has taken a while. */
typedef struct progress_bar {
  const char *what;
  bool terminal, drawn;
  double begin, last;
} progress_bar;

void progress_start(progress_bar *bar, const char *what);
void progress_draw(progress_bar *bar, const ndr_h5_progress *now);
void progress_clear(progress_bar *bar);

#endif
