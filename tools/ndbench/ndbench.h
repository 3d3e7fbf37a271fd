/* The parts of ndbench: problems in, timed rows out. Only the public headers of ndreduce are used. */
#ifndef NDBENCH_H
#define NDBENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "ndreduce/groups.h"
#include "ndreduce/plan.h"

enum { EXIT_RUN = 1, EXIT_USAGE = 2, MOST_SAMPLES = 4096, MOST_PEERS = 2 };

/* Room for any problem: NDR_MAX_DIMS sizes and strides of 20 digits, NDR_MAX_OPS operators. */
enum { PROBLEM_TEXT = 2048 };

typedef struct bench_device bench_device;
typedef struct bench_peer bench_peer;

/* One thing to time: a reduction, and what it is called in its set. */
typedef struct bench_problem {
  const char *set;
  char name[40];
  char text[PROBLEM_TEXT]; /* with the first labels of groups, where these are many */
  ndr_problem reduction;
  int offset; /* elements from an aligned address to the first */
} bench_problem;

typedef struct bench_list {
  int count, capacity;
  bench_problem *problems;
} bench_list;

typedef struct bench_options {
  const bench_device *device;
  int threads; /* CPU threads, 0: ndr_thread_count() */
  int repeat;  /* samples a row */
  const char *family;
  bool measure; /* families are chosen by the clock: NDR_MEASURE */
  bool verify, explain, only_list;
  uint64_t seed;
  const char *json; /* a path, "-", or NULL */
  bool regret;      /* what the planner loses, in place of rows */
  bool gauge;       /* the share of what the machine allows, in place of rows */
  int count;        /* of their random problems */
  size_t largest;   /* bytes of the largest array there; 0: not said */
  bench_list list;
} bench_options;

typedef struct bench_samples {
  int count;
  double seconds[MOST_SAMPLES];
} bench_samples;

typedef struct bench_row {
  const bench_problem *problem;
  char family[32];
  double bytes; /* distinct elements read plus results written */
  int samples;
  int64_t batch;          /* calls a sample */
  double seconds, median; /* of one call: the least, the median */
  double typical;         /* the one of the two that rates are made from */
  double ceiling;         /* bytes a second of the best plain loop, read or copy, over as many bytes in the same run */
  double back_to_back;    /* seconds a call, many in a row with nothing else in between; 0: not timed */
  struct {
    const bench_peer *peer;
    double median, back_to_back; /* as above */
  } peers[MOST_PEERS];           /* the peers that can do the problem; NULL ends the list */
  bool verified;
  char complaint[160]; /* why the row failed, or "" */
} bench_row;

/* A problem as another library sees it: everything compact, one op. */
typedef struct bench_job {
  const ndr_problem *reduction;
  const void *data; /* element 0, on the device */
  void *result;     /* room for what ndreduce would write */
  int64_t outputs;
} bench_job;

/* Another library to time beside ndreduce on the same data. */
struct bench_peer {
  const char *name;
  /* Prepares for a job, which must stay valid meanwhile; false if the library cannot do it. */
  bool (*take)(const bench_job *job);
  bool (*call)(void *context); /* context is not used: there is one job at a time */
  void (*leave)(void);
};

/* A device to time on. Everything that differs between CPU and GPU is behind this. */
struct bench_device {
  const char *name;
  DLDevice place;
  const char *reference; /* the CPU family that results are checked against; NULL: its choice */
  bool by_median;        /* what a call takes is the median of its samples, not the least */
  int64_t most_batch;    /* calls a sample at most */
  int line;              /* bytes that a cache moves at least: a cache line, a sector */
  bool cold;             /* a sample is one launch, with caches emptied before */
  /* Returns NULL, or why the device cannot be used. */
  const char *(*open)(const bench_options *options);
  /* Fact number i about the device for the record; false: there are no more. May be NULL. */
  bool (*fact)(int i, const char **name, char *text, size_t capacity);
  /* The address on the device of what is at host; may be host itself. NULL when memory is short. */
  void *(*place_data)(void *host, size_t bytes);
  void (*drop_data)(void *placed, void *host);
  void (*fetch)(void *host, const void *placed, size_t bytes);
  /* Takes one sample: seconds for each of `batch` back-to-back calls; negative when one fails. */
  double (*sample)(bool (*call)(void *context), void *context, int64_t batch);
  /* Takes one sample of plain read loop number `loop`: seconds for a pass over the data; negative: no such loop. */
  double (*read)(const bench_options *options, const void *placed, size_t bytes, int loop);
  /* The same for a loop that reads every other line. NULL: memory is taken to hand over single lines. */
  double (*read_alternate)(const void *placed, size_t bytes);
  /* The same for plain copy loops, from one place on the device to another: seconds for so many bytes read and as many
   * written. */
  double (*copy)(const bench_options *options, void *to, const void *from, size_t bytes, int loop);
  /* Seconds a call of many short ones in a row, as the caller sees it; negative when one fails. May be NULL. */
  double (*back_to_back)(bool (*call)(void *context), void *context);
  const bench_peer *const *peers; /* ends with NULL */
};

extern const bench_device bench_cpu;
#ifdef NDBENCH_WITH_CUDA
extern const bench_device bench_cuda;
extern const bench_peer bench_cub, bench_cublas;
#endif

/* The device called name, or NULL if this build has none; "auto" is a GPU where there is one. */
const bench_device *bench_device_find(const char *name);

/* ---- options.c: reads the command line; where that ends the program, it does so. */
void bench_options_read(bench_options *options, int argc, char **argv);

extern const cli bench_cli, bench_ladder_cli;

/* For the subcommands, too. Reads an option's value as a number or a device; a wrong value ends the program. Ends the
 * program after --help. */
uint64_t bench_number(const cli *of, const char *option, const char *text, uint64_t least, uint64_t most);
const bench_device *bench_read_device(const cli *of, const char *name);
__attribute__((noreturn)) void bench_finish(int status);

/* ---- sets.c */

/* Adds the problems of a set, or the one that text is in the mini-language. False: it is neither. What "all" is depends
 * on the device. */
bool bench_list_add(bench_list *list, const char *device, const char *text);

/* Adds a problem of a set. False: the text is not in the mini-language. */
bool bench_list_add_text(bench_list *list, const char *set, const char *name, const char *text);

/* ---- groups.c: adds sums by group of arrays of about so many bytes. */
void bench_list_add_groups(bench_list *list, const char *set, int64_t bytes);

/* Leaves out problems whose elements are more than so many bytes. */
void bench_list_drop_larger(bench_list *list, size_t bytes);
void bench_list_free(bench_list *list);
void bench_sets_print(FILE *to, bool with_problems);

/* The names of all sets, first the one that text is near. */
void bench_sets_list(const char *text, char *list, size_t capacity);

/* ---- random.c: adds options->count random problems, of at least LEAST_RANDOM_BYTES and at most
 * options->largest. */
enum { LEAST_RANDOM_BYTES = 64 << 10 };
void bench_list_add_random(bench_list *list, const bench_options *options);

/* ---- regret.c: times every family on every problem of the list, and prints what the planner's choices lose.
 */
bool bench_regret(const bench_options *options);

/* ---- gauge.c: times the planner's choice on every problem of the list, and prints the share of what the machine
 * allows. */
bool bench_gauge(const bench_options *options);

/* ---- data.c */

/* Memory as a careful caller arranges it: in large pages, first touched by the threads that will read it. */
void *bench_allocate(size_t bytes);

/* Random bits of an element's number: the data do not depend on how many threads write them. */
uint64_t bench_random(uint64_t seed, uint64_t index);

/* Fills memory with elements of the problem's dtype that depend on the seed alone: floats of magnitude 2^-4 to 1 (with
 * prod, 1), any bits for integers, one NaN in 64 under skip_nan. */
void bench_fill(const bench_options *options, const ndr_problem *reduction, void *memory, size_t bytes);

/* ---- run.c */

/* Runs the problem; false when it could not be run or gave a wrong result, and row->complaint says why. */
bool bench_run(const bench_options *options, const bench_problem *problem, bench_row *row);

/* Prints the plan instead of running it. */
bool bench_explain(const bench_options *options, const bench_problem *problem);

/* A problem's array without data; it uses the shape and the strides in the problem. */
DLTensor bench_tensor(const ndr_problem *reduction, DLDevice place);

/* Bytes of the distinct elements of all arrays. */
double bench_bytes_read(const ndr_problem *reduction);

/* The options of a plan, and those of a call, which say what is computed, too; family may be NULL. */
ndr_options bench_plan_options(const bench_options *options, const char *family);
ndr_options bench_call_options(const bench_options *options, const ndr_problem *reduction, const char *family);

/* ---- operands.c */

/* The arrays that a problem reads beside its own: on the host, the same on the device, and as options name them. */
typedef struct bench_operands {
  const bench_device *device;
  int count;
  struct {
    void *host, *placed;
    DLTensor on_host, on_device;
  } arrays[NDR_MAX_OPERANDS];
  const DLTensor *with[2][NDR_MAX_OPERANDS]; /* those with the role `with`, on the host and on the device */
} bench_operands;

/* Makes and fills them. False, with what there is to drop, when memory is short. */
bool bench_operands_make(bench_operands *operands, const bench_options *options, const ndr_problem *reduction);
void bench_operands_drop(bench_operands *operands);

/* Names them in the options of a call. */
void bench_operands_name(bench_operands *operands, const ndr_problem *reduction, bool on_host, ndr_options *call);

/* ---- time.c */

/* What is timed: a call, the data that read or copy loops go over, and the job for peers, NULL where they have none. */
typedef struct bench_subject {
  bool (*call)(void *context);
  void *context;
  const void *placed;
  size_t read;
  void *copied; /* room for as many bytes, where the ceiling is that of copies; NULL: it is that of reads */
  const bench_job *job;
  bool (*accept)(void *context); /* whether the job's result is right */
} bench_subject;

/* Fills in the row's times and rates. False when a call failed. */
bool bench_time(const bench_options *options, const bench_subject *subject, bench_row *row);

/* ---- verify.c */

/* Whether `got` equals `expected`, except for the rounding that op allows. Both are compact. The complaint says where
 * they differ. */
bool bench_same(const ndr_problem *reduction, ndr_op op, ndr_dtype dtype, int64_t outputs, const void *got,
                const void *expected, char *complaint, size_t capacity);

/* ---- read.c */

/* Reads the bytes at `memory` once, with loop number `loop` on `threads` threads; false: there is no such loop. The sum
 * keeps the compiler from omitting the reads. */
bool bench_read(int loop, const void *memory, size_t bytes, int threads, uint64_t *sum);

/* ---- copy.c: copies so many bytes, as bench_read reads them; both places begin a cache line. */
bool bench_copy(int loop, void *to, const void *from, size_t bytes, int threads);

/* ---- report.c */

/* One line: library, commit, device. */
void bench_banner(const bench_options *options, FILE *to);
/* Says on a terminal's standard error how many of `count` problems are done; nothing once all are. */
void bench_progress(int done, int count);
void bench_table_head(const bench_options *options, FILE *to);
void bench_table_row(const bench_options *options, const bench_row *row, FILE *to);
bool bench_json(const bench_options *options, const bench_row *rows, int count);

/* Whether the file that the options name can be written; prints a message if not. True if they name none. To be called
 * before the work. */
bool bench_json_check(const bench_options *options);

/* Records of other forms. Opening begins an object in memory with library, commit, date, device and machine. Closing
 * ends the object and writes the file. Both print a message and return false on failure. One record is open at a time.
 */
bool bench_json_open(const bench_options *options, json *j);
bool bench_json_close(const bench_options *options, json *j);

/* ---- ladder/ladder.c: `ndbench ladder`, with argv[0] "ladder"; the exit status. */
int bench_ladder(int argc, char **argv);

/* ---- machine.c: facts for the record; text is never left unset. */
void bench_machine_cpu(char *text, size_t capacity);
void bench_machine_kernel(char *text, size_t capacity);
void bench_machine_date(char *text, size_t capacity);
int bench_machine_cores(void);
int bench_threads(const bench_options *options);

#endif
