/* See compile.h. A kernel is looked up in this process, then on disk (kept.c), and compiled if it is in neither. The
 * first thread that needs a kernel makes it, without the lock; others wait only if they need the same one. */
#include "cuda/compile/compile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fork.h"
#include "cuda/compile/compiler.h"
#include "cuda/compile/kept.h"
#include "cuda/compile/text.h"
#include "cuda/scan/scan_text.h"
#include "cuda/scan/select_text.h"

/* ---- what tells kernels apart ---- */

/* What a kernel is made from, as numbers. They are compared at every launch, so that no text is made then. */
typedef struct numbers {
  unsigned long long hash;
  size_t count;
  int *into;       /* NULL: they are not written */
  const int *with; /* NULL: they are not compared */
  bool equal;
} numbers;

static void see(numbers *n, int number) {
  n->hash = (n->hash ^ (unsigned)number) * 0x100000001b3ull;
  if (n->into) n->into[n->count] = number;
  if (n->with) n->equal = n->equal && n->with[n->count] == number;
  n->count++;
}

static void see_program(numbers *n, const ndr_program *program) {
  see(n, program->node_count);
  for (int i = 0; i < program->node_count; i++) {
    const ndr_node *node = &program->nodes[i];
    see(n, (int)node->kind), see(n, (int)node->dtype), see(n, node->a), see(n, node->b), see(n, node->c),
        see(n, node->fused);
    if (node->kind == NDR_NODE_INTEGER || node->kind == NDR_NODE_REAL)
      see(n, (int)(uint32_t)node->integer), see(n, (int)(uint32_t)((uint64_t)node->integer >> 32));
  }
  see(n, program->part_count);
  for (int i = 0; i < program->part_count; i++) {
    const ndr_part *part = &program->parts[i];
    see(n, (int)part->op), see(n, part->value), see(n, part->mask), see(n, part->weight);
    see(n, part->skip_nan), see(n, part->reliability);
  }
  see(n, program->parameter_count), see(n, program->result), see(n, (int)program->result_dtype);
}

/* What is compiled: a kernel of operators, of a scan, or of a selection, or, where these are NULL, the one that
 * finishes a program's states. */
typedef struct subject {
  const ndr_cuda_operators *operators;
  const ndr_cuda_template *kernel;
  const ndr_scan_plan *scan;
  const ndr_select_launch *select;
  const ndr_program *program;
  int capability;
} subject;

static void see_scan(numbers *n, const ndr_scan_plan *plan) {
  const ndr_scan_problem *problem = &plan->problem;
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  see(n, launch->elements), see(n, launch->columns), see(n, launch->beside), see(n, launch->residents),
      see(n, launch->block), see(n, launch->units), see(n, (int)launch->known);
  see(n, (int)problem->dtype), see(n, problem->place_count), see(n, problem->operand_count);
  for (int k = 0; k < problem->operand_count; k++) see(n, (int)problem->operand_dtypes[k]);
  see_program(n, problem->program);
}

static void see_select(numbers *n, const ndr_select_launch *launch) {
  see(n, (int)launch->kernel), see(n, launch->bytes), see(n, launch->unit), see(n, (int)launch->truth);
  see(n, (int)launch->known), see(n, launch->residents);
}

static void see_subject(numbers *n, const subject *s) {
  see(n, s->capability), see(n, s->operators != NULL), see(n, s->scan != NULL), see(n, s->select != NULL);
  if (s->select) {
    see_select(n, s->select);
    return;
  }
  if (s->scan) {
    see_scan(n, s->scan);
    return;
  }
  if (!s->operators) {
    see_program(n, s->program);
    return;
  }
  const ndr_canonical *problem = s->operators->problem;
  see(n, (int)s->kernel->kind), see(n, (int)s->kernel->facts), see(n, s->kernel->elements), see(n, s->kernel->steps),
      see(n, s->kernel->blocks), see(n, (int)s->kernel->ways);
  see(n, (int)problem->dtype), see(n, problem->accumulate_f64), see(n, problem->skip_nan);
  see(n, problem->place_count), see(n, problem->operand_count);
  for (int k = 0; k < problem->operand_count; k++) see(n, (int)problem->operand_dtypes[k]);
  for (int i = 0; i < s->operators->count; i++) {
    const ndr_program *program = problem->programs[s->operators->first + i];
    see(n, program ? -1 : (int)problem->ops[s->operators->first + i]);
    if (program) see_program(n, program);
  }
}

/* ---- compiling, or finding what was compiled before ---- */

/* All that machine code depends on: the texts of the kernels by their hash, because they are long. */
static char *make_key(const char *source, int capability) {
  static const char format[] = "ndreduce %s, kernels %016llx, NVRTC %s, sm_%d\n%s";
  unsigned long long hash = 0;
  for (int i = 0; i < ndr_kernel_text_count; i++)
    hash = ndr_cuda_hash(hash, ndr_kernel_texts[i], strlen(ndr_kernel_texts[i]));
  size_t length = sizeof format + strlen(source) + 128;
  char *key = malloc(length);
  if (key) snprintf(key, length, format, ndr_version(), hash, ndr_cuda_compiler_version(), capability, source);
  return key;
}

static const char *entry_of(const subject *s) {
  if (s->scan) return "ndr_scan";
  if (s->select) return "ndr_select";
  if (!s->operators) return "ndr_program_states";
  return ndr_cuda_takes_program(s->operators) ? "ndr_program" : "ndr_compiled";
}

static cudaError_t load(const subject *s, const void *code, cudaKernel_t *kernel) {
  cudaLibrary_t library;
  cudaError_t error = cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0);
  return error == cudaSuccess ? cudaLibraryGetKernel(kernel, library, entry_of(s)) : error;
}

/* What is kept may be of a newer NVRTC than this driver can load: then it is compiled. */
static bool load_kept(const subject *s, const char *source, cudaKernel_t *kernel) {
  size_t bytes;
  char *key = make_key(source, s->capability);
  void *code = key ? ndr_cuda_kept_read(key, &bytes) : NULL;
  bool loaded = code && load(s, code, kernel) == cudaSuccess;
  if (code && !loaded) (void)cudaGetLastError();
  free(code);
  free(key);
  return loaded;
}

static ndr_status compile(const subject *s, const char *source, cudaKernel_t *kernel) {
  void *code;
  size_t bytes;
  NDR_TRY(ndr_cuda_compile_text(source, s->capability, &code, &bytes));
  cudaError_t error = load(s, code, kernel);
  char *key = error == cudaSuccess ? make_key(source, s->capability) : NULL; /* by the version that was opened */
  if (key) ndr_cuda_kept_write(key, code, bytes);
  free(key);
  free(code);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "loading a compiled kernel");
}

static size_t generate(const subject *s, char *text, size_t capacity) {
  if (s->scan) return ndr_cuda_generate_scan(s->scan, text, capacity);
  if (s->select) return ndr_cuda_generate_select(s->select, text, capacity);
  return s->operators ? ndr_cuda_generate(s->operators, s->kernel, text, capacity)
                      : ndr_cuda_generate_finish(s->program, text, capacity);
}

static ndr_status make(const subject *s, cudaKernel_t *kernel) {
  size_t length = generate(s, NULL, 0);
  char *source = malloc(length + 1);
  if (!source) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a kernel's text");
  generate(s, source, length + 1);
  ndr_status status = load_kept(s, source, kernel) ? NDR_OK : compile(s, source, kernel);
  free(source);
  return status;
}

/* ---- the kernels of this process, as a list: a process uses few ---- */

typedef struct compiled {
  struct compiled *next;
  cudaKernel_t kernel; /* NULL: a thread is making it */
  unsigned long long hash;
  size_t count;
  int numbers[];
} compiled;

static compiled *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER; /* or could not be */

NDR_GUARD_FORKS(lock)

/* A child of fork() has none of the threads that were making kernels, nor of those that waited for them. */
static void begin_anew(void) {
  static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;
  made = fresh;
  for (compiled **c = &all; *c;) {
    if ((*c)->kernel)
      c = &(*c)->next;
    else
      *c = (*c)->next;
  }
}

__attribute__((constructor)) static void watch_children(void) {
  pthread_atfork(NULL, NULL, begin_anew);
}

static compiled *find(const subject *s, const numbers *of) {
  for (compiled *c = all; c; c = c->next) {
    if (c->hash != of->hash || c->count != of->count) continue;
    numbers same = {.with = c->numbers, .equal = true};
    see_subject(&same, s);
    if (same.equal) return c;
  }
  return NULL;
}

/* A new entry of the list, which this thread is to make; NULL: there is no memory. */
static compiled *add(const subject *s, const numbers *of) {
  compiled *c = malloc(sizeof *c + of->count * sizeof *c->numbers);
  if (!c) return NULL;
  numbers written = {.into = c->numbers};
  see_subject(&written, s);
  *c = (compiled){all, NULL, of->hash, of->count};
  all = c;
  return c;
}

/* Who waited for it tries for itself. */
static void drop(compiled *dropped) {
  for (compiled **c = &all; *c; c = &(*c)->next) {
    if (*c != dropped) continue;
    *c = dropped->next;
    free(dropped);
    return;
  }
}

static ndr_status make_entry(const subject *s, compiled *c, cudaKernel_t *kernel) {
  ndr_status status = make(s, kernel);
  pthread_mutex_lock(&lock);
  if (status == NDR_OK)
    c->kernel = *kernel;
  else
    drop(c);
  pthread_cond_broadcast(&made);
  pthread_mutex_unlock(&lock);
  return status;
}

static ndr_status look_up(const subject *s, cudaKernel_t *kernel) {
  numbers of = {.hash = 0};
  compiled *c;
  see_subject(&of, s);
  pthread_mutex_lock(&lock);
  while ((c = find(s, &of)) && !c->kernel) pthread_cond_wait(&made, &lock);
  bool found = c != NULL;
  if (found)
    *kernel = c->kernel;
  else
    c = add(s, &of);
  pthread_mutex_unlock(&lock);
  if (found) return NDR_OK;
  return c ? make_entry(s, c, kernel) : ndr_fail(NDR_ERR_MEMORY, "out of memory for a compiled kernel");
}

ndr_status ndr_cuda_compile(const ndr_cuda_operators *operators, const ndr_cuda_template *kernel, int capability,
                            cudaKernel_t *compiled_kernel) {
  return look_up(&(subject){.operators = operators, .kernel = kernel, .capability = capability}, compiled_kernel);
}

ndr_status ndr_cuda_compile_finish(const ndr_program *program, int capability, cudaKernel_t *compiled_kernel) {
  return look_up(&(subject){.program = program, .capability = capability}, compiled_kernel);
}

ndr_status ndr_cuda_compile_scan(const ndr_scan_plan *plan, cudaKernel_t *compiled_kernel) {
  return look_up(&(subject){.scan = plan, .capability = plan->device.capability}, compiled_kernel);
}

ndr_status ndr_cuda_compile_select(const ndr_select_launch *launch, cudaKernel_t *compiled_kernel) {
  return look_up(&(subject){.select = launch, .capability = launch->capability}, compiled_kernel);
}

__attribute__((destructor)) static void forget_all(void) {
  while (all) {
    compiled *next = all->next;
    free(all);
    all = next;
  }
}
