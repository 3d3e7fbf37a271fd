/* One reduction of one dataset, checked and planned: what ndr_h5_reduce does and ndr_h5_explain prints. */
#ifndef NDR_H5_RUN_JOB_H
#define NDR_H5_RUN_JOB_H

#include "h5/read/slab/feed.h"
#include "h5/read/uploader.h"
#include "h5/run/free_memory.h"
#include "h5/run/job/besides.h"
#include "h5/run/job/stages.h"
#include "h5/run/leaf/sink.h"
#include "h5/run/scan/running.h"

#define NDR_MOST_GPUS 16

/* Where results go, and what else than a reduction they are of. */
typedef struct ndr_job_output {
  DLTensor *const *results;   /* NULL: they are not wanted, or go to the sink */
  const ndr_sink *sink;       /* takes them box by box; or NULL */
  const ndr_running *running; /* of a scan: its operator is the problem's, and its dim the one that is reduced */
} ndr_job_output;

typedef struct ndr_job {
  ndr_h5_dataset *dataset;
  ndr_problem problem; /* dims are ascending; skip_nan is set where the dataset is masked */
  bool reduced[NDR_MAX_DIMS];
  /* What accumulators compute: the same, and NDR_VALID where the ops hide which outputs have no valid element. */
  ndr_problem fold;
  int valid_index;  /* of NDR_VALID in fold.ops; -1 where no output can lack a valid element, or no op needs to know */
  int fold_threads; /* of each accumulator at most; 0: ndr_thread_count() */
  ndr_h5_options options;
  ndr_h5_refused refused;     /* what is wrong with the states that it merges */
  const ndr_sink *sink;       /* NULL: results are held in memory */
  const ndr_running *running; /* NULL: the job is a reduction */
  ndr_besides *operands;      /* NULL: nothing is read beside the dataset */
  DLDevice device;            /* that reduces, or the first of those GPUs */
  const char *why;            /* why this device; may point to `reason` */
  char reason[256];
  int gpu_count;
  bool cut_for_gpus; /* its slabs are those of GPUs, which have reduced the parts whose states it merges */
  ndr_uploader uploaders[NDR_MOST_GPUS]; /* the first is on the host until the work begins */
  bool never_written;
  /* Of groups; one with all of the dataset where there are none. */
  int stage_count, stage; /* how many, and the one at hand */
  ndr_stage *stages;
  ndr_groups *stage_groups; /* what the one at hand folds; NULL where that is all */
  int part_count;           /* files of a series, or 1; 0 where nothing is read */
  ndr_h5_dataset *parts;    /* of each file what the stage has: they borrow all that they point to */
  ndr_reader *readers;
  ndr_slabs *slabs;
  ndr_feed_plan feed;
  bool leafwise; /* contiguous data on the CPU: threads read and reduce leaf by leaf (leafwise.h) */
  /* Leafwise, of packed integers: sums, means and counts are made of leaves as they are stored (totals.h). Under
   * beside_totals there are other ops, for which leaves are unpacked. */
  bool totals, beside_totals;
  const char *why_slabs; /* why contiguous data on the CPU come in slabs all the same; else NULL */
  bool memory_is_default;
  bool cut_short;       /* leaves are smaller than they would be with more memory */
  int64_t slab_memory;  /* of options.memory, without arrays that are read once */
  int64_t leaf_bytes;   /* of the largest leaf as it is reduced */
  int64_t slab_bytes;   /* of the largest slab as it is reduced */
  int64_t stored_bytes; /* of the largest that the device has to convert first; 0: none */
  /* Of what belongs to the largest leaf, or on a GPU slab, of each array beside the dataset, and of the mask. */
  int64_t operand_bytes[NDR_MOST_BESIDES], mask_bytes;
} ndr_job;

/* Checks the arguments and plans the work. To be cleared even if that fails. */
ndr_status ndr_job_make(ndr_job *job, ndr_h5_dataset *dataset, const ndr_problem *problem, const ndr_job_output *output,
                        const ndr_h5_options *options);

/* Copies a caller's options, whatever their size; NULL options are the defaults. */
ndr_status ndr_job_options(ndr_h5_options *options, const ndr_h5_options *given);

/* Copies a caller's problem of the dataset, whatever its size: dims are written out in ascending order, strides
 * compact, and skip_nan is set where the dataset is masked. Its dtype is the dataset's or f64, as weighted elements may
 * be. A failure names the dataset. */
ndr_status ndr_job_problem(ndr_problem *problem, const ndr_h5_dataset *dataset, const ndr_problem *given);

/* For tests: if not negative, NDR_H5_AUTO takes a GPU from so many bytes of elements on. */
extern int64_t ndr_gpu_pays;

/* For tests: how many times cells and leaves are halved at least, even if memory suffices, so that a small dataset has
 * many pieces. */
extern int ndr_first_shift;

/* Whether GPUs convert stored elements; a variable for the tests. */
extern bool ndr_gpu_converts;

/* Sets device and why. Fails where the options name a device that cannot be used. */
ndr_status ndr_job_choose_device(ndr_job *job);

void ndr_job_clear(ndr_job *job);

/* Makes the first uploader one of the host, as plans are made before a stage begins. */
void ndr_job_plan_on_host(ndr_job *job);

/* Opens the readers of a stage and plans what they feed. Fails with NDR_ERR_MEMORY where even one chunk is beyond the
 * budget. Stages come one after the other, from 0 on. */
ndr_status ndr_job_plan_feed(ndr_job *job, int stage);

/* Cuts the job into stages; chooses the parts of the dataset that belong to one, and the groups that it folds. */
ndr_status ndr_job_cut_stages(ndr_job *job);
ndr_status ndr_job_take_stage(ndr_job *job, int stage);
void ndr_job_drop_stage(ndr_job *job);

/* Decides which arrays beside the dataset are read once, and opens their readers. */
ndr_status ndr_job_open_operands(ndr_job *job, bool on_gpu);

/* Memory that `threads` threads need to read them, beside slots. */
int64_t ndr_job_operands_scratch(const ndr_job *job, int threads);

/* Adds what they take in memory to the slabs; and places them in slots behind slabs of slab_bytes, once slabs are cut.
 * The latter returns the bytes of a slot. */
void ndr_job_describe_operands(const ndr_job *job, ndr_slabs *slabs);
int64_t ndr_job_place_operands(ndr_job *job, int64_t slab_bytes);

/* Puts the dataset's FILE:/PATH before the sentence of a failure that knows nothing of files; returns status. */
ndr_status ndr_job_blame(const ndr_h5_dataset *dataset, ndr_status status);

/* Whether a reduced dim has size 0. Then NumPy's rules hold, since no element is missing where there are none. */
bool ndr_job_is_empty(const ndr_job *job);

/* Sets fold and valid_index: masked data give NaN where NumPy's rules give a sum or norm of nothing. */
ndr_status ndr_job_add_valid(ndr_job *job);

/* An accumulator for a part of the job, on the uploader's device and stream; and one of what the job folds, on the
 * first uploader, over `size` elements in a row, which are one output each, or all of them one where they are
 * `reduced`. The latter has no operands, and operators of one array each. */
ndr_status ndr_job_accumulate(const ndr_job *job, const ndr_uploader *uploader, const ndr_problem *part,
                              ndr_accumulator **accumulator);
ndr_status ndr_job_accumulate_row(const ndr_job *job, int64_t size, bool reduced, ndr_accumulator **accumulator);

/* Writes the results, one for each of the problem's ops, of an accumulator on the first uploader. */
ndr_status ndr_job_finish(const ndr_job *job, const ndr_accumulator *accumulator, DLTensor *const *results);

/* Writes the results of a dataset whose elements are all its fill value. Reads nothing. */
ndr_status ndr_job_fill(const ndr_job *job, DLTensor *const *results);

#endif
