/* Plans, families and backends. Core knows none of them by name: src/api hands it the table of backends, and each
 * backend brings its families. */
#ifndef NDR_CORE_PLAN_H
#define NDR_CORE_PLAN_H

#include "core/request/canonical.h"
#include "core/text.h"
#include "ndreduce/device.h"

#define NDR_CONFIG_BYTES 6144
#define NDR_MAX_FAMILIES 8
#define NDR_ROWS_BEHIND 256 /* numbers of rows behind those of ndr_backend.execute_rows */

typedef struct ndr_family ndr_family;
typedef struct ndr_backend ndr_backend;
struct ndr_scan_calls; /* scan/plan.h */

/* The times of a backend's families for a problem, and the choice. */
typedef struct ndr_timings {
  const ndr_family *choice;         /* NULL: nothing is known */
  double seconds[NDR_MAX_FAMILIES]; /* by index in the backend's table; 0: not timed */
} ndr_timings;

struct ndr_parts; /* api/parts/parts.h */

struct ndr_plan {
  ndr_canonical problem;
  ndr_device device;
  const ndr_backend *backend;
  const ndr_family *family;
  struct ndr_parts *parts; /* not NULL: the plan has groups. It has no family; its parts have plans of their own */
  int threads;             /* options.threads: the most CPU threads; 0: all */
  bool forced;             /* the caller named the family */
  ndr_timings timings;     /* from which the choice comes; choice is NULL if it was estimated */
  char untimed[160];       /* why NDR_MEASURE timed nothing; "" where it did */
  size_t workspace;        /* bytes, set by configure */
  char *text;              /* the problem, as it was when the operators were there; NULL if it is not printed */
  _Alignas(16) unsigned char config[NDR_CONFIG_BYTES]; /* the family's own parameters, set by configure */
};

/* A family is one way to run a problem. Every function is pure: numbers in, numbers out. */
struct ndr_family {
  const char *name;
  /* NULL when the family can run the problem, else the reason in words; text has room for 160 characters. */
  const char *(*reject)(const ndr_canonical *problem, const ndr_device *device, char *text);
  /* Predicted seconds. */
  double (*cost)(const ndr_canonical *problem, const ndr_device *device);
  /* Sets config and workspace. */
  void (*configure)(ndr_plan *plan);
  /* One line on the parameters that configure chose, as snprintf. */
  size_t (*describe)(const ndr_plan *plan, char *text, size_t capacity);
};

/* One axis of a walk over two arrays of states or results at once. */
typedef struct ndr_walk_axis {
  int64_t size, from, to;
} ndr_walk_axis;

typedef struct ndr_walk {
  int count;
  ndr_walk_axis axes[NDR_MAX_DIMS];
} ndr_walk;

/* Memory and streams of a backend, as the public functions of ndreduce.h say. `device` is one that the backend owns. */
typedef struct ndr_device_calls {
  ndr_status (*count)(int *count);
  ndr_status (*allocate)(DLDevice device, size_t bytes, void **memory);
  void (*free)(DLDevice device, void *memory);
  ndr_status (*create_stream)(int id, void **stream);
  void (*destroy_stream)(int id, void *stream);
  /* Each stream comes with its device: NULL is the default stream of that device. */
  ndr_status (*follow)(int id, void *stream, int leader_id, void *leader);
  ndr_status (*wait)(int id, void *stream);
  ndr_status (*copy)(int id, void *to, const void *from, size_t bytes, void *stream);
  /* From one device's memory to that of `id`, whose stream it is. */
  ndr_status (*copy_from)(int id, void *to, int from_id, const void *from, size_t bytes, void *stream);
  /* `stored` has been checked, and its array has elements. */
  ndr_status (*convert)(int id, const ndr_stored *stored, const void *from, void *to, void *stream);
} ndr_device_calls;

struct ndr_backend {
  const char *name;
  bool (*owns)(DLDeviceType type);
  ndr_status (*device)(int id, ndr_device *device);
  const ndr_device_calls *calls;      /* NULL: memory is the host's, and there are no streams */
  const ndr_family *const *families;  /* ends with NULL; the first that does not reject is the cheapest fallback */
  const struct ndr_scan_calls *scans; /* NULL: it has no scans */
  /* data[0] is the address of the array's element 0, data[k] that of operand k - 1. */
  ndr_status (*execute)(const ndr_plan *plan, const void *const *data, void *const *results, void *workspace,
                        void *stream);
  /* As execute, of a problem with a scattered axis: its element r is that at rows[r]. `rows` has NDR_ROWS_BEHIND
   * more numbers behind its last, of any rows of the array: these rows may be prefetched. NULL where families refuse
   * such problems. */
  ndr_status (*execute_rows)(const ndr_plan *plan, const int32_t *rows, const void *const *data, void *const *results,
                             void *workspace);
  /* Makes what a plan's problem with a table needs in the backend's memory: the `memory` of the table, before the plan
   * is executed. Waits for the copy. NULL where families refuse such problems. Freeing waits for executes. */
  ndr_status (*make_table)(const ndr_plan *plan, void **memory);
  void (*free_table)(int id, void *memory);
  /* Runs task(context, 0) to task(context, count - 1), which take `nanoseconds` in all, on up to `threads` threads (0:
   * all). NULL where the caller is to run them one after the other. */
  void (*run_tasks)(int64_t count, int threads, int64_t nanoseconds, void (*task)(void *context, int64_t number),
                    void *context);
  /* Device memory, stream-ordered; release(NULL) is legal. */
  ndr_status (*allocate)(int id, size_t bytes, void *stream, void **memory);
  void (*release)(int id, void *memory, void *stream);
  /* A plan's workspace, ready for execute, until it is handed back; NULL where plain memory will do. `clean`: whether
   * all of each execute was queued. */
  ndr_status (*borrow_workspace)(const ndr_plan *plan, void *stream, void **memory);
  void (*return_workspace)(const ndr_plan *plan, void *memory, bool clean, void *stream);
  /* Clears what one execute needs cleared in the caller's memory; NULL where nothing is. */
  ndr_status (*clear_workspace)(const ndr_plan *plan, void *memory, void *stream);
  /* A clock on the device's side of a stream: stop waits for what was queued since start and frees the clock. start
   * fails with NDR_ERR_UNSUPPORTED where the stream cannot be timed now. NULL where execute returns with the work done:
   * the host's clock will do. */
  ndr_status (*clock_start)(int id, void *stream, void **clock);
  ndr_status (*clock_stop)(int id, void *stream, void *clock, double *seconds);
  /* On arrays of states in the backend's memory: fill with identity; to = combine(to, from); to = finish(from). */
  ndr_status (*states_identity)(const ndr_state *state, int id, uint64_t *states, int64_t count, void *stream);
  ndr_status (*states_merge)(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                             int64_t from_pitch, uint64_t *to, int64_t to_pitch, void *stream);
  ndr_status (*states_finish)(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                              int64_t from_pitch, void *to, void *stream);
};

/* Bytes of the array and of its operands that an execute reads. What an operand repeats counts once: it is in a cache.
 */
double ndr_plan_bytes_read(const ndr_canonical *problem);

/* Chooses a family of the backend for the problem and configures it: the one that a remembered measurement names, else
 * the cheapest by the cost model. force names the only family allowed, or NULL. */
ndr_status ndr_plan_choose(ndr_plan *plan, const char *force);

/* Append, as snprintf, the parts of ndr_plan_describe: the problem and the device; the family and why others lost. */
void ndr_plan_describe_place(const ndr_plan *plan, char *text, size_t capacity, size_t *length);
void ndr_plan_describe_choice(const ndr_plan *plan, char *text, size_t capacity, size_t *length);

/* Borrows a workspace of the backend for one execute; NULL if the plan needs none. Return it once that is queued;
 * `clean` says whether all of it was, so that it leaves the workspace as it was. */
ndr_status ndr_plan_borrow_workspace(const ndr_plan *plan, void *stream, void **workspace);
void ndr_plan_return_workspace(const ndr_plan *plan, void *workspace, bool clean, void *stream);

#endif
