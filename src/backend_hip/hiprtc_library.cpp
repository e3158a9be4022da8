#include "backend_hip/hiprtc_library.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <vector>

#include "elbowroom/base/environment.hpp"

namespace elbowroom::hip {
namespace {

constexpr int kSuccess = 0;

/// The first line that tells of an error, and nothing of the source that the compiler shows below it.
std::string error_line(const std::string& log) {
  const std::size_t at = log.find("error:");
  const std::size_t begin = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
  return log.substr(begin, log.find('\n', begin) - begin);
}

}  // namespace

Result<HiprtcLibrary> HiprtcLibrary::load(int generation) {
  // The runtimes of ROCm 5 have the compiler's functions themselves.
  std::vector<std::string> names{fmt::format("libhiprtc.so.{}", generation), "libhiprtc.so",
                                 fmt::format("libamdhip64.so.{}", generation)};
  if (const auto chosen = read(kHiprtcLibrary)) { names = {*chosen}; }
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) { return unavailable(fmt::format("HIPRTC: {}; set {} to its path", library.error().message, kHiprtcLibrary.name)); }
  library->keep_loaded();

  HiprtcLibrary hiprtc(std::move(*library));
  Functions& to = hiprtc.functions_;
  for (const Status& bound : {
           hiprtc.library_.bind("hiprtcCreateProgram", to.create_program),
           hiprtc.library_.bind("hiprtcDestroyProgram", to.destroy_program),
           hiprtc.library_.bind("hiprtcCompileProgram", to.compile_program),
           hiprtc.library_.bind("hiprtcGetProgramLogSize", to.get_program_log_size),
           hiprtc.library_.bind("hiprtcGetProgramLog", to.get_program_log),
           hiprtc.library_.bind("hiprtcGetCodeSize", to.get_code_size),
           hiprtc.library_.bind("hiprtcGetCode", to.get_code),
           hiprtc.library_.bind("hiprtcGetErrorString", to.get_error_string),
       }) {
    if (!bound) { return unavailable(fmt::format("HIPRTC: {}", bound.error().message)); }
  }
  return hiprtc;
}

Result<std::string> HiprtcLibrary::compile(std::string_view name, std::string_view text, const std::string& target) const {
  const std::string source(text);
  const std::string file(name);
  HiprtcProgram program = nullptr;
  if (Status created =
          check(functions_.create_program(&program, source.c_str(), file.c_str(), 0, nullptr, nullptr), "hiprtcCreateProgram");
      !created) {
    return created.error();
  }
  const auto destroy = [this](HiprtcProgram made) { static_cast<void>(functions_.destroy_program(&made)); };
  const std::unique_ptr<HiprtcProgramOpaque, decltype(destroy)> owned(program, destroy);

  const std::string architecture = fmt::format("--offload-arch={}", target);
  std::array<const char*, 3> options{architecture.c_str(), "-O3", "-std=c++17"};
  const int compiled = functions_.compile_program(program, static_cast<int>(options.size()), options.data());
  if (compiled != kSuccess) { return failed(fmt::format("{} does not compile for {}: {}", name, target, first_error(program))); }
  return code_of(program);
}

Result<std::string> HiprtcLibrary::code_of(HiprtcProgram program) const {
  std::size_t size = 0;
  if (Status asked = check(functions_.get_code_size(program, &size), "hiprtcGetCodeSize"); !asked) { return asked.error(); }
  std::string code(size, '\0');
  if (Status got = check(functions_.get_code(program, code.data()), "hiprtcGetCode"); !got) { return got.error(); }
  return code;
}

std::string HiprtcLibrary::first_error(HiprtcProgram program) const {
  std::size_t size = 0;
  if (functions_.get_program_log_size(program, &size) != kSuccess || size == 0) { return "the compiler says no more"; }
  std::string log(size, '\0');
  if (functions_.get_program_log(program, log.data()) != kSuccess) { return "the compiler says no more"; }
  log.resize(size - 1);  // it counts the closing zero
  return error_line(log);
}

Status HiprtcLibrary::check(int code, const char* call) const {
  if (code == kSuccess) { return {}; }
  return failed(fmt::format("{} failed: {}", call, functions_.get_error_string(code)));
}

}  // namespace elbowroom::hip
