#include "elbowroom/tune/profile.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "unit/model/steps.hpp"
#include "unit/tune/choices.hpp"

namespace elbowroom {
namespace {

using testing::choice;
using testing::pair_of;

std::string refusal(const std::string& text) {
  const Result<Profile> profile = parse_profile(text, "file");
  return profile ? "accepted" : profile.error().message;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string one_choice() {
  Profile profile;
  profile.put(choice(29));
  return to_json(profile);
}

TEST(Profile, ReadsBackWhatItWrites) {
  Profile profile;
  profile.put(choice(29));
  profile.put(choice(30));
  const Result<Profile> read = parse_profile(to_json(profile), "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->choices().size(), 2U);
  EXPECT_EQ(read->choices()[0], choice(29));
  EXPECT_EQ(read->choices()[1], choice(30));
  EXPECT_TRUE(parse_profile(to_json(Profile{}), "file")->choices().empty());
}

TEST(Profile, PassesOverDurationsOfOlderVersions) {
  const Result<Profile> read = parse_profile(
      replaced(one_choice(), "]}\n", R"(], "durations": [{"device": "NVIDIA H200", "kind": "00000000000000a1", "time_us": 9}]})"),
      "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_json(*read), one_choice());
  EXPECT_EQ(refusal(R"({"schema": "elbowroom.profile/1", "choices": [], "durations": 7})"), "file: durations: 7, expected a list");
}

TEST(Profile, KeepsTheNewerOfTwoChoices) {
  Profile profile;
  StoredChoice older = choice(29);
  StoredChoice newer = choice(29);
  newer.stored_at = older.stored_at + 1;
  newer.reason = "newer";
  profile.put(newer);
  profile.put(older);
  ASSERT_EQ(profile.choices().size(), 1U);
  EXPECT_EQ(profile.choices()[0].reason, "newer");
  newer.reason = "as new";
  profile.put(newer);
  EXPECT_EQ(profile.choices()[0].reason, "as new");
}

TEST(Profile, FindsByKeyAlone) {
  Profile profile;
  profile.put(choice(29));
  const StoredChoice* found = profile.find(choice(29).key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, choice(29));
  EXPECT_EQ(profile.find(choice(30).key), nullptr);
}

TEST(Profile, ANewerChoiceTakesThePlaceOfAnOlderOne) {
  StoredChoice newer = choice(29, 200);
  newer.trials = 7;
  Profile profile;
  profile.put(choice(29, 100));
  profile.put(newer);
  profile.put(choice(29, 150));
  ASSERT_EQ(profile.choices().size(), 1U);
  EXPECT_EQ(profile.choices().front().trials, 7);
}

TEST(Profile, RefusesWhatIsDamagedOrForeignInOneLine) {
  EXPECT_EQ(refusal(one_choice()), "accepted");
  EXPECT_EQ(refusal("").rfind("file: not valid JSON at byte", 0), 0U);
  EXPECT_EQ(refusal("{}"), "file: schema: missing, expected \"elbowroom.profile/1\"");
  EXPECT_EQ(refusal(replaced(one_choice(), "profile/1", "profile/2")),
            "file: schema: \"elbowroom.profile/2\", expected \"elbowroom.profile/1\"");
  EXPECT_EQ(refusal(one_choice().substr(0, 200)).rfind("file: not valid JSON", 0), 0U);
  EXPECT_EQ(refusal(replaced(one_choice(), "\"ranks\":2", "\"ranks\":-2")),
            "file: choices[0].key.ranks: -2, expected a whole number from 1 to 1000000");
  EXPECT_EQ(refusal(replaced(one_choice(), "\"comm_blocks\":8", "\"comm_blocks\":\"8\"")),
            "file: choices[0].plan.comm_blocks: \"8\", expected a whole number from 1 to 4096");
  EXPECT_EQ(refusal(replaced(one_choice(), "\"priority\":true", "\"urgency\":true")).rfind("file: choices[0].plan.\"urgency\"", 0),
            0U);
  EXPECT_EQ(refusal(replaced(one_choice(), "\"scheme\":\"tuned\"", "\"scheme\":\"magic\"")),
            "file: choices[0].scheme: \"magic\", expected a scheme");
  EXPECT_EQ(refusal(replaced(one_choice(), "2^29 B", "much")),
            "file: choices[0].key.collective_class: \"much\", expected \"2^29 B\"");
  EXPECT_EQ(refusal(replaced(one_choice(), "12.0 % less", "12.0 %\\nless")).rfind("file: choices[0].reason: ", 0), 0U);
  EXPECT_EQ(refusal(R"({"schema": "elbowroom.profile/1", "choices": [7]})"), "file: choices[0]: 7, expected an object");
}

TEST(ProfileKey, DiffersWithEveryMember) {
  const std::string base = to_string(choice(29).key);
  const auto differs = [&](auto change) {
    ProfileKey key = choice(29).key;
    change(key);
    return to_string(key) != base;
  };
  EXPECT_TRUE(differs([](ProfileKey& key) { key.surroundings.provenance = Provenance::simulated; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { key.surroundings.device = "h100"; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { key.surroundings.driver = "570"; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { key.surroundings.comm_library = CommLibrary{"nccl", "2.27"}; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { key.ranks = 4; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { pair_of(key).pattern = Pattern::pair; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { pair_of(key).compute = NamedKernel{}; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { pair_of(key).compute_class.exponent = 31; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { pair_of(key).collective.cluster = 1; }));
  EXPECT_TRUE(differs([](ProfileKey& key) { pair_of(key).collective_class.exponent = 28; }));
}

TEST(ProfileKey, GivesBackTheBlockThatItNames) {
  Scenario scenario;
  scenario.compute = Elementwise{};
  const KernelFootprint block{Threads(256), Registers(40), Bytes(1024), Bytes(49152), 2};
  EXPECT_EQ(footprint_of(profile_key(scenario, block, {})), block);
  EXPECT_FALSE(product_of(profile_key(scenario, block, {})));
  EXPECT_EQ(parse_kernel("256x40 1024+49152 2"), KernelKey(block));
  EXPECT_EQ(parse_kernel("library_gemm bf16"), KernelKey(NamedKernel{KernelKind::library_gemm, DataType::bf16}));
  EXPECT_EQ(parse_kernel("elementwise"), KernelKey(NamedKernel{KernelKind::elementwise, std::nullopt}));
  for (const char* other : {"", "library_gemm f64", "library_gemm  bf16", "256x32", "256x32 0+0", "256x32 0+0 0", "256x32 0+0 65",
                            "256x32 0+0 1 ", "256x32 0+-1 1", "256x 0+0 1", "256x32 0 0 1", "256x99999999999 0+0 1"}) {
    EXPECT_FALSE(parse_kernel(other)) << other;
  }
}

TEST(ProfileKey, GivesBackTheProductsThatItNames) {
  Scenario scenario;
  scenario.compute = LibraryGemm{8192, 8192, 8192, DataType::bf16};
  const ProfileKey key = profile_key(scenario, std::nullopt, {});
  EXPECT_EQ(product_of(key), (ProductClass{DataType::bf16, 40}));  // 2 x 8192^3 = 2^40
  EXPECT_FALSE(footprint_of(key));
  scenario.compute = LibraryGemm{4096, 4096, 4095, DataType::f32};
  EXPECT_EQ(product_of(profile_key(scenario, std::nullopt, {})), (ProductClass{DataType::f32, 36}));
  scenario.compute = LibraryGemm{8192, 8192, 8192, DataType::f16};
  const ProfileKey half = profile_key(scenario, std::nullopt, {});
  EXPECT_EQ(in_words(pair_of(half).compute), "library_gemm f16");
  EXPECT_FALSE(product_of(half)) << "run tells no such product from others";
  ProfileKey other = key;
  pair_of(other).compute_class.unit = ComputeClass::Unit::bytes;
  EXPECT_FALSE(product_of(other));
  pair_of(other).compute_class = {ComputeClass::Unit::flop, 40, 12};
  EXPECT_FALSE(product_of(other));
  for (const char* size :
       {"", "2^", "2^40", "2^40 flops", "40 flop", "2^128 flop", "2^-1 flop", "2^040 flop", "2^40 B 2^3 blocks"}) {
    EXPECT_FALSE(parse_compute_class(size)) << size;
  }
  for (const char* collective :
       {"", "all_reduce", "all_reduce bf16 ", "all_reduce bf16 blocks", "all_reduce bf16 8", "all_gather bf16 cluster",
        "all_reduce bf16 cluster 1 8 blocks", "all_reduce f16", "broadcast bf16 root", "broadcast bf16 root 0",
        "broadcast bf16 root 1 cluster 1", "all_to_all_v bf16 shares", "all_to_all_v bf16 shares 500:500",
        "all_to_all_v bf16 shares 1:", "all_to_all_v bf16 shares 1,2"}) {
    EXPECT_FALSE(parse_collective(collective)) << collective;
  }
  for (const char* size : {"", "2^29", "2^29 flop", "29 B", "2^+29 B"}) { EXPECT_FALSE(parse_byte_class(size)) << size; }
}

TEST(ProfileKey, TellsRootsAndSharesApart) {
  Scenario scenario;
  scenario.gpus = 4;
  scenario.compute = LibraryGemm{8192, 8192, 8192, DataType::bf16};
  scenario.collective = {CollectiveOp::broadcast, mebibytes(512), DataType::bf16, std::nullopt, std::nullopt};
  const ProfileKey first = profile_key(scenario, std::nullopt, {});
  EXPECT_EQ(in_words(pair_of(first).collective), "broadcast bf16");  // as profiles of versions without roots say it
  scenario.collective.root = 0;
  EXPECT_EQ(profile_key(scenario, std::nullopt, {}), first);
  scenario.collective.root = 3;
  const ProfileKey third = profile_key(scenario, std::nullopt, {});
  EXPECT_NE(third, first);
  EXPECT_EQ(in_words(pair_of(third).collective), "broadcast bf16 root 3");
  EXPECT_EQ(differences(third, first), (std::vector<std::string>{"collective broadcast bf16 root 3, stored broadcast bf16"}));

  scenario.collective.op = CollectiveOp::all_to_all_v;
  scenario.collective.root.reset();
  const auto of_shares = [&](std::vector<double> shares) {
    scenario.collective.shares = std::move(shares);
    return profile_key(scenario, std::nullopt, {});
  };
  const ProfileKey equal = of_shares({2, 2, 2, 2});
  EXPECT_EQ(in_words(pair_of(equal).collective), "all_to_all_v bf16");  // as profiles of versions without shares say it
  const ProfileKey uneven = of_shares({1, 2, 3, 2});
  EXPECT_NE(uneven, equal);
  EXPECT_EQ(in_words(pair_of(uneven).collective), "all_to_all_v bf16 shares 125:250:375:250");  // of 8
  EXPECT_EQ(of_shares({0.5, 1, 1.5, 1}), uneven) << "only their ratios count";
  EXPECT_NE(of_shares({2, 1, 3, 2}), uneven) << "who gets more matters";
}

TEST(Profile, KeepsChoicesOfDifferentSharesApart) {
  StoredChoice even = choice(29);
  pair_of(even.key).collective = *parse_collective("all_to_all_v bf16");
  StoredChoice uneven = even;
  pair_of(uneven.key).collective = *parse_collective("all_to_all_v bf16 shares 125:250:375:250");
  uneven.trials = 7;
  Profile profile;
  profile.put(even);
  profile.put(uneven);
  const Result<Profile> read = parse_profile(to_json(profile), "file");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->choices().size(), 2U);
  EXPECT_EQ(*read->find(even.key), even);
  EXPECT_EQ(*read->find(uneven.key), uneven);
}

RC_GTEST_PROP(ProfileKeyProperty, WordsGiveItsMembersBack, ()) {
  const auto below = [](int most) { return *rc::gen::inRange(0, most); };
  const auto maybe = [&](auto value) { return below(2) == 1 ? std::optional(value) : std::nullopt; };
  const KernelKey block =
      KernelFootprint{Threads(below(2000)), Registers(below(600)), Bytes(below(1 << 20)), Bytes(below(1 << 20)), 1 + below(64)};
  const KernelKey named = NamedKernel{static_cast<KernelKind>(below(3)), maybe(DataType::f32)};
  for (const KernelKey& kernel : {block, named}) { RC_ASSERT(parse_kernel(in_words(kernel)) == kernel); }
  const ComputeClass flop{ComputeClass::Unit::flop, below(128), maybe(below(128))};
  const ComputeClass bytes{ComputeClass::Unit::bytes, below(128), std::nullopt};
  for (const ComputeClass& size : {flop, bytes}) { RC_ASSERT(parse_compute_class(in_words(size)) == size); }
  CollectiveKey collective{static_cast<CollectiveOp>(below(7)), DataType::bf16, maybe(Blocks(below(4096))), maybe(below(64))};
  collective.root = maybe(1 + below(4095));
  if (below(2) == 1) { collective.shares = {below(500), 501 + below(500), below(1001)}; }
  RC_ASSERT(parse_collective(in_words(collective)) == collective);
  const ByteClass size{below(128)};
  RC_ASSERT(parse_byte_class(in_words(size)) == size);
}

TEST(ProfileKey, HoldsWhatTheEnvironmentMakesOfTheLibrary) {
  using Versions = std::vector<std::pair<std::string, std::string>>;
  const auto library = [](const Versions& versions) {
    const auto made = surroundings(Provenance::measured, "h200", versions).comm_library;
    return made ? std::optional(in_words(*made)) : std::nullopt;
  };
  EXPECT_EQ(library({{"cuda", "13.0"}, {"NCCL_DEBUG", "INFO"}, {"nccl", "2.28.9"}}), "nccl 2.28.9");
  EXPECT_EQ(library({{"NCCL_P2P_DISABLE", "1"}, {"NCCL_ALGO", "a\nb c"}, {"nccl", "2.28.9"}}),
            "nccl 2.28.9 NCCL_ALGO=a?b?c NCCL_P2P_DISABLE=1");
  EXPECT_EQ(library({{"rccl", "2.21.5"}}), "rccl 2.21.5");
  EXPECT_EQ(library({{"cuda", "13.0"}}), std::nullopt);
  EXPECT_EQ(surroundings(Provenance::measured, "h200", Versions{{"driver", "580.65"}}).driver, "580.65");
  EXPECT_EQ(surroundings(Provenance::simulated, "h200", Versions{{"simulator", "2"}, {"driver", "580.65"}}).driver, "simulator 2");
}

TEST(ProfileKey, TellsALibraryFromWhatItsEnvironmentSets) {
  EXPECT_EQ(parse_comm_library("nccl 2.28.9 NCCL_ALGO=a?b NCCL_P2P_DISABLE=1"),
            (CommLibrary{"nccl", "2.28.9", {{"NCCL_ALGO", "a?b"}, {"NCCL_P2P_DISABLE", "1"}}}));
  EXPECT_EQ(parse_comm_library("rccl"), (CommLibrary{"rccl", std::nullopt}));
  EXPECT_EQ(parse_comm_library("nccl X=1=2"), (CommLibrary{"nccl", std::nullopt, {{"X", "1=2"}}})) << "no version";
}

// A document that somebody else wrote is written again as it was.
RC_GTEST_PROP(ProfileKey, LibraryIsWrittenAsItWasRead, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::element('a', ' ', '=', '2'));
  RC_ASSERT(in_words(parse_comm_library(text)) == text);
}

TEST(Profile, KeepsWhatAChoiceWasMadeFor) {
  StoredChoice made = choice(29);
  made.made_for = CaseSize{8, 0x1p40, Bytes(536'870'912)};
  Profile profile;
  profile.put(made);
  const Result<Profile> read = parse_profile(to_json(profile), "file");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->choices().front(), made);
  const auto refused = [&](const char* from, const char* to) { return refusal(replaced(to_json(profile), from, to)); };
  EXPECT_EQ(refused("\"iterations\":8", "\"iterations\":0"),
            "file: choices[0].made_for.iterations: 0, expected a whole number from 1 to 1000000");
  EXPECT_EQ(refused("\"compute\":1099511627776.0", "\"compute\":-1"),
            "file: choices[0].made_for.compute: -1, expected a number of flop or bytes above 0");
}

TEST(CaseSize, IsAlikeWhereTheBalanceIs) {
  Scenario scenario;
  scenario.iterations = 8;
  scenario.compute = LibraryGemm{8192, 8192, 8192, DataType::bf16};
  scenario.collective.bytes = mebibytes(512);
  const CaseSize size = case_size(scenario);
  EXPECT_EQ(size, (CaseSize{8, 0x1p40, mebibytes(512)}));
  EXPECT_TRUE(alike(size, {16, 0x1p40, mebibytes(512)}));
  EXPECT_TRUE(alike(size, {2, 0x1p40 * 1.8, mebibytes(900)})) << "both sides larger: 1.8 / 1.758 = 1.02";
  EXPECT_FALSE(alike(size, {8, 0x1p40 * 1.3, mebibytes(512)}));
  EXPECT_FALSE(alike({8, 0x1p40 * 1.3, mebibytes(512)}, size));
  EXPECT_FALSE(alike(size, {1, 0x1p40, mebibytes(512)})) << "nothing runs beside a single iteration's collective";
}

TEST(ProfileKey, NamesWhatDiffers) {
  const ProfileKey wanted = choice(29).key;
  EXPECT_TRUE(differences(wanted, wanted).empty());
  ProfileKey stored = choice(30).key;
  stored.surroundings.driver = "570.1";
  EXPECT_EQ(differences(wanted, stored),
            (std::vector<std::string>{"driver 580.65, stored 570.1", "size of collective 2^29 B, stored 2^30 B"}));
}

TEST(ProfileKey, OfAStepIsTheStep) {
  Step step;
  step.name = "one";
  step.operations = {compute_operation("kernel"), comm_operation("exchange", {{0, false}})};
  StoredChoice made = choice(29);
  made.key = profile_key(step, made.key.surroundings);
  Step renamed = step;
  renamed.name = "other";
  EXPECT_EQ(profile_key(renamed, made.key.surroundings), made.key);
  renamed.operations[1].after.clear();
  EXPECT_NE(profile_key(renamed, made.key.surroundings), made.key);
  EXPECT_FALSE(footprint_of(made.key));
  EXPECT_FALSE(product_of(made.key));
  EXPECT_EQ(differences(made.key, choice(29).key), std::vector<std::string>{"a step is no kernel beside a collective"});

  Profile profile;
  profile.put(made);
  const Result<Profile> read = parse_profile(to_json(profile), "file");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_NE(read->find(made.key), nullptr);
  EXPECT_EQ(*read->find(made.key), made);
}

TEST(ProfileKey, OfScenariosHoldsClassesOfSize) {
  Scenario scenario;
  scenario.compute = LibraryGemm{8192, 8192, 8192, DataType::bf16};
  scenario.collective = {CollectiveOp::all_reduce, mebibytes(512), DataType::bf16, Blocks(8), std::nullopt};
  const ProfileKey library = profile_key(scenario, std::nullopt, {});
  EXPECT_EQ(in_words(pair_of(library).compute), "library_gemm bf16");
  EXPECT_EQ(in_words(pair_of(library).compute_class), "2^40 flop");  // 2 * 2^13 * 2^13 * 2^13
  EXPECT_EQ(in_words(pair_of(library).collective), "all_reduce bf16 8 blocks");
  EXPECT_EQ(in_words(pair_of(library).collective_class), "2^29 B");

  scenario.collective.bytes = mebibytes(1023);  // up to the next power of two
  EXPECT_EQ(profile_key(scenario, std::nullopt, {}), library);
  scenario.collective.bytes = mebibytes(1024);
  EXPECT_EQ(pair_of(profile_key(scenario, std::nullopt, {})).collective_class, ByteClass{30});

  scenario.compute = TiledGemm{4096, 4096, 4096, 64, 64, 64, std::nullopt, DataType::bf16};
  const ProfileKey tiled = profile_key(scenario, KernelFootprint{Threads(256), Registers(56), Bytes(4096), Bytes(0), 1}, {});
  EXPECT_EQ(in_words(pair_of(tiled).compute), "256x56 4096+0 1");
  EXPECT_EQ(in_words(pair_of(tiled).compute_class), "2^37 flop 2^12 blocks");  // (4096 / 64)^2 blocks
}

}  // namespace
}  // namespace elbowroom
