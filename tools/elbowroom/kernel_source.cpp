#include "kernel_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "cuobjdump.hpp"
#include "offload_unpacking.hpp"
#include "output.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Records = Result<std::vector<KernelRecord>>;

Error of_file(const std::string& path, const Error& error) { return {error.kind, fmt::format("{}: {}", path, error.message)}; }

/// The first bytes of a file.
Result<std::string> beginning_of(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) { return invalid_input(fmt::format("{}: cannot be read", path)); }
  std::string bytes(most, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

bool is_elf(std::string_view begin) {
  return begin.size() > 19 && begin.starts_with(
                                  "\x7f"
                                  "ELF");
}
bool is_elf_for(std::string_view begin, char machine) { return is_elf(begin) && begin[18] == machine && begin[19] == '\0'; }

bool is_binary(std::string_view begin) {
  constexpr std::string_view fatbin("\x50\xed\x55\xba", 4);
  return is_elf(begin) || begin.starts_with(fatbin) || begin.starts_with("!<arch>");
}

bool is_amd(std::string_view begin) { return is_elf_for(begin, '\xe0'); }

/// Programs with code for AMD's devices, and that code alone. Absent: the file has nothing of it, or is too large to be read whole.
std::optional<Records> built_by_hipcc(const std::string& path, std::string_view begin) {
  constexpr std::uintmax_t most = std::uintmax_t{1} << 30;
  if (is_amd(begin) || is_elf_for(begin, '\xbe')) { return std::nullopt; }
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(path, failure);
  if (failure || size > most) { return std::nullopt; }
  const Result<std::string> bytes = beginning_of(path, size);
  if (!bytes || !holds_offload_bundle(*bytes)) { return std::nullopt; }
  const Result<std::string> unpacked = unpacked_offload_bundles(*bytes);
  if (!unpacked) { return Records(unpacked.error()); }
  return parse_offload_bundles(*unpacked + *bytes);
}

Records used_resources(const std::string& path, std::string_view begin) {
  const Result<std::string> usage = resource_usage_of(path);
  return usage ? parse_resource_usage(*usage, cubin_architecture(begin)) : Records(usage.error());
}

Records kernels_in(const std::string& path) {
  constexpr std::size_t enough = 64;  // to know a file by
  const Result<std::string> begin = beginning_of(path, enough);
  if (!begin) { return begin.error(); }
  const std::optional<Records> hip = built_by_hipcc(path, *begin);
  Records records = hip.value_or(Records(invalid_input("")));
  if (is_binary(*begin) && !is_amd(*begin)) {
    // What compiles for AMD has the mark of a bundle in it, and may have NVIDIA's code.
    if (Records nvidia = records ? records : used_resources(path, *begin); nvidia || !hip) { records = std::move(nvidia); }
  } else if (!hip) {
    const Result<std::string> text = read_file(path);
    if (!text) { return text.error(); }
    records = is_binary(*begin) ? parse_amd_code_object(*text) : parse_ptxas_log(*text);
    if (!records && !is_binary(*begin)) { records = parse_resource_usage(*text, ""); }
    if (!records && !is_binary(*begin)) {
      return invalid_input(
          fmt::format("{}: no kernel, expected a cubin, fatbin, library, program, AMD code object, what ptxas -v or "
                      "cuobjdump -res-usage prints, or a folder of Triton's cache",
                      path));
    }
  }
  return records ? std::move(records) : Records(of_file(path, records.error()));
}

/// What Triton launches the kernel with stands in a file beside its code.
void add_launch(KernelRecord& record, const json& launch) {
  const auto count = [&](const char* name) {
    const auto found = launch.find(name);
    return found != launch.end() && found->is_number_integer() && *found >= 0 && *found <= (1 << 24) ? found->get<std::int64_t>()
                                                                                                     : 0;
  };
  const std::int64_t width = count("warp_size") == 0 ? 32 : count("warp_size");
  if (const std::int64_t warps = count("num_warps"); warps > 0) { record.threads = Threads(warps * width); }
  record.dynamic_shared = Bytes(count("shared"));
}

Records triton_kernels(const std::string& folder) {
  std::error_code failure;
  std::vector<fs::path> codes;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".cubin" || path.extension() == ".hsaco") { codes.push_back(path); }
  }
  if (failure) { return invalid_input(fmt::format("{}: {}", folder, failure.message())); }
  std::ranges::sort(codes);
  std::vector<KernelRecord> all;
  for (const fs::path& code : codes) {
    Records records = kernels_in(code.string());
    if (!records) { return records.error(); }
    const Result<std::string> text = read_file(fs::path(code).replace_extension(".json").string());
    const json launch = text ? json::parse(*text, nullptr, false) : json();
    for (KernelRecord& record : *records) {
      if (launch.is_object()) { add_launch(record, launch); }
      all.push_back(std::move(record));
    }
  }
  if (all.empty()) {
    return invalid_input(fmt::format("{}: no .cubin or .hsaco in it, expected a folder of Triton's cache", folder));
  }
  return all;
}

}  // namespace

Result<std::vector<KernelRecord>> kernels_of(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? triton_kernels(path) : kernels_in(path);
}

}  // namespace elbowroom
