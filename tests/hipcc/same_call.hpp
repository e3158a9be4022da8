#pragma once

#include <cstddef>
#include <type_traits>

// C++ has templates under some of the functions' names.
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1
// Later releases call some of these functions deprecated; they stay.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <hip/hip_ext.h>
#include <hip/hip_runtime_api.h>

/// Whether a function's argument or result travels the same way, whatever its name: pointers as pointers, enumerations as what is
/// below them.
template <class Ours, class Theirs>
constexpr bool same_word =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs> && std::is_class_v<Ours> == std::is_class_v<Theirs>;

template <class Ours, class Theirs>
constexpr bool same_call = false;
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
constexpr bool same_call<R (*)(A...), S (*)(B...)> = same_word<R, S> && (same_word<A, B> && ...);

#define SAME_VALUE(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs))
