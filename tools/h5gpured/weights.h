/* Shared by weights*.c: the text of --weights, and the two things that it may name, dims and a dataset. Functions that
 * return false have complained, unless they begin with "Whether"; in complaints `where` names the dataset that is
 * reduced. */
#ifndef H5GPURED_WEIGHTS_H
#define H5GPURED_WEIGHTS_H

#include "h5gpured/besides.h"
#include "h5gpured/operators.h"

/* ---- The text (weights_text.c) ---------------------------------------------------------------------------------- */

/* What an entry weighs by: DIM, DIM:cos or DIM:days. */
typedef enum { BY_VALUE, BY_COSINE, BY_DAYS } weighing;

/* The first entry of the comma list *rest, which is moved behind it; NULL after the last one, where *rest is NULL. */
const char *weights_next(const char **rest, size_t *length);

/* What an entry of that length is, and the length of the :cos or :days at its end. */
weighing weighing_of(const char *entry, size_t length);
size_t weights_function_length(const char *entry, size_t length);

/* "dim 1 (lat)", or "dim 1" where it has no name. */
const char *weights_dim_text(const ndr_h5_info *info, int d, char text[DIM_CHARS]);

/* The library's last error without the dataset that it may begin with. Not to be freed. */
const char *weights_reason(const char *where);

/* Complain of the library's last error, and of a lack of memory. Always false. */
bool weights_refuse(const char *where);
bool weights_refuse_memory(const char *where);

/* ---- Dims (weights_dims.c) -------------------------------------------------------------------------------------- */

/* Complains of the first entry of a list that is no dim. A dataset whose name has commas is no list. */
bool weights_check_list(const h5gpured_options *options, const ndr_h5_info *info, const char *where);

/* Sets the tensor to the product of the weights of the list's dims. */
bool weights_read_dims(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where, weights *w);

/* ---- A dataset (weights_dataset.c) ------------------------------------------------------------------------------ */

/* Whether a dataset can be opened by that text. A path without a file is in the first input. */
bool weights_are_there(const h5gpured_options *options, const char *path);

/* Finds the dataset that a user means by a word: one of that path, else one of that name in the dataset's group, else
 * in the root. Returns what --weights has to be for it, to be freed; NULL: there is none, or no memory. */
char *weights_find_path(const h5gpured_options *options, const ndr_h5_info *info, const char *word);

/* Opens the dataset and pairs its dims. */
bool weights_read_dataset(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                          weights *w);

#endif
