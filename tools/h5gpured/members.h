/* Inputs that mean several datasets: patterns, parts, and what is known of the datasets of a file. */
#ifndef H5GPURED_MEMBERS_H
#define H5GPURED_MEMBERS_H

#include "h5gpured/h5gpured.h"

typedef struct patterns {
  int count;
  char **all;
} patterns;

bool pattern_has_wildcards(const char *text);

/* Adds what the alternatives in braces make of a text. Returns NULL, or what is wrong with it. To be freed even then.
 */
const char *patterns_expand(patterns *list, const char *text);
void patterns_free(patterns *list);

/* Whether an absolute path matches one of them. */
bool patterns_match(const patterns *list, const char *path);

/* Whether an absolute path matches a pattern without braces: '*' any characters and '?' one, both but '/', and a name
 * that is "**" any number of names. */
bool pattern_matches(const char *pattern, const char *path);

/* Where the part in brackets begins behind a path; its end if there is none. */
const char *part_of(const char *path);

/* Puts the part of --select behind each input, and returns NULL, or what is wrong with that, to be freed. The inputs
 * are to be freed then, in any case. */
char *part_put(h5gpured_options *options);
void part_free(h5gpured_options *options);

/* Whether all entries are by names of dims. */
bool part_is_by_names(const char *part);

/* The part without the entries of dims that are not among the names, "" if none is left; to be freed. Sets bit i of
 * *used if entry i is left. NULL where there is no memory. */
char *part_for(const char *part, int ndim, const char *const *names, uint64_t *used);

/* The part of an array of array_ndim dims, whose dim i is dim dims[i] of a dataset of ndim dims that has `part`; -1 is
 * none of them. All entries of `part` are by place. To be freed; NULL where there is no memory. */
char *part_by_places(const char *part, int ndim, int array_ndim, const int *dims);

/* The first entry whose bit in `used` is not set, with its length; NULL if there is none. */
const char *part_unused(const char *part, uint64_t used, int *length);

/* A dataset of an input's file. */
typedef struct member {
  char *path;
  char *reason; /* why it cannot be reduced, or NULL; of numbers, what is wrong with them */
  int ndim;
  char *names[NDR_MAX_DIMS];                                   /* of its dims, NULL where they have none */
  enum { MEMBER_NUMBERS, MEMBER_OTHERS, MEMBER_UNKNOWN } kind; /* of the last nothing more is known */
  bool scale;
  bool has_all, has_some; /* of the dims that are reduced */
  bool data;              /* it does not only describe others */
  int same_as;            /* the place of the same dataset by an earlier path; -1: none */
  bool chosen;            /* by this path, the first one, or by a later one */
  bool named;             /* chosen by its name, rather than by wildcards or with all others */
  bool joined;            /* under --concat: it is read from all inputs, along the dim that it has or stacked */
  bool absent;            /* under --concat: it is not reduced, and one of the inputs lacks it */
  bool equal;             /* the same in all stacked files: it is copied and not reduced */
} member;

/* The datasets of an input that means several. */
typedef struct members {
  const h5gpured_options *options;
  char *file, *path; /* path: the pattern, or NULL for the file as a whole */
  char *text;
  const char *part; /* in the text, "" where the input has none */
  int count, chosen_count;
  member *all;          /* in the order of the file */
  int *chosen;          /* those that are reduced */
  bool several;         /* the input may mean several, so that a table has a column of their names */
  bool full;            /* there was no memory */
  ndr_h5_dataset *held; /* one of the file, which keeps the file open; or NULL */
} members;

/* Whether nothing but a part follows FILE; path may be NULL. */
bool path_is_file_alone(const char *path);

/* Whether what follows FILE: is a pattern, with or without a part behind it, and no name of a dataset. */
bool path_is_pattern(const h5gpured_options *options, const char *file, const char *path);

/* Complains of an input that names no file, as the library says why: what might be meant by brackets in its name, and
 * under --merge where it is looked for. Always false. */
bool input_fail(const h5gpured_options *options, const char *input);

/* Whether an input means several datasets: by a pattern, or FILE alone where dims are named. Under --concat all inputs
 * do, or none. False after a complaint. */
bool input_is_many(const h5gpured_options *options, int input, bool *many);

/* Finds the datasets that such an input means; after a complaint false. To be freed even then. */
bool members_find(const h5gpured_options *options, int input, members *m);
void members_free(members *m);

/* All dims that are reduced: those of --dims, then those of --by or --coarsen that are not among them, as "lat,time".
 * To be freed; NULL: out of memory. */
char *members_dims(const h5gpured_options *options);

/* Whether the other variables of the file are copied. */
bool members_are_copied(const members *m);

/* Lists the datasets of an input's file; `chosen` and `data` are not set. After a complaint false. To be freed even
 * then. */
bool members_read(const h5gpured_options *options, int input, members *m);

/* Finds out which of them are data; after a complaint false. */
bool members_mark_data(members *m);

/* The one of that path, or NULL. It is looked for from *at on, and *at is then its place: files are mostly gone through
 * in the same order. */
member *members_find_path(const members *m, const char *path, int *at);

/* Under --concat: whether all files have what is joined. Marks what is absent. After a complaint false. */
bool members_agree(members *m);

/* Under --concat new:NAME, if FILE alone is named: drops from the chosen variables those without times that are the
 * same in all files, unless all are. After a complaint false. */
bool members_set_aside(members *m);

/* Compares `first`, one's dataset in the first stacked file, with those in the others. *same: whether all are the same;
 * *status: an error if they cannot be compared. After a complaint false. */
bool member_compare(const members *m, const member *one, const ndr_h5_dataset *first, const ndr_h5_access *access,
                    ndr_status *status, int *same);

/* Whether a comma list has a name. */
bool list_has(const char *list, const char *name, size_t name_length);

/* Makes those that are chosen fit into the table of --format csv or npy, if there is one. Of csv, drops those whose
 * results have other dims than those of the most, and says so; those that are named have to fit. False after a
 * complaint. */
bool members_fit_table(members *m);

/* Finds the precision of dates that the table of those that are chosen needs. After a complaint false. */
bool members_find_dates(const members *m, table_columns *columns);

/* Call when rank 0 goes on alone: the file is then held open without what ranks share. */
void members_leave_ranks(members *m);

/* Whether nothing is wrong with numbers; after a complaint false. */
bool member_is_sound(const members *m, const member *one);

/* Says why a pattern or a file as a whole is refused; returns false. */
bool members_refuse(const members *m, const char *reason);

/* Opens one of them, with its part: joined ones from all inputs, as one dataset. After a complaint false. */
bool member_open(const members *m, const member *one, const ndr_h5_access *access, ndr_h5_dataset **dataset);

/* The same, with *status for what comes of it, of which nothing is complained. */
bool member_try_to_open(const members *m, const member *one, const ndr_h5_access *access, ndr_h5_dataset **dataset,
                        ndr_status *status);

/* Set *status to what comes of opening one's dataset in all inputs, as one that is joined, or in one of them: of that
 * nothing is complained. False after a complaint that it cannot be tried. */
bool member_try_to_join(const members *m, const member *one, const ndr_h5_access *access, ndr_status *status);
bool member_try_to_open_in(const members *m, int input, const member *one, const ndr_h5_access *access,
                           ndr_h5_dataset **dataset, ndr_status *status);

#endif
