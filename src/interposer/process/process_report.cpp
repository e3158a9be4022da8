#include "run/process_report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "interposer/core/unusual.hpp"
#include "interposer/process/files.hpp"
#include "interposer/process/hook_table.hpp"
#include "interposer/process/process.hpp"
#include "run/environment.hpp"
#include "run/trial_words.hpp"

namespace elbowroom::interposer::process {
namespace {

// The other side knows this row by its words.
static_assert(std::string_view(kUnusualWords[static_cast<std::size_t>(Unusual::ended_context)]) == run::kContextEnded);

constexpr std::size_t kPathBytes = 4096;

// Where the report goes.
constinit std::array<char, kPathBytes> directory{};

template <std::size_t kMost, std::size_t kBytes>
struct Texts {
  std::array<std::array<char, kBytes>, kMost> text;
  std::array<const char*, kMost> pointers;
  std::size_t count = 0;

  void add(const char* first, const char* second, const char* third = "") {
    if (count == kMost) { return; }
    std::snprintf(text[count].data(), kBytes, "%s%s%s", first, second, third);
    pointers[count] = text[count].data();
    ++count;
  }
};
using DriverEntries = Texts<256, 64>;
using SeenRows = Texts<kUnusualRows, 256>;

void collect_rows(SeenRows& rows) {
  const std::uint32_t seen = unusual_seen.rows.load();
  for (std::size_t row = 0; row < kUnusualRows; ++row) {
    if ((seen >> row & 1U) == 0) { continue; }
    const char* by = unusual_seen.by[row].load();
    rows.add(by == nullptr ? "" : by, by == nullptr ? "" : ": ", kUnusualWords[row]);
  }
}

// Which hooked functions the program came by, and how.
void collect_entries(DriverEntries& entries, const char* finder) {
  for (const Hook& hook : hooks()) {
    const std::uint8_t routes = hook.state->routes.load(std::memory_order_relaxed);
    if ((routes & kRouteLinked) != 0) { entries.add("", hook.symbol); }
    if ((routes & kRouteDlsym) != 0) { entries.add("dlsym:", hook.symbol); }
    if ((routes & kRouteProcAddress) != 0) { entries.add(finder, hook.symbol); }
  }
}

// The sum is that of the samples, scaled to all calls.
LaunchCost cost_of(const Overhead::Launches& launches) {
  const std::uint64_t calls = launches.calls.load();
  const std::uint64_t samples = launches.times.samples();
  const double mean = samples == 0 ? 0 : static_cast<double>(launches.times.sum()) / static_cast<double>(samples);
  return {calls, static_cast<std::uint64_t>(mean * static_cast<double>(calls)), launches.times.median()};
}

// Pieces are gathered, so that a report takes few system calls.
struct BufferedFile {
  int file;
  int error = 0;  ///< why not all was written
  std::size_t written = 0;
  std::array<char, 65536> buffer;
  std::size_t used = 0;

  void write_out(const char* data, std::size_t size) {
    if (error == 0 && !may_write(written + size)) { error = EFBIG; }
    while (error == 0 && size > 0) {
      const ssize_t taken = write(file, data, size);
      if (taken < 0 && errno == EINTR) { continue; }
      if (taken <= 0) {
        error = taken < 0 ? errno : ENOSPC;
        return;
      }
      data += taken;
      size -= static_cast<std::size_t>(taken);
      written += static_cast<std::size_t>(taken);
    }
  }
  void flush() {
    write_out(buffer.data(), used);
    used = 0;
  }
  static void write_piece(void* self, const char* data, std::size_t size) {
    auto& to = *static_cast<BufferedFile*>(self);
    if (size > to.buffer.size() - to.used) { to.flush(); }
    if (size > to.buffer.size()) {
      to.write_out(data, size);
      return;
    }
    std::memcpy(to.buffer.data() + to.used, data, size);
    to.used += size;
  }
};

void say_unwritten(int error) {
  std::fprintf(stderr, "elbowroom: the report cannot be written to %s: %s\n", directory.data(), std::strerror(error));
}

void report_to(const ReportSource& source, const ProcessFacts& facts) {
  // Not on the stack, which may be that of a handler that calls exit.
  static std::array<char, kPathBytes + 64> path;
  static std::array<char, kPathBytes + 64> unfinished;
  const auto stamp = static_cast<unsigned long long>(now_ns());
  const int length =
      std::snprintf(path.data(), path.size(), "%s/%d-%llu%s", directory.data(), facts.pid, stamp, run::kProcessReportSuffix);
  if (length < 0 || static_cast<std::size_t>(length) + 5 > path.size()) { return; }
  std::snprintf(unfinished.data(), unfinished.size(), "%s/.%d-%llu%s", directory.data(), facts.pid, stamp,
                run::kUnfinishedReportSuffix);
  static BufferedFile output;
  if (!is_of_this_user(directory.data())) { return say_unwritten(ENOENT); }
  output.file = open(unfinished.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (output.file < 0) { return say_unwritten(errno); }
  output.error = 0;
  output.written = 0;
  source.core.report(facts, {&output, &BufferedFile::write_piece});
  output.flush();
  // Some file systems say only now that they are full.
  if (close(output.file) != 0 && output.error == 0 && errno != EINTR) { output.error = errno; }
  // A reader sees the whole report or none.
  if (output.error == 0 && rename(unfinished.data(), path.data()) != 0) { output.error = errno; }
  if (output.error == 0) { return; }
  unlink(unfinished.data());
  say_unwritten(output.error);
}

}  // namespace

void read_report_place() {
  const char* named = std::getenv(run::kReportDirVariable);
  if (named != nullptr && std::strlen(named) < directory.size()) { std::strcpy(directory.data(), named); }
}

void write_process_report(const ReportSource& source) {
  static DriverEntries entries;
  entries.count = 0;
  collect_entries(entries, source.finder);
  ProcessFacts facts;
  facts.pid = getpid();
  facts.program = program_invocation_short_name;
  facts.device_count = source.devices_seen;
  facts.begun_ns = source.begun_ns;
  facts.write_more = source.write_more;
  facts.driver_entries = entries.pointers.data();
  facts.driver_entry_count = entries.count;
  static SeenRows passed;
  passed.count = 0;
  collect_rows(passed);
  facts.passed_through = passed.pointers.data();
  facts.passed_through_count = passed.count;
  facts.outside = cost_of(source.overhead.outside);
  facts.inside = cost_of(source.overhead.inside);
  read_report_place();
  if (directory[0] != '\0') { report_to(source, facts); }
}

}  // namespace elbowroom::interposer::process
