#include "trace_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "byte_sources.hpp"
#include "explain/tar.hpp"
#include "explain/trace_reader.hpp"

namespace elbowroom {
namespace {

using explain::ByteSource;
using explain::Trace;

Error in_file(const std::string& name, const Error& error) { return {error.kind, fmt::format("{}: {}", name, error.message)}; }

bool is_trace_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) { name.remove_prefix(slash + 1); }
  if (name.starts_with('.')) { return false; }  // what a Mac puts beside each file of an archive is named so
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".json.zst") || name.ends_with(".json.zstd");
}

/// A source that another one owns.
class Borrowed final : public ByteSource {
 public:
  explicit Borrowed(ByteSource& source) : source_(source) {}
  Result<std::size_t> read(std::span<char> into) override { return source_.read(into); }

 private:
  ByteSource& source_;
};

Result<std::vector<Trace>> none_of(const std::string& name, const std::vector<std::string>& notices, std::size_t before) {
  if (notices.size() > before) { return invalid_input(fmt::format("{}: no trace in it, first {}", name, notices[before])); }
  return invalid_input(fmt::format("{}: no file in it is named like a trace, expected *.json, *.json.gz or *.json.zst", name));
}

Result<std::vector<Trace>> read_archive(ByteSource& archive, const std::string& name, std::vector<std::string>& notices) {
  const std::size_t before = notices.size();
  std::vector<Trace> traces;
  explain::TarFiles files(archive);
  for (;;) {
    const Result<std::optional<std::string>> file = files.next();
    if (!file) {
      notices.push_back(fmt::format("{}: {}", name, file.error().message));
      break;
    }
    if (!*file) { break; }
    if (!is_trace_name(**file)) { continue; }
    auto bytes = unpacked(std::make_unique<Borrowed>(files));
    Result<Trace> trace = bytes ? read_trace(**bytes, **file) : Result<Trace>(in_file(**file, bytes.error()));
    if (trace) {
      traces.push_back(*std::move(trace));
    } else {
      notices.push_back(trace.error().message);
    }
  }
  return traces.empty() ? none_of(name, notices, before) : Result<std::vector<Trace>>(std::move(traces));
}

Result<std::vector<Trace>> read_one(const std::string& name, std::vector<std::string>& notices) {
  auto file = open_bytes(name);
  if (!file) { return file.error(); }
  auto bytes = unpacked(*std::move(file));
  if (!bytes) { return in_file(name, bytes.error()); }
  Result<std::string> first = explain::TextSource::first_of(**bytes, explain::kTarBlock);
  if (!first) { return in_file(name, first.error()); }
  const bool archive = explain::is_tar(*first);
  explain::TextSource whole(*std::move(first), bytes->get());
  if (archive) { return read_archive(whole, name, notices); }
  Result<Trace> trace = read_trace(whole, name == "-" ? "standard input" : name);
  if (!trace) { return trace.error(); }
  std::vector<Trace> traces;
  traces.push_back(*std::move(trace));
  return traces;
}

Result<std::vector<Trace>> read_folder(const std::string& name, std::vector<std::string>& notices) {
  const std::size_t before = notices.size();
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(name, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error) && is_trace_name(at->path().string())) { files.push_back(at->path().string()); }
  }
  if (error) { return invalid_input(fmt::format("{}: the folder cannot be read: {}", name, error.message())); }
  std::sort(files.begin(), files.end());
  std::vector<Trace> traces;
  for (const std::string& file : files) {
    Result<std::vector<Trace>> some = read_one(file, notices);
    if (!some) {
      notices.push_back(some.error().message);
      continue;
    }
    for (Trace& trace : *some) { traces.push_back(std::move(trace)); }
  }
  return traces.empty() ? none_of(name, notices, before) : Result<std::vector<Trace>>(std::move(traces));
}

}  // namespace

Result<std::vector<Trace>> read_traces(const std::string& name, std::vector<std::string>& notices) {
  std::error_code error;
  return std::filesystem::is_directory(name, error) ? read_folder(name, notices) : read_one(name, notices);
}

}  // namespace elbowroom
