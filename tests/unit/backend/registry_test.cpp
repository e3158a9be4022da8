#include "elbowroom/backend/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace elbowroom {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Options for devices of that name whose notices are kept.
BackendOptions listening(std::vector<std::string>& notices, const std::string& device = "auto") {
  BackendOptions options;
  options.device = device;
  options.notice = [&notices](std::string_view line) { notices.emplace_back(line); };
  return options;
}

bool one_line(std::string_view text) { return !text.empty() && text.find('\n') == std::string_view::npos; }

// In no catalog, so that every backend refuses it, on a machine with a GPU and on one without.
constexpr const char* kNoDevice = "h900";

TEST(Registry, ListsEachBackendOnceRealDevicesFirst) {
  std::set<std::string_view> names;
  for (const BackendEntry& entry : backends()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " is there twice";
    EXPECT_TRUE(one_line(entry.purpose)) << entry.name;
    EXPECT_NE(entry.name, "auto");
  }
  EXPECT_TRUE(names.contains("cuda"));
  EXPECT_EQ(backends().front().name, "cuda");
}

TEST(Registry, OpensEachBackendOrSaysWhyNot) {
  for (const BackendEntry& entry : backends()) {
    SCOPED_TRACE(entry.name);
    const Result<std::unique_ptr<Backend>> backend = entry.open({});
    if (!backend) {
      EXPECT_TRUE(one_line(backend.error().message)) << backend.error().message;
      EXPECT_EQ(backend.error().kind, ErrorKind::unavailable);
      continue;
    }
    ASSERT_NE(*backend, nullptr);
    EXPECT_EQ((*backend)->name(), entry.name);
    EXPECT_FALSE((*backend)->devices().empty());
    EXPECT_EQ((*backend)->provenance(), entry.name == "sim" ? Provenance::simulated : Provenance::measured);
  }
}

TEST(OpenBackend, RefusesUnknownNamesAndListsAll) {
  for (const std::string_view name : {"", "Cuda", "vulkan", "cuda,sim"}) {
    const Result<std::unique_ptr<Backend>> backend = open_backend(name, {});
    ASSERT_FALSE(backend.ok());
    EXPECT_EQ(backend.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(backend.error().message, StartsWith("backend: '" + std::string(name) + "', expected one of auto, "));
    for (const BackendEntry& entry : backends()) { EXPECT_THAT(backend.error().message, HasSubstr(std::string(entry.name))); }
  }
}

TEST(OpenBackend, ByNameTakesThatOneOrNone) {
  for (const BackendEntry& entry : backends()) {
    SCOPED_TRACE(entry.name);
    const Result<std::unique_ptr<Backend>> direct = entry.open({});
    std::vector<std::string> notices;
    const Result<std::unique_ptr<Backend>> named = open_backend(entry.name, listening(notices));
    ASSERT_EQ(named.ok(), direct.ok());
    if (named) {
      EXPECT_EQ((*named)->name(), entry.name);
    } else {
      EXPECT_EQ(named.error().kind, direct.error().kind);
      EXPECT_EQ(named.error().message, "backend " + std::string(entry.name) + ": " + direct.error().message);
    }
  }
}

TEST(OpenBackend, AutoTakesTheFirstUsableAndSaysWhichAndWhyInOneNotice) {
  std::string passed_over;
  std::string names;
  const auto first = std::ranges::find_if(backends(), [&](const BackendEntry& entry) {
    const Result<std::unique_ptr<Backend>> backend = entry.open({});
    if (!backend) {
      passed_over += (passed_over.empty() ? "" : "; ") + std::string(entry.name) + ": " + backend.error().message;
      names += (names.empty() ? "" : ", ") + std::string(entry.name);
    }
    return backend.ok();
  });
  std::vector<std::string> notices;
  const Result<std::unique_ptr<Backend>> backend = open_backend("auto", listening(notices));
  ASSERT_EQ(backend.ok(), first != backends().end());
  if (!backend) {
    EXPECT_EQ(backend.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(backend.error().message, HasSubstr(passed_over));
    EXPECT_TRUE(notices.empty());
    return;
  }
  EXPECT_EQ((*backend)->name(), first->name);
  const std::string line = "backend " + std::string(first->name) + ": ";
  const auto names_it = [&](const std::string& notice) { return notice.starts_with(line); };
  ASSERT_EQ(std::ranges::count_if(notices, names_it), 1);
  const std::string& notice = *std::ranges::find_if(notices, names_it);
  EXPECT_TRUE(one_line(notice));
  EXPECT_LE(notice.size(), 80U);
  EXPECT_THAT(notice, HasSubstr(names.empty() ? "first usable" : names));
}

TEST(OpenBackend, AutoNeedsNoOneToListen) { EXPECT_NO_THROW(static_cast<void>(open_backend("auto", {}))); }

TEST(OpenBackend, AutoWithoutAUsableOneCarriesEveryReason) {
  std::vector<std::string> notices;
  const Result<std::unique_ptr<Backend>> backend = open_backend("auto", listening(notices, kNoDevice));
  ASSERT_FALSE(backend.ok());
  EXPECT_TRUE(one_line(backend.error().message));
  for (const BackendEntry& entry : backends()) {
    BackendOptions options;
    options.device = kNoDevice;
    const Result<std::unique_ptr<Backend>> direct = entry.open(options);
    ASSERT_FALSE(direct.ok()) << entry.name;
    EXPECT_THAT(backend.error().message, HasSubstr(std::string(entry.name) + ": " + direct.error().message));
  }
  EXPECT_TRUE(notices.empty());
}

}  // namespace
}  // namespace elbowroom
