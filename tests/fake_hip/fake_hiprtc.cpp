// A stand-in for libhiprtc.so.6. It compiles nothing: the fake runtime has every kernel on the host. What it gives as code says for
// which target it was asked, and it fails as a compiler does when the environment says so:
//   ELBOWROOM_FAKE_HIPRTC_FAIL=1   every compilation fails with an error in line 7
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Program {
  std::string text, name, log, code;
};

constexpr int kSuccess = 0, kInvalidInput = 3, kInvalidOption = 5, kCompilation = 6;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* hiprtcGetErrorString(int code) {
  return code == kSuccess ? "HIPRTC_SUCCESS" : code == kCompilation ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR_INVALID_INPUT";
}

int hiprtcCreateProgram(Program** program, const char* text, const char* name, int headers, const char**, const char**) {
  if (program == nullptr || text == nullptr || headers != 0) { return kInvalidInput; }
  *program = new Program{text, name == nullptr ? "" : name, "", ""};
  return kSuccess;
}

int hiprtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return kSuccess;
}

int hiprtcCompileProgram(Program* program, int options, const char** texts) {
  std::string target;
  for (int i = 0; i < options; ++i) {
    if (std::strncmp(texts[i], "--offload-arch=", 15) == 0) { target = texts[i] + 15; }
  }
  if (target.empty()) { return kInvalidOption; }
  if (std::getenv("ELBOWROOM_FAKE_HIPRTC_FAIL") != nullptr) {
    program->log = "In file included:\n" + program->name + ":7:3: error: expected ';'\n  here\n  ^\n1 error generated.\n";
    return kCompilation;
  }
  if (program->text.find("extern \"C\"") == std::string::npos) { return kInvalidInput; }
  program->code = "code object of the fake compiler for " + target;
  return kSuccess;
}

int hiprtcGetProgramLogSize(Program* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return kSuccess;
}

int hiprtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return kSuccess;
}

int hiprtcGetCodeSize(Program* program, std::size_t* size) {
  *size = program->code.size() + 1;
  return kSuccess;
}

int hiprtcGetCode(Program* program, char* code) {
  std::memcpy(code, program->code.c_str(), program->code.size() + 1);
  return kSuccess;
}
}
#pragma GCC visibility pop
