#include "explain/communication.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "run/kernel_names.hpp"

namespace elbowroom::explain {
namespace {

using Row = std::pair<std::string_view, std::string_view>;

/// Letters and digits in lower case: "_allgather_base", "AllGather" and "all_gather" are one word.
std::string bare(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      result += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      result += c;
    }
  }
  return result;
}

/// The value of the first row whose text stands in `bare_text`.
template <std::size_t count>
std::optional<std::string_view> first_of(const std::array<Row, count>& rows, std::string_view bare_text) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return bare_text.find(row.first) != std::string_view::npos; });
  return found == rows.end() ? std::nullopt : std::optional(found->second);
}

// Longer words stand before those that they hold: "reducescatter" has "reduce".
constexpr std::array<Row, 22> kCollectives{{{"reducescatter", "reduce_scatter"},
                                            {"allreduce", "all_reduce"},
                                            {"crossdevicereduce", "all_reduce"},
                                            {"allgather", "all_gather"},
                                            {"alltoall", "all_to_all"},
                                            {"all2all", "all_to_all"},
                                            {"a2a", "all_to_all"},
                                            {"dispatch", "all_to_all"},
                                            {"combine", "all_to_all"},
                                            {"broadcast", "broadcast"},
                                            {"barrier", "barrier"},
                                            {"sendrecv", "send_recv"},
                                            {"batchisendirecv", "send_recv"},
                                            {"putsignal", "send_recv"},
                                            {"waitsignal", "send_recv"},
                                            {"gather", "all_gather"},
                                            {"scatter", "reduce_scatter"},
                                            {"ncclsend", "send_recv"},
                                            {"ncclrecv", "send_recv"},
                                            {"ncclreduce", "reduce"},
                                            {"kernelreduce", "reduce"},
                                            {"quickreduce", "all_reduce"}}};

constexpr std::array<Row, 25> kClasses{{{"gemm", "gemm"},         {"nvjet", "gemm"},
                                        {"cutlass", "gemm"},      {"cijk", "gemm"},
                                        {"matmul", "gemm"},       {"flash", "attention"},
                                        {"fmha", "attention"},    {"attention", "attention"},
                                        {"attn", "attention"},    {"softmax", "attention"},
                                        {"conv", "convolution"},  {"wgrad", "convolution"},
                                        {"dgrad", "convolution"}, {"scudnn", "convolution"},
                                        {"batchnorm", "norm"},    {"layernorm", "norm"},
                                        {"rmsnorm", "norm"},      {"bnbw", "norm"},
                                        {"bnfw", "norm"},         {"embedding", "embedding"},
                                        {"adam", "optimizer"},    {"multitensorapply", "optimizer"},
                                        {"foreach", "optimizer"}, {"elementwise", "elementwise"},
                                        {"reduce", "reduction"}}};

}  // namespace

bool is_communication_kernel(const std::string& name) { return run::may_go_first(name.c_str()); }

std::optional<std::string_view> collective_in(std::string_view text) { return first_of(kCollectives, bare(text)); }

std::optional<std::int64_t> element_bytes(std::string_view dtype) {
  std::string word = bare(dtype);
  if (word.starts_with("c10")) { word.erase(0, 3); }
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 22> kTypes{
      {{"float", 4},   {"float32", 4},  {"int", 4},          {"int32", 4},     {"uint32", 4},   {"double", 8},
       {"float64", 8}, {"long", 8},     {"longint", 8},      {"int64", 8},     {"longlong", 8}, {"half", 2},
       {"float16", 2}, {"bfloat16", 2}, {"short", 2},        {"byte", 1},      {"char", 1},     {"int8", 1},
       {"uint8", 1},   {"bool", 1},     {"unsignedchar", 1}, {"signedchar", 1}}};
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& row) { return row.first == word; });
  if (found != kTypes.end()) { return found->second; }
  return word.starts_with("float8") ? std::optional<std::int64_t>(1) : std::nullopt;
}

std::string_view kernel_class(std::string_view name) { return first_of(kClasses, bare(name)).value_or("other"); }

}  // namespace elbowroom::explain
