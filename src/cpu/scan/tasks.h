/* How threads share a scan. Its units are tiles or sets of lines, each of which has blocks one behind the other. A task
 * is a few whole units, or a block where the blocks of each unit are a chain. */
#ifndef NDR_CPU_SCAN_TASKS_H
#define NDR_CPU_SCAN_TASKS_H

#include "cpu/pool.h"
#include "cpu/scan/chain.h"
#include "cpu/scan/words.h"
#include "scan/plan.h"

typedef struct ndr_scan_tasks {
  int64_t units, blocks; /* blocks of each unit */
  int64_t batch;         /* units of a task */
  int64_t chain_bytes;   /* of what stands before a block */
  bool chained;
} ndr_scan_tasks;

typedef struct ndr_scan_task {
  int64_t unit, end; /* units from `unit` to before `end`; just one if blocks are chained */
  int64_t block;     /* of that unit, if blocks are chained */
} ndr_scan_task;

/* Call with units, blocks and chain_bytes set. Sets the rest for units of `lines` lines each, and the plan's workspace,
 * in which the chains lie. */
void ndr_scan_tasks_plan(ndr_scan_tasks *tasks, ndr_scan_plan *plan, int64_t lines, bool chained);

/* Takes the next task; false: there is none. */
bool ndr_scan_tasks_take(const ndr_scan_tasks *tasks, _Atomic int64_t *next, ndr_scan_task *task);

/* Begins the chains of all units, in the plan's workspace, with what stands before the first block; without chains it
 * does nothing. */
void ndr_scan_tasks_begin_chains(const ndr_scan_tasks *tasks, const ndr_scan_words *words, char *workspace);

/* The chain of a unit, in the plan's workspace. */
ndr_scan_chain ndr_scan_tasks_chain(const ndr_scan_tasks *tasks, char *workspace, int64_t unit);

/* Runs `body`, which takes all tasks, in as many threads as are worth their while. */
void ndr_scan_tasks_run(const ndr_scan_plan *plan, ndr_pool_body *body, void *context);

#endif
