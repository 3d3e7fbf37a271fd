/* See tasks.h. */
#include "cpu/scan/tasks.h"

#include "cpu/scan/scans.h"

/* A task has about as many elements. */
enum { TASK = 16384 };

void ndr_scan_tasks_plan(ndr_scan_tasks *tasks, ndr_scan_plan *plan, int64_t lines, bool chained) {
  int64_t length = plan->problem.length, elements = lines * (length < TASK ? length : TASK) + 1;
  tasks->batch = elements < TASK ? TASK / elements : 1;
  tasks->chained = chained;
  if (chained) plan->workspace = (size_t)(tasks->units * ndr_scan_chain_bytes(tasks->blocks, tasks->chain_bytes));
}

bool ndr_scan_tasks_take(const ndr_scan_tasks *tasks, _Atomic int64_t *next, ndr_scan_task *task) {
  int64_t number = atomic_fetch_add(next, 1);
  if (tasks->chained) {
    task->unit = number / tasks->blocks;
    task->block = number % tasks->blocks;
    task->end = task->unit + 1;
  } else {
    task->unit = number * tasks->batch;
    task->end = task->unit + tasks->batch < tasks->units ? task->unit + tasks->batch : tasks->units;
  }
  return task->unit < tasks->units;
}

ndr_scan_chain ndr_scan_tasks_chain(const ndr_scan_tasks *tasks, char *workspace, int64_t unit) {
  int64_t bytes = ndr_scan_chain_bytes(tasks->blocks, tasks->chain_bytes);
  return ndr_scan_chain_at(workspace + unit * bytes, tasks->blocks, tasks->chain_bytes);
}

void ndr_scan_tasks_begin_chains(const ndr_scan_tasks *tasks, const ndr_scan_words *words, char *workspace) {
  for (int64_t unit = 0; tasks->chained && unit < tasks->units; unit++) {
    ndr_scan_chain chain = ndr_scan_tasks_chain(tasks, workspace, unit);
    ndr_scan_chain_begin(&chain, tasks->blocks);
    ndr_scan_words_fill(words, words->before, (char *)chain.words, tasks->chain_bytes / words->bytes);
  }
}

void ndr_scan_tasks_run(const ndr_scan_plan *plan, ndr_pool_body *body, void *context) {
  double elements = (double)plan->problem.lines * (double)(plan->problem.length + 1);
  ndr_pool_run(ndr_scan_threads(plan), elements < 1e15 ? (int64_t)elements : INT64_MAX, body, context);
}
