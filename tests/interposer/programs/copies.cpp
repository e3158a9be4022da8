#include <dlfcn.h>

#include <string>

#include "interposer/nccl/functions.hpp"
#include "program.hpp"
#include "small_stack.hpp"

// `copies FOLDER OPERATION...`: loads libraries and calls NCCL through them, and says which copy each call reached. copies.sh
// compares what it says with the interposer and without. An operation is the stem of a library and a letter: l and g load it, with
// local and global visibility; c calls what it is linked to, s the same on a small stack, p but a group, j by a jump, d looks a
// function up in it, x asks the whole program for it, e the same but once, n the program's next libraries, u unloads it.

namespace {

using Call = int (*)();
using AllReduce = decltype(&ncclAllReduce);

void* loaded(const std::string& folder, const std::string& stem, int flags) {
  return dlopen((folder + "/" + stem + ".so").c_str(), RTLD_LAZY | flags);
}

int call(void* handle, const char* name) {
  const auto function = reinterpret_cast<Call>(dlsym(handle, name));
  return function == nullptr ? -1 : function();
}

int next_group() {
  const auto start = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "ncclGroupStart"));
  const auto end = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "ncclGroupEnd"));
  if (start == nullptr || end == nullptr) { return -1; }
  volatile int begun = start();
  volatile int ended = end();
  return 100 * begun + ended;
}

int look_up(void* where) {
  const auto all_reduce = reinterpret_cast<AllReduce>(dlsym(where, "ncclAllReduce"));
  const auto communicator = reinterpret_cast<nccl::Communicator (*)()>(dlsym(where, "numbered_communicator"));
  if (all_reduce == nullptr || communicator == nullptr) { return -1; }
  volatile int result = all_reduce(nullptr, nullptr, 1, 7, 0, communicator(), nullptr);
  return result;
}

// What was looked up once may be called for ever: the loader keeps it for the program.
int call_kept() {
  static const auto end = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "ncclGroupEnd"));
  return end == nullptr ? -1 : end();
}

// Gives back every reference that this program has: at most one for each operation. What another library needs stays loaded.
int unload(const std::string& folder, const std::string& stem) {
  for (int i = 0; i < 16; ++i) {
    void* handle = loaded(folder, stem, RTLD_NOLOAD);
    if (handle == nullptr || dlclose(handle) != 0 || dlclose(handle) != 0) { break; }
  }
  return 0;
}

int operate(const std::string& folder, const std::string& operation) {
  const std::string stem = operation.substr(0, operation.size() - 1);
  void* handle = loaded(folder, stem, RTLD_NOLOAD);
  switch (operation.back()) {
    case 'l':
      return loaded(folder, stem, RTLD_LOCAL) != nullptr ? 0 : -1;
    case 'g':
      return loaded(folder, stem, RTLD_GLOBAL) != nullptr ? 0 : -1;
    case 'c':
      return handle == nullptr ? -1 : 10'000 * call(handle, "user_all_reduce") + call(handle, "user_group");
    case 's': {
      int result = -1;
      if (handle != nullptr) {
        on_small_stack([&] { result = 10'000 * call(handle, "user_all_reduce") + call(handle, "user_group"); });
      }
      return result;
    }
    case 'p':
      return handle == nullptr ? -1 : call(handle, "user_group");
    case 'j':
      return handle == nullptr ? -1 : call(handle, "user_group_by_jump");
    case 'd':
      return handle == nullptr ? -1 : look_up(handle);
    case 'n':
      return next_group();
    case 'e':
      return call_kept();
    case 'u':
      return unload(folder, stem);
    default:
      return look_up(RTLD_DEFAULT);
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) { std::printf("%s %d\n", argv[i], operate(argv[1], argv[i])); }
  return 0;
}
