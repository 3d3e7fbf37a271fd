/* See job_parts.h. */
#include "h5/ranks/job_parts.h"

#include <stdlib.h>
#include <string.h>

#include "h5/structure/structure.h"

/* What the description of a job begins with that GPUs do. */
static const char by_gpus[] = "GPUs: ";

/* Finds out whether GPUs have reduced the parts, and whether the options' device can merge them. */
static ndr_status look_at_states(ndr_job *job) {
  const ndr_h5_options *o = &job->options;
  char *theirs;
  NDR_TRY(ndr_state_file_job(o->states[0], &theirs));
  job->cut_for_gpus = strncmp(theirs, by_gpus, strlen(by_gpus)) == 0;
  free(theirs);
  if (job->cut_for_gpus || (o->device != NDR_H5_CUDA && o->device != NDR_H5_ALL)) return NDR_OK;
  return ndr_fail(NDR_ERR_UNSUPPORTED, "%s: the CPU has reduced this part, and only it can merge them", o->states[0]);
}

/* A process cannot know what the others would choose, so NDR_H5_AUTO is the CPU. States are merged on what they are
 * of; where that is a GPU, the CPU can do it, too. */
static ndr_status choose_kind(ndr_job *job) {
  ndr_h5_options *o = &job->options;
  ndr_status status = o->state_count ? look_at_states(job) : NDR_OK;
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

/* ---- What must be the same -------------------------------------------------------------------------------------- */

/* Not the file's time, which a copy does not keep. */
static void print_file(FILE *to, const ndr_h5_dataset *dataset) {
  int64_t bytes;
  uint64_t check;
  ndr_structure_sum(dataset->structure, dataset->file, &bytes, &check);
  fprintf(to, " of %lld bytes (%016llx), ", (long long)bytes, (unsigned long long)check);
}

static void print_dataset(FILE *to, const ndr_h5_dataset *dataset) {
  if (!dataset->part_count) {
    fprintf(to, "%s%s", dataset->path, dataset->raw ? " raw" : "");
    print_file(to, dataset);
  }
  for (int i = 0; i < dataset->part_count; i++) print_dataset(to, dataset->parts[i]);
  for (int d = 0; d < dataset->info.ndim; d++)
    fprintf(to, "%lld+%lldx%lld ", (long long)dataset->from[d], (long long)dataset->info.shape[d],
            (long long)dataset->step[d]);
}

static void print_besides(FILE *to, const ndr_h5_options *o) {
  for (int i = 0; i < o->operand_count; i++) {
    fprintf(to, "beside %s ", o->operands[i]->name ? o->operands[i]->name : "it");
    if (!o->operands[i]->dataset) continue;
    print_dataset(to, o->operands[i]->dataset);
    if (o->operands[i]->dataset->by_number) fputs("by number ", to);
  }
  if (o->where) fprintf(to, "where %s ", o->where);
}

static void print_grid(FILE *to, const ndr_job *job) {
  for (int i = 0; i < job->part_count; i++) {
    const ndr_slabs *slabs = &job->slabs[i];
    for (int d = 0; d < slabs->ndim; d++)
      fprintf(to, "%lld/%lld ", (long long)slabs->cell[d], (long long)slabs->leaf[d]);
    fprintf(to, "in %lld of %lld, ", (long long)slabs->stretch, (long long)ndr_slabs_cells(slabs, true));
  }
  fprintf(to, "%d stages", job->stage_count);
}

char *ndr_job_describe(const ndr_job *job) {
  char *text = NULL;
  size_t length, capacity = ndr_problem_print(&job->problem, NULL, 0) + 1;
  char *problem = malloc(capacity);
  FILE *to = problem ? open_memstream(&text, &length) : NULL;
  if (to) {
    ndr_problem_print(&job->problem, problem, capacity);
    if (job->device.device_type != kDLCPU || job->cut_for_gpus) fputs(by_gpus, to);
    print_dataset(to, job->dataset);
    fprintf(to, "%s ", problem);
    print_besides(to, &job->options);
    print_grid(to, job);
    bool good = !ferror(to);
    if (fclose(to) != 0 || !good) {
      free(text);
      text = NULL;
    }
  }
  free(problem);
  return text;
}

static void print_names(FILE *to, const ndr_h5_dataset *dataset) {
  if (!dataset->part_count) fprintf(to, "%s\n", dataset->file);
  for (int i = 0; i < dataset->part_count; i++) print_names(to, dataset->parts[i]);
}

/* The names of the files, in the order of the description; to be freed. */
static char *list_files(const ndr_job *job) {
  char *names = NULL;
  size_t length;
  FILE *to = open_memstream(&names, &length);
  if (!to) return NULL;
  print_names(to, job->dataset);
  for (int i = 0; i < job->options.operand_count; i++)
    if (job->options.operands[i]->dataset) print_names(to, job->options.operands[i]->dataset);
  if (fclose(to) == 0) return names;
  free(names);
  return NULL;
}

static ndr_status open_set(ndr_job *job, const char *text, ndr_state_set **set) {
  const ndr_h5_options *o = &job->options;
  char *names = list_files(job);
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
  char *text = ndr_job_describe(job);
  if (!text) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  const ndr_state_head head = {o->part, o->part_count, o->note ? o->note : "", text};
  ndr_status status = o->part_count ? ndr_state_writer_open(writer, o->state, &head) : open_set(job, text, set);
  free(text);
  return status;
}
