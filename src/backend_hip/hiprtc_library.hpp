#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "backend/dynamic_library.hpp"
#include "elbowroom/base/result.hpp"

// HIPRTC's C interface as far as Elbowroom calls it. Source: hiprtc.h of ROCm 5.0 to 7.0.
namespace elbowroom::hip {

using HiprtcProgram = struct HiprtcProgramOpaque*;

/// A loaded run time compiler; kernels are compiled for the device that is there, so that the build needs no compiler of ROCm.
class HiprtcLibrary {
 public:
  /// `generation` is that of the HIP runtime: its compiler's own code must be of the same ROCm.
  static Result<HiprtcLibrary> load(int generation);

  /// Compiles a program whose kernels are extern "C" for `target` ("gfx90a:sramecc+:xnack-") and returns what hipModuleLoadData
  /// takes. `name` stands in the compiler's messages; `failed` has the first of them.
  [[nodiscard]] Result<std::string> compile(std::string_view name, std::string_view text, const std::string& target) const;

 private:
  explicit HiprtcLibrary(elbowroom::detail::DynamicLibrary library) : library_(std::move(library)) {}
  [[nodiscard]] Status check(int code, const char* call) const;
  [[nodiscard]] std::string first_error(HiprtcProgram program) const;
  [[nodiscard]] Result<std::string> code_of(HiprtcProgram program) const;

  struct Functions {
    int (*create_program)(HiprtcProgram* program, const char* text, const char* name, int headers, const char** header_texts,
                          const char** header_names);
    int (*destroy_program)(HiprtcProgram* program);
    int (*compile_program)(HiprtcProgram program, int options, const char** option_texts);
    int (*get_program_log_size)(HiprtcProgram program, std::size_t* size);
    int (*get_program_log)(HiprtcProgram program, char* log);
    int (*get_code_size)(HiprtcProgram program, std::size_t* size);
    int (*get_code)(HiprtcProgram program, char* code);
    const char* (*get_error_string)(int code);
  };
  elbowroom::detail::DynamicLibrary library_;
  Functions functions_{};
};

}  // namespace elbowroom::hip
