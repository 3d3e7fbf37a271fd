/* See job_parts.h. */
#include "h5/ranks/job_parts.h"

#include <stdlib.h>

#include "h5/ranks/job_text.h"

/* Sets cut_for_gpus if GPUs have reduced the parts. Fails if the options' device cannot merge them. */
static ndr_status check_states(ndr_job *job) {
  const ndr_h5_options *o = &job->options;
  char *theirs;
  NDR_TRY(ndr_state_file_job(o->states[0], &theirs));
  job->cut_for_gpus = ndr_job_text_is_of_gpus(theirs);
  free(theirs);
  if (job->cut_for_gpus || (o->device != NDR_H5_CUDA && o->device != NDR_H5_ALL)) return NDR_OK;
  return ndr_fail(NDR_ERR_UNSUPPORTED, "%s: the CPU has reduced this part, and only it can merge them", o->states[0]);
}

/* A process cannot know what the others would choose, so NDR_H5_AUTO is the CPU. States are merged on what they are
 * of; where that is a GPU, the CPU can do it, too. */
static ndr_status choose_kind(ndr_job *job) {
  ndr_h5_options *o = &job->options;
  ndr_status status = o->state_count ? check_states(job) : NDR_OK;
  if (status != NDR_OK) {
    job->refused = (ndr_h5_refused){NDR_H5_REFUSED_FILE, 0};
    return status;
  }
  if (o->device != NDR_H5_AUTO) return NDR_OK;
  o->device = job->cut_for_gpus ? NDR_H5_CUDA : NDR_H5_CPU;
  job->why = job->cut_for_gpus ? "GPUs have reduced the parts"
             : o->state_count  ? "the CPU has reduced the parts"
                               : "processes that share a reduction take a GPU only where one is asked for";
  return NDR_OK;
}

ndr_status ndr_job_check_parts(ndr_job *job) {
  ndr_h5_options *o = &job->options;
  if (o->comm && o->comm->ranks == 1) o->comm = NULL;
  if (o->part_count == 0 && o->state_count == 0 && !o->comm) return NDR_OK;
  if (o->comm && (o->part_count != 0 || o->state_count != 0))
    return ndr_fail(NDR_ERR_ARGUMENT, "options have both a comm and %s", o->part_count ? "a part" : "states");
  if (o->part_count != 0 && o->state_count != 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "a part of a reduction has no results: options have both a part and states");
  if (o->part_count < 0 || o->state_count < 0 || (o->part_count > 0 && (o->part < 1 || o->part > o->part_count)))
    return ndr_fail(NDR_ERR_ARGUMENT, "there is no part %d of %d", o->part, o->part_count);
  if (o->part_count > 0 && !o->state) return ndr_fail(NDR_ERR_ARGUMENT, "options.state is a null pointer");
  if (o->state_count > 0 && !o->states) return ndr_fail(NDR_ERR_ARGUMENT, "options.states is a null pointer");
  if (job->running) return ndr_fail(NDR_ERR_UNSUPPORTED, "scans have no %s", o->comm ? "ranks" : "parts");
  return choose_kind(job);
}

void ndr_job_take_pieces(const ndr_job *job, ndr_slab_iterator *iterator) {
  const ndr_h5_options *o = &job->options;
  if (o->part_count == 0 && o->state_count == 0) return;
  iterator->from = iterator->to = INT64_MAX;
  if (o->state_count) return;
  int64_t pieces = ndr_slab_iterator_pieces(iterator), share = pieces / o->part_count, more = pieces % o->part_count;
  int64_t before = (o->part - 1 + job->stage) % o->part_count; /* short stages are not all the first part's */
  int64_t from = share * before + (before < more ? before : more), to = from + share + (before < more);
  if (from == to) return;
  iterator->from = from;
  iterator->to = to;
}

static ndr_status open_set(ndr_job *job, const char *text, ndr_state_set **set) {
  const ndr_h5_options *o = &job->options;
  char *names = ndr_job_file_names(job);
  if (!names) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  const ndr_state_job whole = {text, names};
  ndr_status status = ndr_state_set_open(set, o->state_count, o->states, &whole, &job->refused);
  free(names);
  return status;
}

ndr_status ndr_job_parts_open(ndr_job *job, ndr_state_writer **writer, ndr_state_set **set) {
  const ndr_h5_options *o = &job->options;
  *writer = NULL;
  *set = NULL;
  if (!o->part_count && !o->state_count) return NDR_OK;
  char *text = ndr_job_text(job);
  if (!text) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  const ndr_state_head head = {o->part, o->part_count, o->note ? o->note : "", text};
  ndr_status status = o->part_count ? ndr_state_writer_open(writer, o->state, &head) : open_set(job, text, set);
  free(text);
  return status;
}
