// Begins every text that is compiled for the device. The compiler's own types and the names that HIP gives to every kernel are all
// that is used: no header, so that the text compiles with HIPRTC as it is.

/// bf16 as its bits.
struct Bf16 {
  unsigned short bits;
};

/// f16 as its bits, which the compiler's own type has too.
struct F16 {
  unsigned short bits;
};

typedef float Float4 __attribute__((vector_size(16)));

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(Bf16 value) {
  union {
    unsigned int bits;
    float value;
  } wide;
  wide.bits = static_cast<unsigned int>(value.bits) << 16;
  return wide.value;
}

__device__ inline float to_float(F16 value) {
  union {
    unsigned short bits;
    _Float16 value;
  } half;
  half.bits = value.bits;
  return static_cast<float>(half.value);
}

template <class T>
__device__ inline T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
/// To the nearest, ties to even; NaN stays NaN.
template <>
__device__ inline Bf16 from_float<Bf16>(float value) {
  union {
    float value;
    unsigned int bits;
  } wide;
  wide.value = value;
  if (value != value) { return Bf16{static_cast<unsigned short>(wide.bits >> 16 | 0x40u)}; }
  return Bf16{static_cast<unsigned short>((wide.bits + 0x7FFFu + (wide.bits >> 16 & 1u)) >> 16)};
}

template <>
__device__ inline F16 from_float<F16>(float value) {
  union {
    _Float16 value;
    unsigned short bits;
  } half;
  half.value = static_cast<_Float16>(value);
  return F16{half.bits};
}

/// 16 bytes of elements. Vectors, because the compiler may put an array that it cannot keep in registers into LDS.
template <class T>
struct Elements;
template <>
struct Elements<float> {
  typedef Float4 Vector;
  static constexpr int kCount = 4;
  __device__ static float get(Vector vector, int at) { return vector[at]; }
  __device__ static void set(Vector& vector, int at, float value) { vector[at] = value; }
};
/// Of types that are 16 bits.
template <class T>
struct Halves {
  typedef unsigned short Vector __attribute__((vector_size(16)));
  static constexpr int kCount = 8;
  __device__ static float get(Vector vector, int at) { return to_float(T{vector[at]}); }
  __device__ static void set(Vector& vector, int at, float value) { vector[at] = from_float<T>(value).bits; }
};
template <>
struct Elements<Bf16> : Halves<Bf16> {};
template <>
struct Elements<F16> : Halves<F16> {};
