#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

/// Ends the program with a line that names what was expected.
#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                 \
    }                                                                               \
  } while (false)

struct Case {
  const char* name;
  void (*run)();
};
#define CASE(function) {#function, function}  // by its own name

/// Runs the case that the command line names; 2 where there is none of that name.
template <std::size_t N>
int run_case(const Case (&cases)[N], int argc, char** argv) {
  for (const Case& known : cases) {
    if (argc == 2 && std::strcmp(argv[1], known.name) == 0) {
      known.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: %s CASE\n", argv[0]);
  return 2;
}
