/* The operators: what a thread accumulates (Near), what blocks and pieces exchange (Far, the words of src/core/state.h),
 * and how a batch of elements enters.
 *
 *   Near near();  Far far();                               identities
 *   fold<N>(Near &, const value (&)[N], index, step)      N elements; element i has flattened index index + i * step
 *   fold_packet(Near &, packet)                            only where `packed`: 16 bytes without taking them apart
 *   join(Near &, Near), join(Far &, Far), widen(Near)
 *   save(Far, words), load(words)                          `words` of them
 *   finish(Far, ddof)                                      what store_value rounds to `result`
 *   rooted, counting                                       whether its kernels also end as std; as any and all
 *
 * A batch is first combined in itself, pairwise, and then enters the accumulator: shorter chains of dependent
 * operations, and rounding errors that grow with the depth of the tree. */
#ifndef NDR_OPS_CUH
#define NDR_OPS_CUH

#include "types.cuh"

#define NDR_INFINITY machine::double_of(0x7ff0000000000000ull)
#define NDR_NAN machine::double_of(0x7ff8000000000000ull)

/* ---- limits ---- */

template <class V> struct limits; /* integers; floats are infinite */
template <> struct limits<int> { static NDR_DEVICE int least() { return -2147483647 - 1; } static NDR_DEVICE int most() { return 2147483647; } };
template <> struct limits<u32> { static NDR_DEVICE u32 least() { return 0; } static NDR_DEVICE u32 most() { return 0xffffffffu; } };
template <> struct limits<i64> { static NDR_DEVICE i64 least() { return -0x7fffffffffffffffll - 1; } static NDR_DEVICE i64 most() { return 0x7fffffffffffffffll; } };
template <> struct limits<u64> { static NDR_DEVICE u64 least() { return 0; } static NDR_DEVICE u64 most() { return ~0ull; } };
template <> struct limits<float> { static NDR_DEVICE float least() { return (float)-NDR_INFINITY; } static NDR_DEVICE float most() { return (float)NDR_INFINITY; } };
template <> struct limits<double> { static NDR_DEVICE double least() { return -NDR_INFINITY; } static NDR_DEVICE double most() { return NDR_INFINITY; } };

template <class V> struct is_float { static const bool yes = false; };
template <> struct is_float<float> { static const bool yes = true; };
template <> struct is_float<double> { static const bool yes = true; };
template <bool YES, class A, class B> struct choose { typedef A type; };
template <class A, class B> struct choose<false, A, B> { typedef B type; };
template <class A, class B> struct same { static const bool yes = false; };
template <class A> struct same<A, A> { static const bool yes = true; };

/* ---- result types, as src/core/types.c has them ---- */

template <class T> struct kind { typedef i64 total; typedef double mean, real; typedef i64 far; };
template <> struct kind<u8> { typedef u64 total; typedef double mean, real; typedef u64 far; };
template <> struct kind<u16> : kind<u8> {};
template <> struct kind<u32> : kind<u8> {};
template <> struct kind<u64> : kind<u8> {};
template <> struct kind<boolean> : kind<u8> {};
template <> struct kind<f16> { typedef f16 total, mean, real; typedef double far; };
template <> struct kind<bf16> { typedef bf16 total, mean, real; typedef double far; };
template <> struct kind<f32> { typedef f32 total, mean, real; typedef double far; };
template <> struct kind<f64> { typedef f64 total, mean, real; typedef double far; };
template <> struct kind<c64> { typedef c64 total, mean; typedef f32 real; typedef c128 far; };
template <> struct kind<c128> { typedef c128 total, mean; typedef f64 real; typedef c128 far; };

/* What the total of a short batch fits in, and what a thread's running total is kept in. */
template <class T, bool WIDE> struct totals { typedef typename traits<T, WIDE>::value batch, near; };
template <bool WIDE> struct totals<i8, WIDE> { typedef int batch; typedef i64 near; };
template <bool WIDE> struct totals<i16, WIDE> { typedef int batch; typedef i64 near; };
template <bool WIDE> struct totals<i32, WIDE> { typedef i64 batch, near; };
template <bool WIDE> struct totals<u8, WIDE> { typedef u32 batch; typedef u64 near; };
template <bool WIDE> struct totals<u16, WIDE> { typedef u32 batch; typedef u64 near; };
template <bool WIDE> struct totals<u32, WIDE> { typedef u64 batch, near; };
template <bool WIDE> struct totals<boolean, WIDE> { typedef u32 batch; typedef u64 near; };

NDR_DEVICE c128 widened(c64 x) { return {x.re, x.im}; }
NDR_DEVICE c128 widened(c128 x) { return x; }
NDR_DEVICE double widened(float x) { return x; }
NDR_DEVICE double widened(double x) { return x; }
NDR_DEVICE i64 widened(int x) { return x; }
NDR_DEVICE i64 widened(i64 x) { return x; }
NDR_DEVICE u64 widened(u32 x) { return x; }
NDR_DEVICE u64 widened(u64 x) { return x; }

template <class F> struct wording {
  static const int words = 1;
  static NDR_DEVICE void save(F far, ndr_word *w) { w[0] = to_word(far); }
  static NDR_DEVICE F load(const ndr_word *w) { return from_word<F>(w[0]); }
};
template <> struct wording<c128> {
  static const int words = 2;
  static NDR_DEVICE void save(c128 far, ndr_word *w) { w[0] = to_word(far.re), w[1] = to_word(far.im); }
  static NDR_DEVICE c128 load(const ndr_word *w) { return {from_word<double>(w[0]), from_word<double>(w[1])}; }
};

/* ---- monoids ---- */

template <class V> NDR_DEVICE V unit(double re) { return (V)re; }
template <> NDR_DEVICE c64 unit<c64>(double re) { return {(float)re, 0}; }
template <> NDR_DEVICE c128 unit<c128>(double re) { return {re, 0}; }

struct add {
  template <class V> static NDR_DEVICE V identity() { return unit<V>(0); }
  template <class V> static NDR_DEVICE V join(V a, V b) { return a + b; }
  /* Signed sums and products wrap around. */
  static NDR_DEVICE i64 join(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
};
struct multiply {
  template <class V> static NDR_DEVICE V identity() { return unit<V>(1); }
  template <class V> static NDR_DEVICE V join(V a, V b) { return a * b; }
  static NDR_DEVICE i64 join(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
};
struct either {
  template <class V> static NDR_DEVICE V identity() { return 0; }
  template <class V> static NDR_DEVICE V join(V a, V b) { return a | b; }
};
struct both {
  template <class V> static NDR_DEVICE V identity() { return 1; }
  template <class V> static NDR_DEVICE V join(V a, V b) { return a & b; }
};
/* min (SIGN < 0) and max; under SKIP, NaN means that nothing was seen and loses to everything. */
template <int SIGN, bool SKIP> struct extreme {
  template <class V> static NDR_DEVICE V identity() {
    if (SKIP && is_float<V>::yes) return (V)NDR_NAN;
    return SIGN < 0 ? limits<V>::most() : limits<V>::least();
  }
  template <class V> static NDR_DEVICE V join(V a, V b) { return (SIGN < 0) == (b < a) ? b : a; }
  static NDR_DEVICE float join(float a, float b) {
    if (SKIP) return SIGN < 0 ? machine::quiet_min(a, b) : machine::quiet_max(a, b);
    return SIGN < 0 ? machine::loud_min(a, b) : machine::loud_max(a, b);
  }
  static NDR_DEVICE double join(double a, double b) {
    if (SKIP) return SIGN < 0 ? machine::quiet_min(a, b) : machine::quiet_max(a, b);
    return SIGN < 0 ? machine::loud_min(a, b) : machine::loud_max(a, b);
  }
};
/* The largest magnitude: at least 0. */
template <bool SKIP> struct largest : extreme<1, SKIP> {
  template <class V> static NDR_DEVICE V identity() { return 0; }
};

template <class J, int N> struct tree {
  template <class V> static NDR_DEVICE V join(const V *x) {
    return J::join(tree<J, N / 2>::join(x), tree<J, N - N / 2>::join(x + N / 2));
  }
};
template <class J> struct tree<J, 1> {
  template <class V> static NDR_DEVICE V join(const V *x) { return x[0]; }
};

/* ---- maps ---- */

struct keep { template <class B, class V> static NDR_DEVICE B of(V x) { return value_of<B>(x); } };
struct absolute { template <class B, class V> static NDR_DEVICE B of(V x) { return magnitude<B>(x); } };
struct squared { template <class B, class V> static NDR_DEVICE B of(V x) { return square<B>(x); } };
struct nonzero { template <class B, class V> static NDR_DEVICE B of(V x) { return (B)is_nonzero(x); } };

/* ---- endings ---- */

struct plain { template <class F> static NDR_DEVICE F of(F x) { return x; } };
struct root { static NDR_DEVICE double of(double x) { return sqrt(x); } };

/* Unsigned totals of the bytes of a packet, and how many bytes are not 0. */
NDR_DEVICE int packet_total(const ndr_packet &p, int start) {
  int t = start;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4((int)p.word[w], 0x01010101, t);
  return t;
}
NDR_DEVICE u32 packet_total(const ndr_packet &p, u32 start) {
  u32 t = start;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4(p.word[w], 0x01010101u, t);
  return t;
}
/* Bit 7 of (b & 127) + 127 or b says whether byte b is not 0; no carry leaves a byte. */
NDR_DEVICE u32 packet_nonzero(const ndr_packet &p) {
  u32 t = 0;
#pragma unroll
  for (int w = 0; w < 4; w++) {
    u32 bits = (p.word[w] | ((p.word[w] & 0x7f7f7f7fu) + 0x7f7f7f7fu)) & 0x80808080u;
    t = machine::dot4(bits >> 7, 0x01010101u, t);
  }
  return t;
}
NDR_DEVICE bool packet_any(const ndr_packet &p) { return (p.word[0] | p.word[1] | p.word[2] | p.word[3]) != 0; }

/* Which packets an operator takes whole. */
template <class T, class MAP, class JOIN> struct packing { static const bool yes = false; template <class A> static NDR_DEVICE A of(const ndr_packet &) { return A(); } };
template <> struct packing<i8, keep, add> { static const bool yes = true; template <class A> static NDR_DEVICE A of(const ndr_packet &p) { return (A)packet_total(p, 0); } };
template <> struct packing<u8, keep, add> { static const bool yes = true; template <class A> static NDR_DEVICE A of(const ndr_packet &p) { return (A)packet_total(p, 0u); } };
struct packing_nonzero { static const bool yes = true; template <class A> static NDR_DEVICE A of(const ndr_packet &p) { return (A)packet_nonzero(p); } };
struct packing_any { static const bool yes = true; template <class A> static NDR_DEVICE A of(const ndr_packet &p) { return (A)packet_any(p); } };
struct packing_all { static const bool yes = true; template <class A> static NDR_DEVICE A of(const ndr_packet &p) { return (A)(packet_nonzero(p) == 16); } };
template <> struct packing<boolean, keep, add> : packing_nonzero {};
template <> struct packing<i8, nonzero, add> : packing_nonzero {};
template <> struct packing<u8, nonzero, add> : packing_nonzero {};
template <> struct packing<boolean, nonzero, add> : packing_nonzero {};
template <> struct packing<i8, nonzero, either> : packing_any {};
template <> struct packing<u8, nonzero, either> : packing_any {};
template <> struct packing<boolean, nonzero, either> : packing_any {};
template <> struct packing<i8, nonzero, both> : packing_all {};
template <> struct packing<u8, nonzero, both> : packing_all {};
template <> struct packing<boolean, nonzero, both> : packing_all {};

/* ---- one accumulator: sums, products, extremes, norms, any, all, count ---- */

template <class T, bool WIDE, bool SKIP, class BATCH, class NEAR, class FAR, class RESULT, class MAP, class JOIN, class END>
struct simple {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef NEAR Near;
  typedef FAR Far;
  typedef RESULT result;
  static const bool indexed = false, single = true, rooted = false;
  static const bool counting = same<MAP, nonzero>::yes && same<JOIN, add>::yes;
  static const bool packed = packing<T, MAP, JOIN>::yes;
  static const int words = wording<FAR>::words;
  static NDR_DEVICE Near near() { return JOIN::template identity<Near>(); }
  static NDR_DEVICE Far far() { return JOIN::template identity<Far>(); }
  template <int N> static NDR_DEVICE void fold(Near &a, const value (&x)[N], i64, i64) {
    BATCH b[N];
#pragma unroll
    for (int i = 0; i < N; i++)
      b[i] = SKIP && is_nan(x[i]) ? JOIN::template identity<BATCH>() : MAP::template of<BATCH>(x[i]);
    a = JOIN::join(a, (Near)tree<JOIN, N>::join(b));
  }
  static NDR_DEVICE void fold_packet(Near &a, const ndr_packet &p) {
    a = JOIN::join(a, packing<T, MAP, JOIN>::template of<Near>(p));
  }
  static NDR_DEVICE void join(Near &a, const Near &b) { a = JOIN::join(a, b); }
  static NDR_DEVICE void join_far(Far &a, const Far &b) { a = JOIN::join(a, b); }
  static NDR_DEVICE Far widen(const Near &a) { return (Far)widened(a); }
  static NDR_DEVICE void save(const Far &a, ndr_word *w) { wording<FAR>::save(a, w); }
  static NDR_DEVICE Far load(const ndr_word *w) { return wording<FAR>::load(w); }
  static NDR_DEVICE auto finish(const Far &a, double) { return END::of(a); }
};

template <class T, bool W> using value_t = typename traits<T, W>::value;
template <class T, bool W> using real_t = typename traits<T, W>::real;

template <class T, bool W, bool S> using op_sum =
    simple<T, W, S, typename totals<T, W>::batch, typename totals<T, W>::near, typename kind<T>::far, typename kind<T>::total, keep, add, plain>;
template <class T, bool W, bool S> using op_prod =
    simple<T, W, S, typename totals<T, W>::near, typename totals<T, W>::near, typename kind<T>::far, typename kind<T>::total, keep, multiply, plain>;
template <class T, bool W, bool S> using op_min =
    simple<T, W, S, value_t<T, W>, value_t<T, W>, typename kind<T>::far, T, keep, extreme<-1, S>, plain>;
template <class T, bool W, bool S> using op_max =
    simple<T, W, S, value_t<T, W>, value_t<T, W>, typename kind<T>::far, T, keep, extreme<1, S>, plain>;
template <class T, bool W, bool S> using op_norm1 =
    simple<T, W, S, real_t<T, W>, real_t<T, W>, double, typename kind<T>::real, absolute, add, plain>;
template <class T, bool W, bool S> using op_norm2 =
    simple<T, W, S, real_t<T, W>, real_t<T, W>, double, typename kind<T>::real, squared, add, root>;
template <class T, bool W, bool S> using op_norminf =
    simple<T, W, S, real_t<T, W>, real_t<T, W>, double, typename kind<T>::real, absolute, largest<S>, plain>;
template <class T, bool W, bool S> using op_any = simple<T, W, S, u32, u32, u64, boolean, nonzero, either, plain>;
template <class T, bool W, bool S> using op_all = simple<T, W, S, u32, u32, u64, boolean, nonzero, both, plain>;
template <class T, bool W, bool S> using op_count = simple<T, W, S, u32, u64, u64, i64, nonzero, add, plain>;

/* ---- mean: a sum that counts ---- */

template <class S> struct counted { S sum; double n; };
template <class S> struct counted_near { S sum; u32 n; };

template <class T, bool WIDE, bool SKIP> struct op_mean {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef typename totals<T, WIDE>::batch batch;
  /* Sums of 8, 16 and 32-bit integers are exact in 64 bits; of 64-bit ones they could overflow. */
  typedef typename choose<sizeof(T) == 8 && !is_float<value>::yes && sizeof(value) == 8, double, typename totals<T, WIDE>::near>::type exact;
  typedef typename choose<sizeof(value) == 2 * sizeof(real_t<T, WIDE>), value, exact>::type sum_type;
  typedef typename choose<sizeof(T) == 8 && !is_float<value>::yes && sizeof(value) == 8, double, batch>::type sum_batch_;
  typedef typename choose<sizeof(value) == 2 * sizeof(real_t<T, WIDE>), value, sum_batch_>::type sum_batch;
  typedef typename choose<sizeof(value) == 2 * sizeof(real_t<T, WIDE>), c128, double>::type sum_far;
  typedef counted_near<sum_type> Near;
  typedef counted<sum_far> Far;
  typedef typename kind<T>::mean result;
  static const bool indexed = false, single = true, rooted = false, counting = false;
  static const bool packed = packing<T, keep, add>::yes;
  static const int words = wording<sum_far>::words + 1;
  static NDR_DEVICE Near near() { return {unit<sum_type>(0), 0}; }
  static NDR_DEVICE Far far() { return {unit<sum_far>(0), 0}; }
  template <int N> static NDR_DEVICE void fold(Near &a, const value (&x)[N], i64, i64) {
    sum_batch b[N];
    u32 n = N;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool skip = SKIP && is_nan(x[i]);
      b[i] = skip ? unit<sum_batch>(0) : value_of<sum_batch>(x[i]);
      if (skip) n--;
    }
    a.sum = a.sum + (sum_type)tree<add, N>::join(b);
    a.n += n;
  }
  static NDR_DEVICE void fold_packet(Near &a, const ndr_packet &p) {
    a.sum = a.sum + packing<T, keep, add>::template of<sum_type>(p);
    a.n += 16;
  }
  static NDR_DEVICE void join(Near &a, const Near &b) { a.sum = a.sum + b.sum, a.n += b.n; }
  static NDR_DEVICE void join_far(Far &a, const Far &b) { a.sum = a.sum + b.sum, a.n += b.n; }
  static NDR_DEVICE Far widen(const Near &a) { return {value_of<sum_far>(a.sum), (double)a.n}; }
  static NDR_DEVICE void save(const Far &a, ndr_word *w) {
    wording<sum_far>::save(a.sum, w);
    w[words - 1] = to_word(a.n);
  }
  static NDR_DEVICE Far load(const ndr_word *w) { return {wording<sum_far>::load(w), from_word<double>(w[words - 1])}; }
  static NDR_DEVICE sum_far finish(const Far &a, double) { return divided(a.sum, a.n); }
  static NDR_DEVICE double divided(double sum, double n) { return sum / n; }
  static NDR_DEVICE c128 divided(c128 sum, double n) { return {sum.re / n, sum.im / n}; }
};

/* ---- var, std: count, mean, sum of squared distances (Chan, Golub and LeVeque, 1979) ---- */

template <class V, class R> struct moments { R n; V mean; R m2; };

NDR_DEVICE float fraction(float a, float b) { return machine::divide_fast(a, b); }
NDR_DEVICE double fraction(double a, double b) { return a / b; }

template <class V, class R> NDR_DEVICE void join_moments(moments<V, R> &a, const moments<V, R> &b) {
  if (b.n == 0) return;
  if (a.n == 0) {
    a = b;
    return;
  }
  R total = a.n + b.n, share = fraction(b.n, total);
  V delta = b.mean - a.mean;
  a.mean = a.mean + scale(delta, share);
  a.m2 += b.m2 + square<R>(delta) * (a.n * share);
  a.n = total;
}

template <class T, bool WIDE, bool SKIP, bool ROOT> struct op_moments {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef real_t<T, WIDE> real;
  static const bool is_complex = sizeof(value) == 2 * sizeof(real) && sizeof(T) >= 8 && sizeof(typename kind<T>::far) == 16;
  typedef typename choose<is_complex, value, real>::type point;
  typedef typename choose<is_complex, c128, double>::type far_point;
  typedef moments<point, real> Near;
  typedef moments<far_point, double> Far;
  typedef typename kind<T>::real result;
  static const bool indexed = false, packed = false, single = true, rooted = true, counting = false;
  static const int words = wording<far_point>::words + 2;
  static NDR_DEVICE Near near() { return {0, unit<point>(0), 0}; }
  static NDR_DEVICE Far far() { return {0, unit<far_point>(0), 0}; }
  /* Two passes over the registers give the batch's own moments. */
  template <int N> static NDR_DEVICE void fold(Near &a, const value (&x)[N], i64, i64) {
    point b[N];
    real d[N], n = N;
#pragma unroll
    for (int i = 0; i < N; i++) {
      bool skip = SKIP && is_nan(x[i]);
      b[i] = skip ? unit<point>(0) : value_of<point>(x[i]);
      if (skip) n -= 1;
    }
    if (SKIP && n == 0) return;
    point mean = scale(tree<add, N>::join(b), SKIP ? (real)1 / n : (real)1 / N);
#pragma unroll
    for (int i = 0; i < N; i++) d[i] = SKIP && is_nan(x[i]) ? (real)0 : square<real>(b[i] - mean);
    join_moments(a, Near{n, mean, tree<add, N>::join(d)});
  }
  static NDR_DEVICE void join(Near &a, const Near &b) { join_moments(a, b); }
  static NDR_DEVICE void join_far(Far &a, const Far &b) { join_moments(a, b); }
  static NDR_DEVICE Far widen(const Near &a) { return {(double)a.n, widened(a.mean), (double)a.m2}; }
  static NDR_DEVICE void save(const Far &a, ndr_word *w) {
    w[0] = to_word(a.n);
    wording<far_point>::save(a.mean, w + 1);
    w[words - 1] = to_word(a.m2);
  }
  static NDR_DEVICE Far load(const ndr_word *w) {
    return {from_word<double>(w[0]), wording<far_point>::load(w + 1), from_word<double>(w[words - 1])};
  }
  static NDR_DEVICE double finish(const Far &a, double ddof) {
    double divisor = a.n - ddof > 0 ? a.n - ddof : 0;
    double variance = a.n == 0 ? NDR_NAN : a.m2 / divisor;
    return ROOT ? sqrt(variance) : variance;
  }
};

/* Integers of 8 and 16 bits: their sum and sum of squares are exact in 64 bits. */
template <class B> struct exact_moments { i64 sum; u64 squares; u32 n; };

NDR_DEVICE int packet_squares(const ndr_packet &p, int) {
  int t = 0;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4((int)p.word[w], (int)p.word[w], t);
  return t;
}
NDR_DEVICE u32 packet_squares(const ndr_packet &p, u32) {
  u32 t = 0;
#pragma unroll
  for (int w = 0; w < 4; w++) t = machine::dot4(p.word[w], p.word[w], t);
  return t;
}

template <class T, bool ROOT> struct op_exact_moments : op_moments<T, false, false, ROOT> {
  typedef op_moments<T, false, false, ROOT> base;
  typedef typename base::value value;
  typedef typename base::Far Far;
  typedef typename choose<sizeof(T) == 1, u32, u64>::type square_type;
  typedef exact_moments<value> Near;
  static const bool packed = packing<T, keep, add>::yes && !same<T, boolean>::yes;
  static NDR_DEVICE Near near() { return {0, 0, 0}; }
  template <int N> static NDR_DEVICE void fold(Near &a, const value (&x)[N], i64, i64) {
    square_type b[N];
#pragma unroll
    for (int i = 0; i < N; i++) b[i] = (square_type)(u32)(x[i] * x[i]);
    a.sum += (i64)tree<add, N>::join(x);
    a.squares += tree<add, N>::join(b);
    a.n += N;
  }
  static NDR_DEVICE void fold_packet(Near &a, const ndr_packet &p) {
    a.sum += packet_total(p, (value)0);
    a.squares += (u64)packet_squares(p, (value)0);
    a.n += 16;
  }
  static NDR_DEVICE void join(Near &a, const Near &b) { a.sum += b.sum, a.squares += b.squares, a.n += b.n; }
  /* With m the mean rounded to an integer, the squares about m are exact and at least twice what is taken off them. */
  static NDR_DEVICE Far widen(const Near &a) {
    if (a.n == 0) return base::far();
    double n = a.n, mean = (double)a.sum / n;
    i64 m = (i64)rint(mean), rest = a.sum - m * (i64)a.n;
    i64 about = (i64)a.squares - 2 * m * a.sum + m * m * (i64)a.n;
    return {n, mean, (double)about - (double)rest * ((double)rest / n)};
  }
};

template <class T, bool W, bool S, bool ROOT> struct moments_of { typedef op_moments<T, W, S, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<i8, W, S, ROOT> { typedef op_exact_moments<i8, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<u8, W, S, ROOT> { typedef op_exact_moments<u8, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<i16, W, S, ROOT> { typedef op_exact_moments<i16, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<u16, W, S, ROOT> { typedef op_exact_moments<u16, ROOT> type; };
template <bool W, bool S, bool ROOT> struct moments_of<boolean, W, S, ROOT> { typedef op_exact_moments<boolean, ROOT> type; };
template <class T, bool W, bool S> using op_var = typename moments_of<T, W, S, false>::type;
template <class T, bool W, bool S> using op_std = typename moments_of<T, W, S, true>::type;

/* ---- argmin, argmax ---- */

template <class V> struct place { V value; i64 index; };

template <class T, bool WIDE, bool SKIP, int SIGN> struct op_arg {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef place<value> Near;
  typedef place<typename kind<T>::far> Far;
  typedef i64 result;
  static const bool indexed = true, packed = false, single = true, rooted = false, counting = false;
  static const bool absent = SKIP && is_float<value>::yes; /* NaN stands for nothing seen */
  static const int words = 2;
  template <class V> static NDR_DEVICE place<V> none() {
    return {extreme<SIGN, SKIP>::template identity<V>(), absent ? (i64)-1 : limits<i64>::most()};
  }
  static NDR_DEVICE Near near() { return none<value>(); }
  static NDR_DEVICE Far far() { return none<typename kind<T>::far>(); }
  template <class V> static NDR_DEVICE bool beats(V b, V a) {
    bool farther = SIGN < 0 ? b < a : b > a;
    if (SKIP) return farther || (is_nan(a) && !is_nan(b));
    return farther || (is_nan(b) && !is_nan(a));
  }
  template <class V> static NDR_DEVICE bool same(V b, V a) { return b == a || (is_nan(b) && is_nan(a)); }
  template <class V> static NDR_DEVICE void offer(place<V> &a, V b, i64 index) {
    if (beats(b, a.value) || (index < a.index && same(b, a.value))) a = {b, index};
  }
  template <int N> static NDR_DEVICE void fold(Near &a, const value (&x)[N], i64 index, i64 step) {
    fold_packets<N, N>(a, x, index, 0, step);
  }
  /* N elements, PER at a time `between` apart. First their extreme, then which of them it is, without branches; the one
   * with the lowest index is offered. */
  template <int N, int PER> static NDR_DEVICE void fold_packets(Near &a, const value (&x)[N], i64 index, i64 between, i64 step) {
    value best = tree<extreme<SIGN, SKIP>, N>::join(x);
    bool missing = is_nan(best);
    int at = 0;
    if (step >= 0) {
#pragma unroll
      for (int i = N - 1; i >= 0; i--) at = x[i] == best || (missing && is_nan(x[i])) ? i : at;
    } else {
#pragma unroll
      for (int i = 0; i < N; i++) at = x[i] == best || (missing && is_nan(x[i])) ? i : at;
    }
    offer(a, best, index + at / PER * between + at % PER * step);
  }
  static NDR_DEVICE void join(Near &a, const Near &b) { offer(a, b.value, b.index); }
  static NDR_DEVICE void join_far(Far &a, const Far &b) { offer(a, b.value, b.index); }
  static NDR_DEVICE Far widen(const Near &a) {
    /* An integer identity widens to that of the word, so that it loses to every element. */
    if (a.index == limits<i64>::most()) return far();
    return {(typename kind<T>::far)widened(a.value), a.index};
  }
  static NDR_DEVICE void save(const Far &a, ndr_word *w) { w[0] = to_word(a.value), w[1] = (ndr_word)a.index; }
  static NDR_DEVICE Far load(const ndr_word *w) { return {from_word<typename kind<T>::far>(w[0]), (i64)w[1]}; }
  static NDR_DEVICE i64 finish(const Far &a, double) { return a.index; }
};
template <class T, bool W, bool S> using op_argmin = op_arg<T, W, S, -1>;
template <class T, bool W, bool S> using op_argmax = op_arg<T, W, S, 1>;

/* ---- logsumexp: running maximum and the sum of exponentials relative to it ---- */

template <class R> struct exponentials { R max, sum; };

NDR_DEVICE float exponential(float x) { return machine::exp2_fast(x * 1.44269504f); }
NDR_DEVICE double exponential(double x) { return exp(x); }

template <class R> NDR_DEVICE void join_exponentials(exponentials<R> &a, const exponentials<R> &b) {
  R top = extreme<1, false>::join(a.max, b.max);
  R left = a.max == top ? a.sum : a.sum * exponential(a.max - top);
  R right = b.max == top ? b.sum : b.sum * exponential(b.max - top);
  a = {top, left + right};
}

template <class T, bool WIDE, bool SKIP> struct op_logsumexp {
  typedef T element;
  typedef typename traits<T, WIDE>::value value;
  typedef real_t<T, WIDE> real;
  typedef exponentials<real> Near;
  typedef exponentials<double> Far;
  typedef typename kind<T>::mean result;
  static const bool indexed = false, packed = false, single = true, rooted = false, counting = false;
  static const int words = 2;
  static NDR_DEVICE Near near() { return {limits<real>::least(), 0}; }
  static NDR_DEVICE Far far() { return {limits<double>::least(), 0}; }
  template <int N> static NDR_DEVICE void fold(Near &a, const value (&x)[N], i64, i64) {
    real b[N], e[N];
#pragma unroll
    for (int i = 0; i < N; i++) b[i] = SKIP && is_nan(x[i]) ? limits<real>::least() : value_of<real>(x[i]);
    real top = tree<extreme<1, false>, N>::join(b);
    /* An infinite maximum is the result, whatever the sum. */
#pragma unroll
    for (int i = 0; i < N; i++) e[i] = exponential(b[i] - top);
    join_exponentials(a, Near{top, top == limits<real>::least() ? (real)0 : tree<add, N>::join(e)});
  }
  static NDR_DEVICE void join(Near &a, const Near &b) { join_exponentials(a, b); }
  static NDR_DEVICE void join_far(Far &a, const Far &b) { join_exponentials(a, b); }
  static NDR_DEVICE Far widen(const Near &a) { return {(double)a.max, (double)a.sum}; }
  static NDR_DEVICE void save(const Far &a, ndr_word *w) { w[0] = to_word(a.max), w[1] = to_word(a.sum); }
  static NDR_DEVICE Far load(const ndr_word *w) { return {from_word<double>(w[0]), from_word<double>(w[1])}; }
  static NDR_DEVICE double finish(const Far &a, double) {
    return a.max == limits<double>::least() || a.max == limits<double>::most() ? a.max : a.max + log(a.sum);
  }
};

#endif
