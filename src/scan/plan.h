/* Plans of scans, and what a backend has to offer for scans and selections. As in core/plan.h, the backend brings its
 * families, and src/api names the backends. */
#ifndef NDR_SCAN_PLAN_H
#define NDR_SCAN_PLAN_H

#include "core/plan.h"
#include "scan/problem.h"
#include "scan/selection.h"

#define NDR_SCAN_CONFIG_BYTES 512

typedef struct ndr_scan_family ndr_scan_family;

struct ndr_scan_plan {
  ndr_scan_problem problem;
  ndr_device device;
  const ndr_backend *backend;
  const ndr_scan_family *family;
  int threads;                                              /* the most CPU threads */
  bool forced;                                              /* the caller named the family */
  size_t workspace;                                         /* bytes, set by configure */
  char *text;                                               /* the scan in words, for ndr_scan_plan_describe */
  _Alignas(16) unsigned char config[NDR_SCAN_CONFIG_BYTES]; /* the family's own parameters, set by configure */
};

/* A family is one way to run a scan. Every function is pure. */
struct ndr_scan_family {
  const char *name;
  /* NULL where the family can run the problem, else the reason in words; text has room for 160 characters. */
  const char *(*reject)(const ndr_scan_problem *problem, const ndr_device *device, char *text);
  /* Predicted seconds. */
  double (*cost)(const ndr_scan_problem *problem, const ndr_device *device);
  /* Sets config and workspace. */
  void (*configure)(ndr_scan_plan *plan);
  /* The parameters that configure chose, on one line, as snprintf. */
  size_t (*describe)(const ndr_scan_plan *plan, char *text, size_t capacity);
};

/* What ndr_backend.scans points to. */
struct ndr_scan_calls {
  const ndr_scan_family *const *families; /* ends with NULL */
  /* Runs a plan whose problem is not empty. data[0] is the address of the array's element 0, data[k] that of with[k -
   * 1]. Where the plan needs a workspace and it is NULL, the backend finds one. */
  ndr_status (*execute)(const ndr_scan_plan *plan, const void *const *data, void *result, void *workspace,
                        void *stream);
  /* Runs a selection; addresses are those of elements 0. The array may be empty: then the count is 0. */
  ndr_status (*select)(const ndr_selection *selection, const ndr_selection_addresses *addresses, int id, int threads,
                       void *stream);
};

/* Chooses the cheapest family of the backend, or the only one that `force` names (NULL: any), and configures it. */
ndr_status ndr_scan_choose(ndr_scan_plan *plan, const char *force);

/* Writes, as snprintf, what ndr_scan_plan_describe says. */
size_t ndr_scan_describe_plan(const ndr_scan_plan *plan, char *text, size_t capacity);

/* The scan in words, as snprintf: "sum f32 [128,64] along 1 exclusive". */
size_t ndr_scan_sketch(const ndr_scan_call *call, const ndr_scan_problem *problem, char *text, size_t capacity);

#endif
