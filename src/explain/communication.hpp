#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace elbowroom::explain {

/// Whether a kernel of this name communicates between GPUs and does nothing else. One that computes as well counts as computation.
bool is_communication_kernel(const std::string& name);

/// The collective that a text means, a kernel's name or what a program calls it, by the contract's words: "all_reduce",
/// "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send_recv", "barrier". Absent where the text names none.
std::optional<std::string_view> collective_in(std::string_view text);

/// Bytes of one element: "BFloat16", "c10::Half", "float". Absent for an unknown type.
std::optional<std::int64_t> element_bytes(std::string_view dtype);

/// A word for what a kernel computes, by its name: "gemm", "attention", "convolution", "norm", "embedding", "optimizer",
/// "elementwise", "reduction", "other".
std::string_view kernel_class(std::string_view name);

}  // namespace elbowroom::explain
