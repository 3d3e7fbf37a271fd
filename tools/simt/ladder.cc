#include "machine.cuh"

#include "../../kernels/ladder/launch.cuh"
#include "ladder.h"
#include "launch.h"

namespace {

/* Enough that blocks overtake each other. */
enum { MOST_RESIDENT = 6 };

struct emulation {
  uint64_t order;
  const char *failure;

  template <class KERNEL, class... ARGUMENTS>
  void operator()(long long blocks, int threads, size_t shared, KERNEL kernel, ARGUMENTS... arguments) {
    if (failure) return;
    auto body = [=] {
      kernel(arguments...);
      simt_count_wait(SIMT_END);
    };
    simt_launch launch = {};
    launch.body = [](const void *argument) { (*(const decltype(body) *)argument)(); };
    launch.argument = &body;
    launch.grid = blocks;
    launch.threads = threads;
    launch.shared = shared;
    launch.order = order;
    launch.resident = MOST_RESIDENT;
    simt_count_launch(blocks);
    failure = simt_run(&launch);
    if (!simt_count_landed() && !failure) failure = "no memory for counting";
  }
};

} // namespace

const char *simt_ladder(ladder_kernel kernel, const ladder_job *job, uint64_t order, simt_counts *counts) {
  emulation launch = {order, nullptr};
  *counts = {};
  simt_count_into(counts);
  bool known =
      ladder::with_operator(*job, [&](auto op) { return ladder::launch_own<decltype(op)>(launch, kernel, *job); });
  simt_count_into(nullptr);
  return known ? launch.failure : "this rung has no kernel that could be emulated";
}
