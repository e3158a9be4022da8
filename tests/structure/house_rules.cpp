#include "house_rules.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string_view>

namespace house {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLines = 400;

// The arrows of docs/architecture.md. A layer may include what lies below its targets, and base.
const std::map<std::string, std::set<std::string>, std::less<>>& arrows() {
  static const std::map<std::string, std::set<std::string>, std::less<>> table = {
      {"run", {}},
      {"base", {}},
      {"ranks", {"base"}},
      {"model", {"base"}},
      {"steps", {"model"}},
      {"network", {"model"}},
      {"trace", {"base"}},
      {"energy", {"base"}},
      {"plan", {"model", "trace"}},
      {"backend", {"plan", "trace", "ranks", "network"}},
      {"backend_gpu", {"backend"}},
      {"counters", {"backend", "energy"}},
      {"tune", {"plan", "trace", "run"}},
      {"report", {"plan", "trace", "run", "energy"}},
      {"preload", {"tune", "report"}},
      {"doctor", {"report"}},
      {"experiment", {"backend", "steps", "tune", "report"}},
      {"explain", {"report"}},
      {"page", {"report"}},
      {"runtime", {"experiment"}},
      {"interop", {"runtime"}},
  };
  return table;
}

bool is_leaf(std::string_view room) { return room.starts_with("backend_") && room != "backend_gpu"; }

// The leaves that are built on backend_gpu; nobody else includes it.
bool is_gpu_leaf(std::string_view room) { return room == "backend_cuda" || room == "backend_hip"; }

// The rooms of libraries that are loaded into programs, and what each of them may include beside itself.
const std::map<std::string, std::set<std::string>, std::less<>>& interposer_arrows() {
  static const std::map<std::string, std::set<std::string>, std::less<>> table = {
      {"interposer/core", {"run"}},
      {"interposer/process", {"run", "interposer/core"}},
      {"interposer/nccl", {"run", "interposer/core", "interposer/process"}},
      {"interposer/driver", {"run", "interposer/core", "interposer/process"}},
      {"interposer/cuda", {"run", "interposer/core", "interposer/process", "interposer/nccl", "interposer/driver"}},
      {"interposer/hip", {"run", "interposer/core", "interposer/process", "interposer/nccl", "interposer/driver"}},
      {"recorder", {"run"}},
  };
  return table;
}

bool is_interposer(std::string_view room) { return room.starts_with("interposer") || room == "recorder"; }

// What a compiler of kernels gets: all of it as it is, the vendor's own parts and those that all vendors share.
bool is_kernel_text(const fs::path& path) {
  return path.extension() == ".hip" || path.parent_path() == fs::path("src/backend_gpu/kernels");
}

bool reaches(const std::string& from, const std::string& to) {
  const auto entry = arrows().find(from);
  if (entry == arrows().end()) { return false; }
  return std::ranges::any_of(entry->second, [&](const std::string& next) { return next == to || reaches(next, to); });
}

bool may_include(const std::string& room, const std::string& other) {
  if (room == other) { return true; }
  if (is_interposer(room)) {
    const auto entry = interposer_arrows().find(room);
    return entry != interposer_arrows().end() && entry->second.contains(other);
  }
  if (is_leaf(other)) { return false; }
  if (is_gpu_leaf(room) && other == "backend_gpu") { return true; }
  if (is_leaf(room)) { return other == "backend" || reaches("backend", other); }
  return reaches(room, other);
}

struct File {
  fs::path path;     // relative to the root
  std::string area;  // first component: "include", "src", ...
  std::string room;  // layer, leaf or room of the interposer; empty outside include and src
};

File describe(const fs::path& relative) {
  std::vector<std::string> parts;
  for (const fs::path& part : relative) { parts.push_back(part.string()); }
  File file{relative, parts.front(), ""};
  const std::size_t room_at = file.area == "include" ? 2 : 1;  // include/elbowroom/<layer>/x.hpp, src/<layer>/x.cpp
  const bool has_room = file.area == "include" || file.area == "src";
  if (has_room && parts.size() > room_at + 1) { file.room = parts[room_at]; }
  if (file.room == "interposer" && parts.size() > room_at + 2) { file.room += "/" + parts[room_at + 1]; }
  return file;
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> extensions = {".hpp", ".cpp", ".h", ".cu", ".cuh", ".hip", ".inc", ".in", ".cmake", ".sh"};
  return extensions.contains(path.extension().string()) || path.filename() == "CMakeLists.txt";
}

// The room that a quoted include names: "elbowroom/plan/x.hpp" and the private "plan/x.hpp" are both plan.
std::optional<std::string> included_room(const std::string& name) {
  std::string_view rest = name;
  if (rest.starts_with("elbowroom/")) { rest.remove_prefix(std::string_view("elbowroom/").size()); }
  std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos && rest.substr(0, slash) == "interposer") { slash = rest.find('/', slash + 1); }
  if (slash == std::string_view::npos) { return std::nullopt; }
  const std::string room(rest.substr(0, slash));
  return arrows().contains(room) || is_leaf(room) || is_interposer(room) ? std::optional(room) : std::nullopt;
}

bool vendor_code_allowed(const File& file) {
  return file.area == "tests" || file.area == "bench" || is_leaf(file.room) || is_interposer(file.room);
}

bool is_vendor_header(const std::string& name) {
  static const std::regex vendors(
      R"(^(cuda|cublas|cupti|nccl|nvml|nvtx|mma\.h|hip/|hiprtc|rccl|rocblas|roctracer|rocprofiler|hsa/))");
  return std::regex_search(name, vendors);
}

std::optional<std::string> wrong_vendor_header(const File& file, const std::string& name) {
  if (!is_vendor_header(name)) { return std::nullopt; }
  if (file.room.ends_with("_hip") || file.room == "interposer/hip") {
    return "include of <" + name + ">; HIP is declared here, so that no ROCm is needed to build";
  }
  if (!vendor_code_allowed(file) && file.area != "examples") {
    return "include of <" + name + ">; vendors differ only in src/backend_*";
  }
  return std::nullopt;
}

std::optional<std::string> wrong_include(const File& file, const std::string& name, bool angled) {
  const std::string quoted = '"' + name + '"';
  if (is_kernel_text(file.path)) { return "include of " + quoted + "; the text of a kernel includes nothing"; }
  if (angled) {
    if (const auto wrong = wrong_vendor_header(file, name)) { return wrong; }
  }
  if (name.find("..") != std::string::npos) { return "include " + quoted + " climbs; name it from include/ or src/"; }
  const bool is_standard = name.find_first_of("./") == std::string::npos;
  if (file.area == "include" && angled && !is_standard) {
    return "public header includes <" + name + ">; only the standard library is allowed there";
  }
  if (file.room == "run" && angled && !is_standard) {
    return "run includes <" + name + ">; only the standard library is allowed there, because the interposer is built of it too";
  }
  if (file.area == "include" && !angled && !name.starts_with("elbowroom/")) { return "public header includes private " + quoted; }
  const std::optional<std::string> other = included_room(name);
  if (!other) { return std::nullopt; }
  if (is_interposer(file.room) && !is_interposer(*other) && *other != "run") {
    return file.room + " includes " + quoted + "; it may include nothing of the library but run";
  }
  const bool is_check = file.area == "tests" || file.area == "bench";
  if (is_interposer(*other) && !is_interposer(file.room) && !is_check) {
    return "include of " + quoted + "; " + *other + " is included by nobody";
  }
  if (is_leaf(*other) && file.area != "tests" && file.room != *other) {
    return "include of " + quoted + "; " + *other + " is a leaf and included by nobody";
  }
  if (*other == "backend_gpu" && file.area != "tests" && file.room != *other && !is_gpu_leaf(file.room)) {
    return "include of " + quoted + "; backend_gpu is for backend_cuda and backend_hip alone";
  }
  if (!file.room.empty() && !may_include(file.room, *other)) {
    return file.room + " includes " + quoted + "; includes only go downward";
  }
  return std::nullopt;
}

const fs::path kControlRows = "src/plan/control_rows.cpp";

// The names of controls and of what follows them. `own`: those that no other document, scheme or option has for something else.
struct ControlNames {
  std::set<std::string> all;
  std::set<std::string> own;
};

ControlNames names_of_controls(const fs::path& root) {
  static const std::regex row(R"re((number|toggle)<&OverlapPlan::\w+>\(\s*"(\w+)")re");
  static const std::set<std::string> shared = {"blocks_per_sm", "priority",  "comm_blocks", "cluster",
                                               "sm_target",     "symmetric", "copy_engine"};
  std::ifstream stream(root / kControlRows);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  ControlNames names;
  for (std::sregex_iterator found(text.begin(), text.end(), row), end; found != end; ++found) {
    const std::string name = (*found)[2];
    names.all.insert(name);
    if (!shared.contains(name)) { names.own.insert(name); }
  }
  return names;
}

// What stands between quotes in a line of code, a comment's quotes left out.
std::vector<std::string_view> literals_of(std::string_view line) {
  std::vector<std::string_view> found;
  std::optional<std::size_t> begin;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (begin && line[at] == '\\') {
      ++at;
    } else if (line[at] == '"' && begin) {
      found.push_back(line.substr(*begin, at - *begin));
      begin.reset();
    } else if (line[at] == '"' && line.substr(at == 0 ? 0 : at - 1, 3) != "'\"'") {
      begin = at + 1;
    } else if (!begin && line.substr(at).starts_with("//")) {
      break;
    }
  }
  return found;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto part = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t behind = at + word.size();
    if ((at == 0 || !part(text[at - 1])) && (behind == text.size() || !part(text[behind]))) { return true; }
  }
  return false;
}

// A control's name in a text of its own: one that nothing else has, or one that a refusal begins with.
std::optional<std::string> spelled_control(const std::string& line, const ControlNames& names) {
  const auto any = [&](const std::string& name) { return line.find(name) != std::string::npos; };
  if (std::ranges::none_of(names.all, any)) { return std::nullopt; }
  for (const std::string_view literal : literals_of(line)) {
    for (const std::string& name : names.all) {
      if (literal.starts_with(name + ": ") || (names.own.contains(name) && has_word(literal, name))) { return name; }
    }
  }
  return std::nullopt;
}

bool is_product(const File& file) { return file.area == "include" || file.area == "src" || file.area == "tools"; }

// What stands in one place alone: a control's name in its row, a vendor's abilities in capabilities.cpp, the words of its
// communication library in model.
std::optional<std::string> second_home(const File& file, const std::string& line, const ControlNames& controls) {
  static const std::regex vendor_test(R"(\bvendor\s*[!=]=)");
  if (!is_product(file) || is_interposer(file.room)) { return std::nullopt; }
  if (file.path != kControlRows) {
    if (const auto name = spelled_control(line, controls)) {
      return "name of the control " + *name + "; it stands in " + kControlRows.generic_string();
    }
  }
  const bool plans = file.room == "plan" || file.room == "tune" || file.room == "experiment";
  // How a processor is called is no ability.
  const bool may_ask = file.path == "src/plan/capabilities.cpp" || file.path == "src/plan/occupancy.cpp";
  if (plans && !may_ask && std::regex_search(line, vendor_test)) {
    return "test on a vendor; what a machine lacks, its Capabilities say";
  }
  if (file.room != "model" && !is_leaf(file.room) && line.find("\"NCCL_") != std::string::npos) {
    return "variable of NCCL's environment; model/comm_environment names them";
  }
  return std::nullopt;
}

// Files under names that others may know are opened in one place, which follows no link of theirs and waits for nothing. Elsewhere
// only folders are, and /dev/null.
std::optional<std::string> bare_open(const File& file, const std::string& line) {
  static const std::regex opens(R"(\b(open(at)?\(.*\bO_(RDONLY|WRONLY|RDWR|PATH|TMPFILE)|flock\(|readlink(at)?\())");
  static const std::set<std::string> homes = {"src/base/known_file.cpp",
                                              "src/base/file_lock.cpp",
                                              "src/base/files.cpp",  // a new name beside a file
                                              "src/report/document_file.cpp",
                                              "tools/elbowroom/byte_sources.cpp",  // a device or a pipe as well
                                              "src/interposer/process/files.cpp",
                                              "src/interposer/process/process_report.cpp",
                                              "src/interposer/nccl/agreement_segment.cpp"};
  if (!is_product(file) || homes.contains(file.path.generic_string()) || !std::regex_search(line, opens)) { return std::nullopt; }
  const bool harmless = line.find("O_DIRECTORY") != std::string::npos || line.find("\"/dev/null\"") != std::string::npos;
  return harmless ? std::nullopt
                  : std::optional<std::string>("a file is opened or locked; base/known_file and base/file_lock do that");
}

// One thing, one word: what must not stand for it, and the word that does.
std::optional<std::string> second_word(const std::string& line) {
  struct Word {
    const char* part;  // that a line must have, which is quick to look for
    std::regex other;
    const char* word;
  };
  static const std::vector<Word> words = {
      {"indow", std::regex(R"((residency|pad|shared.?memory).?windows?\b)", std::regex::icase), "pad range"},
      {"indow", std::regex(R"(symmetric windows?\b|windows? of (symmetric|memory)|\bhas_windows\b)", std::regex::icase),
       "symmetric memory"},
      {"indow", std::regex(R"(energy[ _-]?windows?|\bwindow_s\b|\bplan_windows\b)", std::regex::icase), "energy span"},
      {"deal", std::regex(R"(\bideal(ly)?\b)", std::regex::icase), "critical path"},
      {"oofline", std::regex(R"(\broofline\b)", std::regex::icase), "hardware limit"},
      {"SM ", std::regex(R"(\bSM (group|slice|subset|mask)s?\b)"), "SM partition"},
      {"artition", std::regex(R"(\.partitions\b|\b(per|all|every|register) partitions?\b)"), "sub-partition"},
      {"udget", std::regex(R"(\b(time|timing|search('s)?)[ _]budgets?\b|\btuner\.budget\b)", std::regex::icase), "time limit"},
      {"gate", std::regex(R"(\b(start|dispatch) gates?\b)", std::regex::icase), "launch gate"},
  };
  for (const auto& [part, other, word] : words) {
    std::smatch match;
    if (line.find(part) == std::string::npos || !std::regex_search(line, match, other)) { continue; }
    return "'" + match.str() + "'; the word is " + word;
  }
  return std::nullopt;
}

// Where words are all that is looked at: pages for readers and the Python part.
bool is_prose(const File& file) { return file.area == "docs" || file.area == "README.md" || file.area == "python"; }

std::vector<std::string> check_file(const fs::path& root, const File& file, const ControlNames& controls) {
  static const std::regex include_line(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  static const std::regex vendor_condition(R"(^\s*#\s*(if|ifdef|ifndef|elif)\b.*(CUDA|HIP|NVCC|NVIDIA|AMD|ROCM|NCCL|RCCL|__gfx))");
  static const std::regex printing(
      R"(\b(std::cout|std::cerr|std::printf|std::puts|print_notice|print_error)\b|^\s*#\s*include\s*<CLI/)");
  static const std::regex own_environment(R"(\b(getenv|environ)\b)");
  static const std::regex vendor_alias(R"(^\s*#\s*define\s+(cu|cuda|hip|nccl|rccl|cublas|rocblas)[A-Z_]\w*)");
  std::vector<std::string> found;
  std::ifstream stream(root / file.path);
  std::string line;
  int number = 0;
  const auto report = [&](const std::string& what) {
    found.push_back(file.path.generic_string() + ":" + std::to_string(number) + ": " + what);
  };
  while (std::getline(stream, line)) {
    ++number;
    std::smatch match;
    if (is_prose(file)) {
      if (const auto second = second_word(line)) { report(*second); }
      continue;
    }
    const bool speaks_through_sink = file.room == "experiment" || file.room == "preload";
    if (speaks_through_sink && std::regex_search(line, printing)) {
      report(file.room + " prints or reads a command line; it says what it does through a NoticeSink");
    }
    if (file.room == "preload" && std::regex_search(line, own_environment)) {
      report("preload asks its own process; the environment comes in as a value");
    }
    if (const auto second = second_home(file, line, controls)) { report(*second); }
    if (const auto bare = bare_open(file, line)) { report(*bare); }
    if (is_product(file) && !is_interposer(file.room)) {
      if (const auto second = second_word(line)) { report(*second); }
    }
    if (std::regex_search(line, match, include_line)) {
      if (const auto wrong = wrong_include(file, match[2], match[1] == "<")) { report(*wrong); }
    } else if (!vendor_code_allowed(file) && std::regex_search(line, vendor_condition)) {
      report("#if on a vendor; vendors differ only in src/backend_*");
    } else if (file.area == "src" && std::regex_search(line, match, vendor_alias)) {
      report("a macro under a vendor's name; what differs is written twice, what is common has a name of its own");
    }
  }
  if (number > kMaxLines && !is_prose(file)) {
    report("file has " + std::to_string(number) + " lines; at most " + std::to_string(kMaxLines) + " are allowed");
  }
  const bool layered = file.area == "include" || file.area == "src";
  if (layered && !file.room.empty() && !is_interposer(file.room) && !is_leaf(file.room) && !arrows().contains(file.room)) {
    number = 1;
    report("unknown layer '" + file.room + "'; docs/architecture.md names the layers");
  }
  return found;
}

}  // namespace

std::vector<std::string> violations(const fs::path& root) {
  std::vector<fs::path> files;
  for (const char* area : {"include", "src", "tools", "tests", "bench", "examples", "cmake"}) {
    if (!fs::is_directory(root / area)) { continue; }
    for (const auto& entry : fs::recursive_directory_iterator(root / area)) {
      if (entry.is_regular_file() && is_source(entry.path())) { files.push_back(fs::relative(entry.path(), root)); }
    }
  }
  for (const char* name : {"dev", "README.md"}) {
    if (fs::is_regular_file(root / name)) { files.emplace_back(name); }
  }
  // What was decided or measured once keeps the words of its time.
  for (const char* area : {"docs", "python/elbowroom"}) {
    if (!fs::is_directory(root / area)) { continue; }
    for (const auto& entry : fs::directory_iterator(root / area)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".md" || extension == ".py") { files.push_back(fs::relative(entry.path(), root)); }
    }
  }
  std::ranges::sort(files);

  const ControlNames controls = names_of_controls(root);
  std::vector<std::string> found;
  for (const fs::path& file : files) {
    const std::vector<std::string> of_file = check_file(root, describe(file), controls);
    found.insert(found.end(), of_file.begin(), of_file.end());
  }
  return found;
}

}  // namespace house
