#include "report/comm_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/dotted_version.hpp"
#include "model/library_kernels.hpp"
#include "report/counts.hpp"

namespace elbowroom::detail {
namespace {

bool is_of_library(const CollectiveActivity& collective) { return is_of_comm_library(collective.name); }

std::string count_of(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::optional<std::int64_t> count_if_any(JsonMembers& members, const char* name) {
  const std::int64_t count = members.count(name);
  return count > 0 ? std::optional(count) : std::nullopt;
}

CommLibraryActivity comm_library_of(JsonMembers members, std::span<const CollectiveActivity> collectives) {
  CommLibraryActivity read;
  const bool watched = members.has("calls");
  read.calls = members.count("calls");
  read.communicators = members.count("communicators_made");
  read.ranks = count_if_any(members, "greatest_ranks");
  if (members.has("rank")) { read.rank = members.count("rank"); }
  const bool launched = std::ranges::any_of(collectives, is_of_library);
  read.unseen = watched && launched && read.calls == 0 && read.communicators == 0 ? 1 : 0;
  return read;
}

void add(CommLibraryActivity& sum, const CommLibraryActivity& more) {
  sum.version = std::max(sum.version, more.version);  // an absent one is less than any
  sum.calls += more.calls;
  sum.unseen += more.unseen;
  sum.communicators += more.communicators;
  sum.ranks = std::max(sum.ranks, more.ranks);
  if (!sum.rank || (more.rank && *more.rank < *sum.rank)) { sum.rank = more.rank; }
}

OrderedJson json_of(const CommLibraryActivity& library) {
  OrderedJson written = OrderedJson::object();
  written["version"] = library.version ? OrderedJson(*library.version) : OrderedJson();
  written["calls"] = library.calls;
  written["processes_unseen"] = library.unseen;
  written["communicators_made"] = library.communicators;
  written["greatest_ranks"] = library.ranks.value_or(0);
  return written;
}

std::string lines_of(const CommLibraryActivity& library) {
  std::string lines;
  if (library.calls > 0 || library.communicators > 0) {
    lines += fmt::format("nccl        {}: {}, {} of {} at most\n",
                         library.version ? dotted_version(*library.version) : "version unknown", count_of(library.calls, "call"),
                         count_of(library.communicators, "communicator"), count_of(library.ranks.value_or(0), "rank"));
  }
  if (library.unseen > 0) {
    lines += fmt::format(
        "nccl        unseen in {} process{}, which launched its kernels: it is linked statically or was found in a way "
        "that is not followed\n",
        library.unseen, library.unseen == 1 ? "" : "es");
  }
  return lines;
}

}  // namespace elbowroom::detail
