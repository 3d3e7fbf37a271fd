/* Converts elements as a file stores them to those that are reduced: takes them out of their chunks and out of planes
 * of bytes, puts them in this machine's byte order, marks missing ones NaN, and scales them. Its results equal those of
 * src/h5/read/unpack/unpack.c to the bit. */
#ifndef NDR_CONVERT_CUH
#define NDR_CONVERT_CUH

#include "convert.h"
#include "types.cuh"

/* ---- Where an element is stored --------------------------------------------------------------------------------- */

NDR_DEVICE u32 quotient_of(u32 n, const ndr_convert_divisor &divisor) {
  return divisor.magic ? machine::multiply_high(n, divisor.magic) >> divisor.shift : n;
}

/* Where an element is stored: the number of its chunk's first element, and its own number within the chunk. */
struct home {
  u32 chunk, within;
};

NDR_DEVICE home find_home(const ndr_convert_params &p, u32 n) {
  home at = {0, 0};
#pragma unroll 1
  for (int a = 0; a < p.axis_count; a++) {
    const ndr_convert_axis &axis = p.axes[a];
    u32 whole = a + 1 < p.axis_count ? quotient_of(n, axis.size) : 0, along = n - whole * axis.size.by + axis.lead;
    u32 chunk = quotient_of(along, axis.chunk);
    at.chunk += chunk * axis.grid;
    at.within += (along - chunk * axis.chunk.by) * axis.stride;
    n = whole;
  }
  return at;
}

/* ---- Its bits --------------------------------------------------------------------------------------------------- */

/* The bits of a c128. */
struct twin {
  u64 low, high;
};

/* The type that holds an element's bits. */
template <int bytes> struct holder;
template <> struct holder<1> { typedef u8 bits; };
template <> struct holder<2> { typedef u16 bits; };
template <> struct holder<4> { typedef u32 bits; };
template <> struct holder<8> { typedef u64 bits; };
template <> struct holder<16> { typedef twin bits; };

/* Reverses the byte order: byte b becomes byte b ^ flip. flip is 3 for c64, whose parts are reversed each; otherwise it
 * is the number of the last byte. */
NDR_DEVICE u8 flipped(u8 bits, int) {
  return bits;
}
NDR_DEVICE u16 flipped(u16 bits, int) {
  return (u16)(bits << 8 | bits >> 8);
}
NDR_DEVICE u32 flipped(u32 bits, int) {
  return bits << 24 | (bits << 8 & 0xff0000) | (bits >> 8 & 0xff00) | bits >> 24;
}
NDR_DEVICE u64 flipped(u64 bits, int flip) {
  u64 low = flipped((u32)bits, flip), high = flipped((u32)(bits >> 32), flip);
  return flip == 3 ? high << 32 | low : low << 32 | high;
}
NDR_DEVICE twin flipped(twin bits, int flip) {
  return {flipped(bits.low, flip), flipped(bits.high, flip)};
}

/* Joins the bytes of an element, one from each plane; planes are `apart` bytes apart. */
template <class B> struct planes {
  static NDR_DEVICE B join(const u8 *first, u32 apart, int flip) {
    u64 bits = 0;
    for (int b = 0; b < (int)sizeof(B); b++)
      bits |= (u64)machine::load_element(first + (u64)(b ^ flip) * apart) << 8 * b;
    return (B)bits;
  }
};
template <> struct planes<twin> {
  static NDR_DEVICE twin join(const u8 *first, u32 apart, int flip) {
    return {planes<u64>::join(first, apart, flip), planes<u64>::join(first + (u64)8 * apart, apart, flip)};
  }
};

template <class B> NDR_DEVICE B fetch(const ndr_convert_params &p, u32 n) {
  home at = find_home(p, n);
  if (p.plane) return planes<B>::join((const u8 *)p.from + (u64)at.chunk * sizeof(B) + at.within, p.plane, p.flip);
  B bits = machine::load_element((const B *)p.from + at.chunk + at.within);
  return p.flip ? flipped(bits, p.flip) : bits;
}

/* ---- What it means ---------------------------------------------------------------------------------------------- */

/* The numbers that elements stand for. A float's is an f64, which holds every value; an integer's is the widest
 * integer. `quiet` is the NaN that missing floats become, `fraction` the bits of a float's fraction. */
template <class T> struct meaning;
template <> struct meaning<i8> { typedef i64 number; };
template <> struct meaning<i16> { typedef i64 number; };
template <> struct meaning<i32> { typedef i64 number; };
template <> struct meaning<i64> { typedef i64 number; };
template <> struct meaning<u8> { typedef u64 number; };
template <> struct meaning<u16> { typedef u64 number; };
template <> struct meaning<u32> { typedef u64 number; };
template <> struct meaning<u64> { typedef u64 number; };
template <> struct meaning<f16> {
  typedef double number;
  static constexpr u16 quiet = 0x7e00;
  static constexpr int fraction = 10;
};
template <> struct meaning<bf16> {
  typedef double number;
  static constexpr u16 quiet = 0x7fc0;
  static constexpr int fraction = 7;
};
template <> struct meaning<f32> {
  typedef double number;
  static constexpr u32 quiet = 0x7fc00000;
  static constexpr int fraction = 23;
};
template <> struct meaning<f64> {
  typedef double number;
  static constexpr u64 quiet = 0x7ff8000000000000;
  static constexpr int fraction = 52;
};

NDR_DEVICE f16 element_of(u16 bits, f16) {
  return {bits};
}
NDR_DEVICE bf16 element_of(u16 bits, bf16) {
  return {bits};
}
NDR_DEVICE f32 element_of(u32 bits, f32) {
  return machine::float_of(bits);
}
NDR_DEVICE f64 element_of(u64 bits, f64) {
  return machine::double_of(bits);
}
template <class T, class B> NDR_DEVICE T element_of(B bits, T) {
  return (T)bits;
}

NDR_DEVICE i64 number_of(u64 word, i64) {
  return (i64)word;
}
NDR_DEVICE u64 number_of(u64 word, u64) {
  return word;
}
NDR_DEVICE double number_of(u64 word, double) {
  return machine::double_of(word);
}

/* Whether a value is missing. A NaN is out of any range, so that it is missing where there is one. */
template <class N> NDR_DEVICE bool is_missing(const ndr_convert_params &p, N value) {
  bool missing = p.ranged && !(value >= number_of(p.least, N()) && value <= number_of(p.most, N()));
#pragma unroll 1
  for (int m = 0; m < p.missing_count; m++) missing = missing || value == number_of(p.missing[m], N());
  return missing;
}

/* The f64 that the host's arithmetic makes of a NaN: quiet, with its sign and fraction. A GPU has but one NaN. */
template <class T, class B> NDR_DEVICE double widen_nan(B bits) {
  constexpr int fraction = meaning<T>::fraction;
  u64 sign = (u64)bits >> (8 * sizeof(B) - 1) << 63, rest = ((u64)bits & (((u64)1 << fraction) - 1)) << (52 - fraction);
  return machine::double_of(sign | meaning<f64>::quiet | rest);
}

template <class T, class B> NDR_DEVICE double widened(const ndr_convert_params &p, B bits, double value) {
  if (is_missing(p, value)) return machine::double_of(meaning<f64>::quiet);
  return is_nan(value) ? widen_nan<T>(bits) : machine::rounded_sum(machine::rounded_product(value, p.scale), p.offset);
}
template <class T, class B, class N> NDR_DEVICE double widened(const ndr_convert_params &p, B, N value) {
  if (is_missing(p, value)) return machine::double_of(meaning<f64>::quiet);
  return machine::rounded_sum(machine::rounded_product((double)value, p.scale), p.offset);
}

/* Marks missing floats NaN. Integers have no NaN: those that are missing stay as they are. */
template <class T, class B> NDR_DEVICE B marked(const ndr_convert_params &p, B bits, double value) {
  return is_missing(p, value) ? (B)meaning<T>::quiet : bits;
}
template <class T, class B, class N> NDR_DEVICE B marked(const ndr_convert_params &, B bits, N) {
  return bits;
}

/* Stores an element in the way that p.way says. */
template <class T> struct converter {
  typedef typename holder<sizeof(T)>::bits bits;
  static NDR_DEVICE void store(const ndr_convert_params &p, u32 n, bits x) {
    typedef typename meaning<T>::number number;
    number value = value_of<number>(element_of(x, T()));
    if (p.way == NDR_CONVERT_WIDEN)
      ((double *)p.to)[n] = widened<T>(p, x, value);
    else
      ((bits *)p.to)[n] = p.way == NDR_CONVERT_MARK ? marked<T>(p, x, value) : x;
  }
};
/* bool, c64 and c128 are only copied. */
template <class B> struct mover {
  typedef B bits;
  static NDR_DEVICE void store(const ndr_convert_params &p, u32 n, bits x) { ((bits *)p.to)[n] = x; }
};
template <> struct converter<bool> : mover<u8> {};
template <> struct converter<c64> : mover<u64> {};
template <> struct converter<c128> : mover<twin> {};

template <class T> NDR_DEVICE void convert(const ndr_convert_params &p) {
  typedef converter<T> how;
  u32 threads = (u32)(machine::blocks() * machine::threads());
  for (u32 n = (u32)(machine::block() * machine::threads() + machine::thread()); n < p.count; n += threads)
    how::store(p, n, fetch<typename how::bits>(p, n));
}

#endif
