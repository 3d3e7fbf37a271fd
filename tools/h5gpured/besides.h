/* Arrays beside the dataset: what --where, --weights, --with and the names in operators mean for it. */
#ifndef H5GPURED_BESIDES_H
#define H5GPURED_BESIDES_H

#include "h5gpured/h5gpured.h"

/* What --weights means for a dataset: a tensor, or another dataset. */
typedef struct weights {
  DLTensor tensor;
  ndr_h5_dataset *dataset;
  const char *units; /* "" for those of coordinates; NULL: weights are numbers */
  int64_t shape[NDR_MAX_DIMS];
  int dims[NDR_MAX_DIMS];
} weights;

/* To be freed even if that fails; `where` names the dataset in complaints. /PATH is looked up in the first input. */
bool weights_read(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where, weights *w);
void weights_free(weights *w);

/* Whether --weights is a dataset, rather than dims. */
bool weights_are_dataset(const char *text);

/* How the output's attributes name the weights of --weights LIST. To be freed; NULL if memory is short. */
char *weights_comment(const char *list);

enum { MOST_BESIDES = 2 + 2 * NDR_MAX_OPERANDS };

/* What --where, --weights and the arrays of operators are for one dataset. */
typedef struct besides {
  weights by;
  int count;
  ndr_h5_operand operands[MOST_BESIDES];
  const ndr_h5_operand *pointers[MOST_BESIDES];
  char *names[MOST_BESIDES];
  char *sources[MOST_BESIDES]; /* where named arrays are from, as with_source says, or "coordinate" */
  char *condition;             /* of --where, with the dims' numbers; NULL: there is none */
  ndr_h5_groups *groups;       /* by which arrays of --with may be paired; NULL: none */
  bool grouped[MOST_BESIDES];  /* arrays that have one step for each of these groups */
  DLTensor tensors[MOST_BESIDES];
  int64_t sizes[MOST_BESIDES];
  int dims[MOST_BESIDES];
} besides;

/* Opens them. To be closed even if that fails; `where` names the dataset in complaints. Files that they come from are
 * not what `writer`, which may be NULL, replaces. */
bool besides_open(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                  const ndr_h5_writer *writer, besides *b);
void besides_close(besides *b);

/* Whether a text is FILE:/PATH or FILE, rather than /PATH; and opens what it is, /PATH in `file`. */
bool names_file(const char *text);
ndr_status open_path(const char *text, const char *file, const ndr_h5_access *access, ndr_h5_dataset **dataset);

/* What a value of --with means beside the dataset of that path: FILE alone is its dataset of the same path, if there is
 * one, FILE:/PATH. To be freed; NULL where there is no memory. */
char *with_text(const h5gpured_options *options, const char *path, const char *value);

/* The text with the part behind it, unless it has one of its own. To be freed; NULL where there is no memory. */
char *with_part(const char *text, const char *part);

/* How attributes name these datasets: FILE:/PATH[PART], or /PATH[PART] of the input's file, each quoted as for a shell,
 * with blanks between. To be freed; NULL where there is no memory. */
char *with_source(int count, const char *const *texts);

/* Whether a text is FILE, or FILE[PART], without a dataset. */
bool names_file_alone(const char *text);

/* Complains of an option, as "--where" or "--with y=", that is such a text: names the datasets of the file whose dims
 * the reduced one has, as `info` describes it. `lacking` is a path that the file does not have, or NULL. Returns false.
 */
bool refuse_file_alone(const h5gpured_options *options, const ndr_h5_info *info, const char *where, const char *option,
                       const char *text, const char *lacking);

/* The first --with of that name, and how many there are; NULL: there is none. */
const named_value *find_with(const h5gpured_options *options, const char *name, int *count);

/* Whether the condition or the operator reads array i by its name. */
bool besides_is_read_by(const besides *b, int i, ndr_op op);

/* Whether a name is that of groups of times, as xarray calls the dim of a climatology "month". */
bool names_groups(const char *name);

/* Complains of an error, and says how weights of groups are paired. Returns false. */
bool fail_weights_of_groups(const h5gpured_options *options, const char *error);

/* Complains of the library's last error, and returns false. Where the error is that an operand could be paired by
 * groups, says how: given as an array of --with. `needs_groups` is its number, or -1. */
bool besides_fail(const h5gpured_options *options, const besides *b, int needs_groups);

/* Says to the writer where those are from that have names, and what units the weights have. */
bool besides_tell(const besides *b, ndr_h5_writer *writer);

/* Puts them into the options of a reduction. */
void besides_put(const h5gpured_options *options, const besides *b, ndr_h5_options *how);

#endif
