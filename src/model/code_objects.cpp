#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "model/kernel_records.hpp"

namespace elbowroom {
namespace {

using nlohmann::json;

constexpr int kCudaMachine = 190;
constexpr int kAmdMachine = 224;

/// A number of an ELF file, which is little-endian as are the machines that run this; 0 where the file ends before it.
template <class Number>
Number at(std::string_view bytes, std::uint64_t offset) {
  Number number = 0;
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(Number)) {
    std::memcpy(&number, bytes.data() + offset, sizeof(Number));
  }
  return number;
}

std::string_view part(std::string_view bytes, std::uint64_t begin, std::uint64_t size) {
  return begin <= bytes.size() && size <= bytes.size() - begin ? bytes.substr(begin, size) : std::string_view();
}

bool is_elf64_of(std::string_view bytes, int machine) {
  return bytes.starts_with(
             "\x7f"
             "ELF\x02\x01") &&
         at<std::uint16_t>(bytes, 18) == machine;
}

/// The MessagePack text of the note NT_AMDGPU_METADATA; empty where there is none.
std::string_view metadata_in(std::string_view notes) {
  constexpr std::uint32_t metadata = 32;
  const auto rounded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  while (notes.size() >= 12) {
    const std::uint64_t name_size = rounded(at<std::uint32_t>(notes, 0));
    const std::uint64_t size = at<std::uint32_t>(notes, 4);
    const std::string_view text = part(notes, 12 + name_size, size);
    if (at<std::uint32_t>(notes, 8) == metadata && part(notes, 12, 6) == "AMDGPU") { return text; }
    if (text.size() != size) { return {}; }
    notes.remove_prefix(std::min<std::uint64_t>(12 + name_size + rounded(size), notes.size()));
  }
  return {};
}

/// The header of a section; empty where there is none.
std::string_view section(std::string_view bytes, std::uint64_t index) {
  const auto table = at<std::uint64_t>(bytes, 40);
  return index < at<std::uint16_t>(bytes, 60) ? part(bytes, table + index * at<std::uint16_t>(bytes, 58), 64) : std::string_view();
}

std::string_view content(std::string_view bytes, std::string_view header) {
  return part(bytes, at<std::uint64_t>(header, 24), at<std::uint64_t>(header, 32));
}

std::string_view metadata_of(std::string_view bytes) {
  constexpr std::uint32_t notes = 7;  // SHT_NOTE
  for (std::uint64_t index = 0; index < at<std::uint16_t>(bytes, 60); ++index) {
    const std::string_view header = section(bytes, index);
    if (at<std::uint32_t>(header, 4) != notes) { continue; }
    const std::string_view text = metadata_in(content(bytes, header));
    if (!text.empty()) { return text; }
  }
  return {};
}

/// Of each kernel's symbol the descriptor, with which a launch sets the hardware up.
using Descriptors = std::map<std::string_view, std::string_view>;

Descriptors descriptors_of(std::string_view bytes) {
  constexpr std::uint32_t dynamic_symbols = 11;  // SHT_DYNSYM; the runtime finds a kernel there
  constexpr std::uint64_t descriptor = 64;
  Descriptors found;
  for (std::uint64_t index = 0; found.empty() && index < at<std::uint16_t>(bytes, 60); ++index) {
    const std::string_view header = section(bytes, index);
    if (at<std::uint32_t>(header, 4) != dynamic_symbols) { continue; }
    const std::string_view names = content(bytes, section(bytes, at<std::uint32_t>(header, 40)));
    for (std::string_view symbols = content(bytes, header); symbols.size() >= 24; symbols.remove_prefix(24)) {
      if (at<std::uint64_t>(symbols, 16) != descriptor) { continue; }
      const std::string_view name = names.substr(std::min<std::size_t>(at<std::uint32_t>(symbols, 0), names.size()));
      const std::string_view home = section(bytes, at<std::uint16_t>(symbols, 6));
      const std::uint64_t begin = at<std::uint64_t>(home, 24) + at<std::uint64_t>(symbols, 8) - at<std::uint64_t>(home, 16);
      found.emplace(name.substr(0, name.find('\0')), part(bytes, begin, descriptor));
    }
  }
  return found;
}

/// Builds the document and gives up where it is nested deeper than metadata are: the reader takes a stack frame for each level.
class Shallow : public nlohmann::detail::json_sax_dom_parser<json> {
 public:
  explicit Shallow(json& document) : json_sax_dom_parser(document, false) {}
  bool start_object(std::size_t size) { return ++depth_ <= kMost && json_sax_dom_parser::start_object(size); }
  bool start_array(std::size_t size) { return ++depth_ <= kMost && json_sax_dom_parser::start_array(size); }
  bool end_object() { return --depth_ >= 0 && json_sax_dom_parser::end_object(); }
  bool end_array() { return --depth_ >= 0 && json_sax_dom_parser::end_array(); }

 private:
  static constexpr int kMost = 32;
  int depth_ = 0;
};

std::int64_t count_of(const json& kernel, const char* name) {
  constexpr std::uint64_t most = 1 << 30;
  const auto found = kernel.find(name);
  return found != kernel.end() && found->is_number_unsigned() && found->get<std::uint64_t>() <= most ? found->get<std::int64_t>()
                                                                                                     : 0;
}

/// Launches of a kernel that asks for one size have no other.
std::optional<Threads> threads_of(const json& kernel) {
  const auto size = kernel.find(".reqd_workgroup_size");
  if (size == kernel.end() || !size->is_array() || size->size() != 3) { return std::nullopt; }
  std::uint64_t threads = 1;
  for (const json& edge : *size) {
    if (!edge.is_number_unsigned() || edge.get<std::uint64_t>() > 1'024) { return std::nullopt; }
    threads *= edge.get<std::uint64_t>();
  }
  return threads == 0 || threads > 1'024 ? std::nullopt : std::optional(Threads(static_cast<std::int64_t>(threads)));
}

/// "gfx942" of "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-". Hand-written code leaves the text out: the ELF's flags have the number.
std::string architecture_of(const json& document, std::string_view bytes) {
  const auto target = document.find("amdhsa.target");
  if (target != document.end() && target->is_string()) {
    const auto& text = target->get_ref<const std::string&>();
    const std::size_t begin = text.rfind("--");
    if (begin != std::string::npos) { return text.substr(begin + 2, text.find(':', begin) - begin - 2); }
  }
  const auto machine = at<std::uint8_t>(bytes, 48);
  for (const auto& [number, name] : {std::pair(0x3f, "gfx90a"), {0x4c, "gfx942"}, {0x4f, "gfx950"}}) {
    if (machine == number) { return name; }
  }
  return "EF_AMDGPU_MACH " + std::to_string(machine);
}

/// VGPRs of a thread. The metadata count those that the code names; the descriptor allocates more where the compiler was told to
/// keep the waves of a SIMD below a bound (waves_per_eu), and for a kernel without any.
Registers registers_of(const json& kernel, const Descriptors& descriptors, std::string_view architecture) {
  const std::int64_t named = count_of(kernel, ".vgpr_count");
  const auto symbol = kernel.find(".symbol");
  if (symbol == kernel.end() || !symbol->is_string()) { return Registers(named); }
  const auto descriptor = descriptors.find(symbol->get_ref<const std::string&>());
  if (descriptor == descriptors.end() || descriptor->second.empty()) { return Registers(named); }
  const bool unified = architecture.starts_with("gfx90a") || architecture.starts_with("gfx94") || architecture == "gfx950";
  const std::int64_t granule = unified || count_of(kernel, ".wavefront_size") == 32 ? 8 : 4;
  const std::int64_t allocated = granule * ((at<std::uint32_t>(descriptor->second, 48) & 63U) + 1);
  return Registers(allocated >= named + granule ? allocated : named);
}

}  // namespace

Result<std::vector<KernelRecord>> parse_amd_code_object(std::string_view bytes) {
  if (!is_elf64_of(bytes, kAmdMachine)) { return invalid_input("not an AMD code object (ELF of AMDGPU)"); }
  const std::string_view text = metadata_of(bytes);
  json document;
  Shallow reader(document);
  if (text.empty() || !json::sax_parse(text.begin(), text.end(), &reader, json::input_format_t::msgpack, false) ||
      !document.is_object()) {
    return invalid_input("no metadata of kernels, expected a note AMDGPU in MessagePack (code object 3 or newer)");
  }
  std::vector<KernelRecord> records;
  const auto kernels = document.find("amdhsa.kernels");
  const std::string architecture = architecture_of(document, bytes);
  const Descriptors descriptors = descriptors_of(bytes);
  if (kernels != document.end() && kernels->is_array()) {
    for (const json& kernel : *kernels) {
      const bool named = kernel.is_object() && kernel.contains(".name") && kernel[".name"].is_string();
      const Registers registers = named ? registers_of(kernel, descriptors, architecture) : Registers(0);
      if (registers == Registers(0)) { continue; }
      records.push_back({kernel[".name"].get<std::string>(), architecture, registers,
                         Bytes(count_of(kernel, ".group_segment_fixed_size")), Bytes(0), threads_of(kernel)});
    }
  }
  if (records.empty()) { return invalid_input("its metadata describe no kernel with registers"); }
  return records;
}

std::string cubin_architecture(std::string_view bytes) {
  if (!is_elf64_of(bytes, kCudaMachine)) { return {}; }
  const auto flags = at<std::uint32_t>(bytes, 48);
  const bool newer = at<std::uint8_t>(bytes, 8) >= 8;  // the version of the ABI: CUDA 13
  return "sm_" + std::to_string(newer ? (flags >> 8U) & 0xffU : flags & 0xffU);
}

}  // namespace elbowroom
