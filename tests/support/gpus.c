#include "gpus.h"

#include "gpuplan/launch.h"
#include "support/plan.h"

const char *const gpu_names[GPU_COUNT] = {"sm_75", "A100", "H200"};

#define GPU(sms, threads, shared, block, l2, bytes_per_second, sm)                                                     \
  {                                                                                                                    \
    .size = sizeof(ndr_device), .type = kDLCUDA, .units = (sms), .threads_per_unit = (threads),                        \
    .shared_bytes_per_unit = (shared), .shared_bytes_per_block = (block), .l2_bytes = (l2),                            \
    .bandwidth = (bytes_per_second), .capability = (sm)                                                                \
  }

const ndr_device gpus[GPU_COUNT] = {
    GPU(14, 1024, 64 << 10, 64 << 10, 1 << 20, 128e9, 75),
    GPU(108, 2048, 164 << 10, 163 << 10, 40 << 20, 1.55e12, 80),
    GPU(132, 2048, 228 << 10, 227 << 10, 60 << 20, 4.8e12, 90),
};

/* By the rule: a wide kept fastest axis is the thread family's, a short one of a dense array the tile family's, a long
 * reduced one the tree family's; where no axis is kept there is nothing but the tree. NULL where the rule is silent, or
 * so little is read that every family is as good. */
const gpu_case gpu_cases[] = {
    /* reduced and long */
    {"sum f32 [16384,16384] /1", "tree"},
    {"sum f32 [256,262144] /1", "tree"},
    {"sum f32 [1,268435456] /1", "tree"},
    {"sum f64 [1000003,1001] /1", "tree"},
    {"max u8 [4096,65536] /1", "tree"},
    {"mean f16 [50000,4096] /1", "tree"},
    {"argmax bf16 [100,1000000] /1", "tree"},
    {"var c128 [300,30000] /1", "tree"},
    {"sum i16 [77,1048576] /1", "tree"},
    {"sum f32 [16384:20000,16384] /1", "tree"},
    {"sum f32 [1000,3,20000] /0,2", "tree"},
    {"argmax f32 [300,7,30000] /0,2", "tree"},
    {"sum f32 [16384:-16384,16384:-1] /1", "tree"},
    /* everything */
    {"sum f32 [100000000] /0", "tree"},
    {"sum i8 [3000000000] /0", "tree"},
    {"sum f32 [400,67108864] /1", "tree"},
    {"sum f32 [] /", "tree"},
    {"norm2 f64 [1000,1000,1000] /all", "tree"},
    {"count bool [12345678] /0", "tree"},
    {"sum f32 [7] /0", "tree"},
    {"sum f32 [1000000:3] /0", NULL},
    {"max f32 [1000000:-2] /0", NULL},
    /* kept and wide */
    {"sum f32 [16384,16384] /0", "thread"},
    {"sum f32 [262144,4096] /0", "thread"},
    {"sum f32 [256,262144] /0", "thread"},
    {"sum f32 [2,134217728] /0", "thread"},
    {"mean i8 [20000,50000] /0", "thread"},
    {"prod u64 [3000,33333] /0", "thread"},
    {"std c64 [5000,20001] /0", "thread"},
    {"min f16 [10000,10001] /0", "thread"},
    {"sum f64 [128,512,1024] /1", "thread"},
    {"sum f32 [64,1000,64,1000] /0,2", "thread"},
    {"sum f32 [16384:32768,16384] /0", "thread"},
    {"sum f32 [16384,16384:-1] /0", "thread"},
    {"any bool [65536,65536] /0", "thread"},
    {"sum f32 [1024,1024:1024,1024:1] /0", "thread"},
    /* short fastest axes, kept */
    {"sum f32 [100000000,3] /0", "tile"},
    {"mean u8 [2160,3840,3] /0,1", "tile"},
    {"max f64 [10000000,5] /0", NULL},
    {"sum i16 [50000000,4] /0", "tile"},
    {"sum f32 [64,1000000,3] /1", "tile"},
    /* short fastest axes, reduced */
    {"sum f32 [100000000,3] /1", "tile"},
    {"sum u8 [30000000,7] /1", "tile"},
    {"mean f64 [20000000,5] /1", "tile"},
    {"argmin f32 [10000000,9] /1", "tile"},
    {"norm2 c64 [10000000,3] /1", "tile"},
    {"sum f16 [10000000,17] /1", "tile"},
    /* few outputs of many short runs */
    {"mean f32 [256,256,14,14] /0,2,3", "tile"},
    {"sum f32 [20000,3,49] /0,2", "tile"},
    {"max f16 [500000,8,8,4] /0,1,3", NULL},
    /* other strides */
    {"sum f32 [1000000:0,100:0] /1", NULL},
    {"sum f32 [1000:0,100000:1] /0", "thread"},
    {"sum f32 [1000,1000000:0] /1", NULL},
    {"sum f32 [30,5:0,1099511627776:0] /1,2", NULL},
    {"sum f32 [4000:8000,4000:2] /1", NULL},
    {"sum f32 [4000:8000,4000:2] /0", "thread"},
    {"sum f32 [1000:1,1000:1] /0", NULL},
    {"sum f32 [50,4,60,4,70] /1,3", NULL},
    {"sum f32 [3,5,7,11,13,17] /0,2,4", NULL},
    {"logsumexp f32 [2000,30,40] /0,2 skipnan acc=f64", "tree"},
    /* one element, or little, an output */
    {"sum f32 [100000000] /", "tile"},
    {"sum f32 [100000000,1] /1", "tile"},
    {"sum f32 [50000000,2] /1", "tile"},
    {"sum f64 [3000000000:0] /", NULL},
    {"sum f32 [3,3] /0", NULL},
    {"mean,var,min,max f32 [10000,10000] /0", "thread"},
    {"mean,var,min,max f32 [10000,10000] /1", "tree"},
    /* so far apart, or so often the same, that numbers grow large */
    {"sum u8 [4000000000000000000:0] /0", NULL},
    {"sum f32 [2000000000:0,20000:1] /all", NULL},
    {"sum i64 [20000,100000:1000000000000] /1", NULL},
    /* long runs, repeated: more pieces than can be numbered */
    {"sum f32 [65536:0,1073741824] /0,1", "tree"},
    /* nothing to reduce, by axes that have strides */
    {"count i32 [257,4,5,0] /0,2,3", NULL},
    {"mean u8 [3000000000,3] /1", "tile"},
    {"sum f32 [3,3000000000] /0", "thread"},
    {NULL, NULL},
};

static const ndr_family *const families[] = {&ndr_family_tree, &ndr_family_thread, &ndr_family_tile, NULL};
static const ndr_backend backend = {.name = "cuda", .families = families};

ndr_status gpu_plan(ndr_plan *plan, const char *text, const ndr_device *device, const char *force) {
  return plan_text(plan, text, &backend, device, force);
}

ndr_status gpu_plans_each(const char *text, gpu_plan_check *check) {
  static ndr_plan plan;
  static const char *const names[] = {NULL, "tree", "thread", "tile"};
  for (int g = 0; g < GPU_COUNT; g++) {
    for (int f = 0; f < 4; f++) {
      ndr_status status = gpu_plan(&plan, text, &gpus[g], names[f]);
      if (names[f] && status == NDR_ERR_UNSUPPORTED) continue;
      NDR_TRY(status);
      check(&plan, text, gpu_names[g]);
    }
  }
  return NDR_OK;
}
