/* A job with groups that follow each other along their dim is done in stages, each for a range of groups: then only the
 * partial states of these exist at a time. A group lies in one stage, and so is reduced as if there were no others. */
#ifndef NDR_H5_RUN_STAGES_H
#define NDR_H5_RUN_STAGES_H

#include "h5/group/groups.h"

typedef struct ndr_stage {
  int64_t first, count; /* groups */
  int64_t begin, end;   /* steps, which have all elements of these groups */
} ndr_stage;

/* What stages are cut by. */
typedef struct ndr_stage_sizes {
  int64_t outputs;    /* of each group, along the dims behind the one that is cut: others are cut into blocks anyway */
  int64_t step_bytes; /* in the file */
  int64_t chunk;      /* steps of a chunk: one on both sides of a cut is read twice */
  bool aligned;       /* the first step begins a chunk, and no step is left out */
} ndr_stage_sizes;

/* For tests: if not negative, a stage has so many bytes, whatever its outputs. */
extern int64_t ndr_stage_bytes;

/* The dim of the dataset that stages cut: of windows over several dims the first along which there are several. */
int ndr_stage_dim(const ndr_h5_groups *groups);

/* Cuts the steps between groups, by sizes alone, so that memory does not show in the last bits. One stage has all steps
 * where groups do not follow each other, or have few outputs. *stages is to be freed. */
ndr_status ndr_stages_cut(const ndr_h5_groups *groups, const ndr_stage_sizes *sizes, ndr_stage **stages, int *count);

/* The groups of one stage alone, with labels for all steps. Free with ndr_groups_destroy. */
ndr_status ndr_stage_groups(const ndr_h5_groups *groups, const ndr_stage *stage, ndr_groups **made);

#endif
