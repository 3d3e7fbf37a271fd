/* A job as text: what must be the same in all processes that share it. */
#ifndef NDR_H5_RANKS_JOB_TEXT_H
#define NDR_H5_RANKS_JOB_TEXT_H

#include "h5/run/job/job.h"

/* The text of a job's files, problem and cuts. To be freed; NULL: out of memory. */
char *ndr_job_text(const ndr_job *job);

/* The names of these files, one a line, in the text's order. To be freed; NULL: out of memory. */
char *ndr_job_file_names(const ndr_job *job);

/* Whether the text is of a job that GPUs reduce. */
bool ndr_job_text_is_of_gpus(const char *text);

#endif
