// Begins every text that is compiled for the device. The compiler's own types and the names that HIP gives to every kernel are all
// that is used: no header, so that the text compiles with HIPRTC as it is.

/// bf16 as its bits.
struct Bf16 {
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
  if (value != value) return Bf16{static_cast<unsigned short>(wide.bits >> 16 | 0x40u)};
  return Bf16{static_cast<unsigned short>((wide.bits + 0x7FFFu + (wide.bits >> 16 & 1u)) >> 16)};
}

// The order of ElementwiseOp.
constexpr int kGelu = 0;
constexpr int kRelu = 1;

__device__ inline float error_function(float x) { return erff(x); }
__device__ inline double error_function(double x) { return erf(x); }

template <class Real>
__device__ inline Real apply(int op, Real x) {
  if (op == kGelu) return Real(0.5) * x * (Real(1) + error_function(x * Real(0.70710678118654752440)));
  if (op == kRelu) return x > Real(0) ? x : Real(0);
  return x;
}
