#pragma once

#include <string_view>

/// How kernels of vendors' libraries are told by their names, demangled or not.
namespace elbowroom::detail {

inline bool has_part(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

/// NCCL and RCCL begin the names of all their kernels with it, behind what mangling adds.
inline bool is_of_comm_library(std::string_view name) { return has_part(name, "nccl"); }

/// A collective's on symmetric memory: ncclSymkDevKernel_* of NCCL, or the simulator's.
inline bool is_on_symmetric_memory(std::string_view name) { return has_part(name, "Symk") || has_part(name, "symmetric"); }

/// cuBLAS may divide a product among blocks by its inner extent. The second kernel of such a product adds up what they have.
inline bool is_split_k_sum(std::string_view name) { return has_part(name, "splitKreduce"); }

}  // namespace elbowroom::detail
