/* Shared by besides*.c: what is known while the arrays beside a dataset are found, and the parts of finding them.
 * Functions that return bool have complained where they return false, unless they begin with "Whether". */
#ifndef H5GPURED_SEARCH_H
#define H5GPURED_SEARCH_H

#include "h5gpured/weights.h"

/* What an array is found for. */
typedef struct {
  const h5gpured_options *options;
  const ndr_h5_dataset *dataset;
  const ndr_h5_info *info;
  const char *where; /* names the dataset in complaints */
  besides *b;
} search;

/* ---- Operands and complaints (search.c) ------------------------------------------------------------------------- */

/* Complains of a lack of memory. Always false. */
bool search_fail_memory(const search *s);

/* Complains of the library's last error, with the option that the array was named by. Of an error that begins with the
 * dataset search_refuse_reason leaves out that beginning. Always false. */
bool search_refuse(const search *s, const char *option);
bool search_refuse_reason(const search *s, const char *option);

/* Adds an operand, which is empty; NULL after a complaint that there are too many. */
ndr_h5_operand *search_add(const search *s, ndr_role role);

/* ---- Coordinates (besides_coordinates.c) ------------------------------------------------------------------------- */

/* The only dim of that name, if it has coordinates; else -1. The second adds these, as the array `name`. */
int search_find_dim(const search *s, const char *name);
bool search_add_coordinate(const search *s, const char *name, int d);

/* The dim of a text DIM:cos or DIM:days, as --weights has them; -1: the text is something else. The second adds these
 * weights of that dim, as the array `name`. */
int search_find_weighed_dim(const search *s, const char *text);
bool search_add_weighed(const search *s, const char *name, int d, const char *text);

/* ---- Series (besides_series.c) ----------------------------------------------------------------------------------- */

/* Under --concat, puts the arrays of all inputs' files in place of one of the first file, if it has the dim along which
 * these follow each other, or if they are stacked and have it. */
bool search_open_in_each(const search *s, ndr_h5_operand *operand, const ndr_h5_access *access);

/* ---- Groups (besides_groups.c) ----------------------------------------------------------------------------------- */

/* Makes the groups of --pair-by, or of --by where these are of times, by which an array of --with may be paired. */
bool search_make_groups(const search *s);

/* Whether the array has at most one step for each group, as a climatology has: along a dim of the same name, with
 * times, or along one that has the key's name. If it can be paired by steps, too, both pair the same. */
bool search_is_of_groups(const search *s, const ndr_h5_dataset *array);

/* Notes that array i is of groups, and says so of its source: "clim.nc:/tas by time:month". */
bool search_note_groups(const search *s, int i);

#endif
