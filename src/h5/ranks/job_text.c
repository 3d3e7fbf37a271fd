/* See job_text.h. */
#include "h5/ranks/job_text.h"

#include <stdlib.h>
#include <string.h>

#include "h5/structure/structure.h"

/* The text of a job for GPUs begins so. */
static const char by_gpus[] = "GPUs: ";

bool ndr_job_text_is_of_gpus(const char *text) {
  return strncmp(text, by_gpus, strlen(by_gpus)) == 0;
}

/* Leaves out the file's time, which a copy does not keep. */
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

char *ndr_job_text(const ndr_job *job) {
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

char *ndr_job_file_names(const ndr_job *job) {
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
