/* The ladder: the reductions that lectures teach, rung by rung, written to be read. Each kernel reduces x[0..n) into
 * out[0], which holds the operator's identity before, and is right for any n; each says what it mends of the one
 * before, and what it still gets wrong. launch.cuh says with how many blocks each is launched. Blocks are of a
 * power of two of threads, at least 64.
 *
 * After M. Harris, "Optimizing Parallel Reduction in CUDA" (2007), with what has come since: cheap atomics, threads of
 * a warp that do not run in step (2017), shuffles. */
#ifndef LADDER_CUH
#define LADDER_CUH

#include "ops.cuh"

namespace ladder {

/* Element i, or what changes nothing beyond the end. Compilers make a predicated load of such a guard, not a branch, so
 * it is not marked as one. */
template <class OP, class T> LADDER_DEVICE T element(global<const T> x, long long i, long long n) {
  return i < n ? OP::map(x[i]) : OP::identity();
}

/* What atomics add to must hold the identity: a launch of its own, which the rungs below are timed with. */
template <class OP, class T = typename OP::type> LADDER_KERNEL set_identity(global<T> out) {
  if (branch(thread() == 0)) out[0] = OP::identity();
}

/* Rung 1. One global atomic an element. Right, short, and slow: n atomics on one address run one after the other in the
 * second-level cache, whatever the machine could read meanwhile. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL atomic_each(global<const T> x, long long n, global<T> out) {
  long long i = block() * threads() + thread();
  if (branch(i < n)) atomic_combine<OP>(out, 0, OP::map(x[i]));
}

/* Rung 2. Mends: n/block global atomics, as a block gathers in shared memory first. Still wrong: the block's own
 * atomics queue for one address too, only nearer. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL atomic_shared(global<const T> x, long long n, global<T> out) {
  shared<T> total = shared_memory<T>();
  long long i = block() * threads() + thread();
  if (branch(thread() == 0)) total[0] = OP::identity();
  barrier();
  if (branch(i < n)) atomic_combine<OP>(total, 0, OP::map(x[i]));
  barrier();
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, (T)total[0]);
}

/* Rung 3. Mends: no atomics within the block. Still wrong: thread 0 adds `block` numbers one by one, and the other
 * threads wait for it. */
template <class OP, class T = typename OP::type> LADDER_KERNEL one_adds(global<const T> x, long long n, global<T> out) {
  shared<T> s = shared_memory<T>();
  s[thread()] = element<OP, T>(x, block() * threads() + thread(), n);
  barrier();
  if (branch(thread() == 0)) {
    T total = s[0];
    for (int t = 1; t < threads(); t++) total = OP::combine(total, s[t]);
    atomic_combine<OP>(out, 0, total);
  }
}

/* Rung 4. Mends: log2(block) steps instead of block, as pairs are added side by side. Still wrong: the threads that
 * work lie 2, 4, 8 ... apart, so every warp has some of them, runs at every step, and parts at every branch. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL tree_modulo(global<const T> x, long long n, global<T> out) {
  shared<T> s = shared_memory<T>();
  int t = thread();
  s[t] = element<OP, T>(x, block() * threads() + t, n);
  barrier();
  for (int stride = 1; stride < threads(); stride *= 2) {
    if (branch(t % (2 * stride) == 0)) s[t] = OP::combine(s[t], s[t + stride]);
    barrier();
  }
  if (branch(t == 0)) atomic_combine<OP>(out, 0, (T)s[0]);
}

/* Rung 5. Mends: the threads that work are the first ones, so whole warps work or rest. Still wrong: neighbouring
 * threads touch words 2, 4, 8 ... apart, of which 2, 4, 8 ... lie in the same bank of shared memory and wait for each
 * other. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL tree_strided(global<const T> x, long long n, global<T> out) {
  shared<T> s = shared_memory<T>();
  s[thread()] = element<OP, T>(x, block() * threads() + thread(), n);
  barrier();
  for (int stride = 1; stride < threads(); stride *= 2) {
    int i = 2 * stride * thread();
    if (branch(i < threads())) s[i] = OP::combine(s[i], s[i + stride]);
    barrier();
  }
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, (T)s[0]);
}

/* The tree of rung 6 over s[0..threads), until `width` partial results are left; to be followed by a read of s. */
template <class OP, class T> LADDER_DEVICE void fold_to(shared<T> s, int width) {
  int t = thread();
  barrier();
  for (int stride = threads() / 2; stride >= width; stride /= 2) {
    if (branch(t < stride)) s[t] = OP::combine(s[t], s[t + stride]);
    barrier();
  }
}

/* Rung 6. Mends: halves are added, so neighbouring threads touch neighbouring words, in banks of their own. Still
 * wrong: half the threads never do more than load one element each. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL tree_sequential(global<const T> x, long long n, global<T> out) {
  shared<T> s = shared_memory<T>();
  s[thread()] = element<OP, T>(x, block() * threads() + thread(), n);
  fold_to<OP, T>(s, 1);
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, (T)s[0]);
}

/* Rung 7. Mends: a block takes 2 * block elements and adds two on loading, so no thread is idle at once, and there are
 * half as many blocks. Still wrong: two loads in flight a thread are few, and barriers and tree are still paid for
 * every other element. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL two_on_load(global<const T> x, long long n, global<T> out) {
  shared<T> s = shared_memory<T>();
  long long i = block() * threads() * 2 + thread();
  s[thread()] = OP::combine(element<OP, T>(x, i, n), element<OP, T>(x, i + threads(), n));
  fold_to<OP, T>(s, 1);
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, (T)s[0]);
}

/* A thread's share of a block that takes `overlap` elements a thread, `threads` apart so that warps read whole lines.
 */
template <class OP, class T> LADDER_DEVICE T load_overlap(global<const T> x, long long n, int overlap) {
  long long i = block() * threads() * overlap + thread();
  T total = OP::identity();
  LADDER_UNROLL_BY(4)
  for (int e = 0; e < overlap; e++) total = OP::combine(total, element<OP, T>(x, i + (long long)e * threads(), n));
  return total;
}

/* Rung 8. Mends: OVERLAP elements a thread are added during loading, so the tree is paid once for all of them. Still
 * wrong: in the last five steps one warp works and parts, while the block waits at a barrier for each. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL overlapped(global<const T> x, long long n, global<T> out, int overlap) {
  shared<T> s = shared_memory<T>();
  s[thread()] = load_overlap<OP, T>(x, n, overlap);
  fold_to<OP, T>(s, 1);
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, (T)s[0]);
}

/* The last 64 partial results, by the first warp alone. Before 2017 a warp's threads ran in step, and this was written
 * without barriers and with volatile. They no longer do: a lane may store s[t] before another has read it, or not yet
 * when another reads it. Hence a __syncwarp after the reading and one after the writing, which cost next to nothing.
 * All 32 lanes work at every step: what the upper ones compute is not used, but none has to be told apart. */
template <class OP, class T> LADDER_DEVICE void fold_last_warp(shared<T> s) {
  int t = thread();
  LADDER_UNROLL
  for (int stride = WARP; stride > 0; stride /= 2) {
    T total = OP::combine(s[t], s[t + stride]);
    warp_barrier();
    s[t] = total;
    warp_barrier();
  }
}

/* Rung 9. Mends: the last six steps have neither block barriers nor branches. Still wrong: the loop above them counts
 * and compares at run time what is known beforehand. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL last_warp(global<const T> x, long long n, global<T> out, int overlap) {
  shared<T> s = shared_memory<T>();
  s[thread()] = load_overlap<OP, T>(x, n, overlap);
  fold_to<OP, T>(s, 2 * WARP);
  if (branch(thread() < WARP)) fold_last_warp<OP, T>(s);
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, (T)s[0]);
}

/* The same tree for a size that the compiler knows: no loop is left of it. */
template <class OP, int BLOCK, class T> LADDER_DEVICE void fold_unrolled(shared<T> s) {
  int t = thread();
  barrier();
  LADDER_UNROLL
  for (int stride = BLOCK / 2; stride >= 2 * WARP; stride /= 2) {
    if (branch(t < stride)) s[t] = OP::combine(s[t], s[t + stride]);
    barrier();
  }
  if (branch(t < WARP)) fold_last_warp<OP, T>(s);
}

/* Rung 10. Mends: one kernel a block size, with no loop left in the tree. Still wrong: how much a thread adds does not
 * grow with n, so neither do the n/(block * OVERLAP) blocks' trees and atomics become cheap beside the reading. */
template <class OP, int BLOCK, class T = typename OP::type>
LADDER_KERNEL unrolled(global<const T> x, long long n, global<T> out, int overlap) {
  shared<T> s = shared_memory<T>();
  s[thread()] = load_overlap<OP, T>(x, n, overlap);
  fold_unrolled<OP, BLOCK, T>(s);
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, (T)s[0]);
}

/* Elements first, first + step ... of the n from x[start] on, four at a time: loads that are asked for together are in
 * flight together. The rest is not unrolled: to know how often would take a 64-bit division. */
template <class OP, class T>
LADDER_DEVICE T load_strided(global<const T> x, long long start, long long n, long long first, long long step) {
  T total = OP::identity();
  long long i = first;
  for (; branch(i + 3 * step < n); i += 4 * step) {
    T a = x[start + i], b = x[start + i + step], c = x[start + i + 2 * step], d = x[start + i + 3 * step];
    total = OP::combine(total, OP::combine(OP::combine(OP::map(a), OP::map(b)), OP::combine(OP::map(c), OP::map(d))));
  }
  LADDER_UNROLL_BY(1)
  for (; branch(i < n); i += step) total = OP::combine(total, OP::map(x[start + i]));
  return total;
}

/* A thread's share when the whole grid walks over x. */
template <class OP, class T> LADDER_DEVICE T load_cascade(global<const T> x, long long n) {
  return load_strided<OP, T>(x, 0, n, block() * threads() + thread(), blocks() * threads());
}

/* Rung 11. Mends: algorithm cascading. O(log n) elements a thread make the whole cost O(n), as of one thread alone, in
 * O(log n) time (Brent 1974); the grid is as large as that wants. Still wrong: the tree goes through shared memory, a
 * barrier a step. */
template <class OP, int BLOCK, class T = typename OP::type>
LADDER_KERNEL cascaded(global<const T> x, long long n, global<T> out) {
  shared<T> s = shared_memory<T>();
  s[thread()] = load_cascade<OP, T>(x, n);
  fold_unrolled<OP, BLOCK, T>(s);
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, (T)s[0]);
}

/* The sum over a warp, in every lane of it: a butterfly of registers, without memory and without barriers. */
template <class OP, class T> LADDER_DEVICE T fold_warp(T total) {
  LADDER_UNROLL
  for (int mask = WARP / 2; mask > 0; mask /= 2) total = OP::combine(total, shuffle_xor(total, mask));
  return total;
}

/* The sum over the block, in the first warp: each warp its own, one barrier, then the first warp over the warps. */
template <class OP, class T> LADDER_DEVICE T fold_block(shared<T> s, T total) {
  int t = thread();
  total = fold_warp<OP>(total);
  if (branch(t % WARP == 0)) s[t / WARP] = total;
  barrier();
  if (branch(t < WARP)) total = fold_warp<OP>(t < threads() / WARP ? (T)s[t] : OP::identity());
  return total;
}

/* Rung 12. Mends: the tree is in registers, with one barrier in all. Still wrong: four bytes a load keep the memory
 * less busy than sixteen would. */
template <class OP, class T = typename OP::type> LADDER_KERNEL shuffled(global<const T> x, long long n, global<T> out) {
  T total = fold_block<OP>(shared_memory<T>(), load_cascade<OP, T>(x, n));
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, total);
}

/* Sixteen bytes, the most that one load brings. */
template <class T> struct alignas(16) vector {
  enum { SIZE = 16 / sizeof(T) };
  T value[SIZE];
};

/* x as it is and as vectors; x begins at a multiple of 16 bytes. The elements after the last whole vector, three at
 * most, are the first threads'. */
template <class OP, class T>
LADDER_DEVICE T load_vectors(global<const vector<T>> vectors, global<const T> x, long long n) {
  long long first = block() * threads() + thread(), whole = n / vector<T>::SIZE;
  T total = OP::identity();
  LADDER_UNROLL_BY(4)
  for (long long i = first; branch(i < whole); i += blocks() * threads()) {
    vector<T> p = vectors[i];
    LADDER_UNROLL
    for (int e = 0; e < vector<T>::SIZE; e++) total = OP::combine(total, OP::map(p.value[e]));
  }
  long long rest = whole * vector<T>::SIZE + first;
  return branch(rest < n) ? OP::combine(total, OP::map(x[rest])) : total;
}

/* Rung 13. Mends: a quarter of the load instructions for the same bytes, and more of them in flight. Still wrong:
 * floating-point atomics come in any order, so the last digits change from run to run. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL vectored(global<const vector<T>> vectors, global<const T> x, long long n, global<T> out) {
  T total = fold_block<OP>(shared_memory<T>(), load_vectors<OP, T>(vectors, x, n));
  if (branch(thread() == 0)) atomic_combine<OP>(out, 0, total);
}

/* Rung 14, the first way. Mends: no atomics, and the same result at every run: block b leaves its sum in out[b], and
 * the end of a launch is the barrier that all blocks wait for, so the kernel is launched again on the sums until one is
 * left. Still wrong: each launch costs as much as reading megabytes. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL partials(global<const vector<T>> vectors, global<const T> x, long long n, global<T> out) {
  T total = fold_block<OP>(shared_memory<T>(), load_vectors<OP, T>(vectors, x, n));
  if (branch(thread() == 0)) out[block()] = total;
}

/* Rung 14, the second way. Mends: one launch. Each block that is done takes a ticket, and whoever takes the last one
 * knows that all sums have been written and adds them, in their order. Still wrong: the last block works alone, and
 * whoever launches has to have a counter at hand that is 0; it is put back for the next launch. */
template <class OP, class T = typename OP::type>
LADDER_KERNEL last_block(global<const vector<T>> vectors, global<const T> x, long long n, global<T> sums,
                         global<unsigned> counter, global<T> out) {
  shared<T> s = shared_memory<T>();
  T total = fold_block<OP>(s, load_vectors<OP, T>(vectors, x, n));
  if (branch(thread() == 0)) {
    sums[block()] = total;
    s[WARP] = take_ticket(counter) == (unsigned)(blocks() - 1) ? (T)1 : (T)0;
  }
  barrier();
  if (!branch(s[WARP] == (T)1)) return;
  total = OP::identity();
  for (long long i = thread(); branch(i < blocks()); i += threads()) total = OP::combine(total, fresh<T>(sums, i));
  total = fold_block<OP>(s, total);
  if (branch(thread() == 0)) {
    out[0] = total;
    counter[0] = 0;
  }
}

} // namespace ladder
#endif
