/* The results of one dataset: their groups, sizes and memory, and the reduction that fills them. */
#ifndef H5GPURED_RESULTS_H
#define H5GPURED_RESULTS_H

#include "h5gpured/besides.h"

/* Sets the groups of an answer if --by or --coarsen is given: those that are kept, if they fit, or new ones, which are
 * then kept. The caller closes `kept` after the last answer, even if this fails. `where` names the dataset in
 * complaints. `writer`, which may be NULL, must not replace the file of labels. */
bool groups_open(answer *a, kept_groups *kept, const ndr_h5_dataset *dataset, const char *where,
                 const ndr_h5_writer *writer);
void groups_close(kept_groups *kept);

/* Whether groups lie along dim d of the dataset; and whether results have a dim of groups in its place: in that of the
 * first one, or of each that windows lie along. */
bool is_in_groups(const answer *a, int d);
bool is_group_dim(const answer *a, int d);

/* The names of the groups along dim d, to be freed; false, after a complaint, where there is no memory. */
bool groups_names(const answer *a, int d, date **names);

/* Gives results a dim for each that windows of several lie along. */
void groups_unfold(answer *a);

/* The scan of --scan, for the library. */
ndr_h5_scan scan_of(const answer *a);

/* Describes the results of the problem, or of the scan. */
bool results_describe(answer *a, const ndr_h5_dataset *dataset, const char *where);

/* Bytes of all of them; false: they have more than 2^63. */
bool results_bytes(const answer *a, int64_t *bytes);

/* Allocates them. Fails if they, with the copies that writing them takes, need more memory than there is. */
bool results_allocate(answer *a, const char *where);

/* Whether results go to the file of -o block by block, as they are finished: those of scans, and large ones. */
bool results_stream(const answer *a);

/* Fills in the results. */
bool reduce_dataset(ndr_h5_dataset *dataset, answer *a, const besides *b);

#endif
