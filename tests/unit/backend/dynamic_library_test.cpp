#include "backend/dynamic_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace elbowroom::detail {
namespace {

const std::array<std::string, 1> kFixture{ELBOWROOM_IMPORT_FIXTURE};

pid_t a_parent_of_ours() { return 4242; }

TEST(DynamicLibrary, ARedirectedImportIsThatLibrarysAlone) {
  const Result<DynamicLibrary> library = DynamicLibrary::open(kFixture);
  ASSERT_TRUE(library) << library.error().message;
  long (*asks)() = nullptr;
  ASSERT_TRUE(library->bind("parent_of_process", asks));
  EXPECT_EQ(getppid(), asks());

  const Status redirected = library->redirect_import("getppid", &a_parent_of_ours);
  ASSERT_TRUE(redirected) << redirected.error().message;
  EXPECT_EQ(4242, asks());
  EXPECT_NE(4242, getppid());
}

TEST(DynamicLibrary, WhatALibraryDoesNotImportCannotBeRedirected) {
  const Result<DynamicLibrary> library = DynamicLibrary::open(kFixture);
  ASSERT_TRUE(library) << library.error().message;
  const Status redirected = library->redirect_import("no_such_function", &a_parent_of_ours);
  ASSERT_FALSE(redirected);
  EXPECT_EQ(ErrorKind::unavailable, redirected.error().kind);
  EXPECT_NE(std::string::npos, redirected.error().message.find("does not import no_such_function")) << redirected.error().message;
}

TEST(DynamicLibrary, IsUnloadedWithItsLastHandleUnlessKept) {
  const auto loaded = [] { return dlopen(ELBOWROOM_IMPORT_FIXTURE, RTLD_NOW | RTLD_NOLOAD) != nullptr; };
  ASSERT_TRUE(DynamicLibrary::open(kFixture));
  EXPECT_FALSE(loaded());
  {
    const Result<DynamicLibrary> library = DynamicLibrary::open(kFixture);
    ASSERT_TRUE(library) << library.error().message;
    library->keep_loaded();
  }
  EXPECT_TRUE(loaded());
}

TEST(DynamicLibrary, NamesWhatWasTried) {
  const std::array<std::string, 2> names{"libelbowroom-no-such-a.so", "libelbowroom-no-such-b.so"};
  const Result<DynamicLibrary> library = DynamicLibrary::open(names);
  ASSERT_FALSE(library);
  EXPECT_NE(std::string::npos, library.error().message.find("libelbowroom-no-such-a.so, libelbowroom-no-such-b.so"));
}

}  // namespace
}  // namespace elbowroom::detail
