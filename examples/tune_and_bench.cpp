// What a case costs, how it runs best, and that choice looked up again: all from the library. On two GPUs where they are, otherwise
// on the simulator, which says so.
#include <cstdio>
#include <cstdlib>
#include <elbowroom/experiment/cases.hpp>
#include <elbowroom/runtime/cases.hpp>
#include <elbowroom/tune/profile_file.hpp>
#include <filesystem>

namespace {

using namespace elbowroom;

int fail(const Error& error) { return std::fprintf(stderr, "%s\n", error.message.c_str()), 1; }

/// A folder that goes with the program.
struct Folder {
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "elbowroom-example-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) { path = name; }
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

}  // namespace

int main() {
  const Scenario scenario{"relu-ar",
                          2,
                          4,
                          Pattern::pipeline,
                          Elementwise{ElementwiseOp::relu, DataType::bf16, mebibytes(256)},
                          {CollectiveOp::all_reduce, mebibytes(64), DataType::bf16, std::nullopt, std::nullopt}};
  BackendRequest request;
  request.options.notice = [](std::string_view line) { std::printf("%.*s\n", static_cast<int>(line.size()), line.data()); };
  const Result<std::unique_ptr<Backend>> backend = open_for(request, {scenario});
  if (!backend) { return fail(backend.error()); }

  BenchSettings bench_settings;
  bench_settings.trials = 4;
  const Result<CaseMeasurement> measured = bench(**backend, scenario, bench_settings);
  if (!measured) { return fail(measured.error()); }
  for (const SchemeResult& result : measured->result.results) {
    std::printf("%-16s %8.1f us (%s)\n", result.scheme.c_str(), result.time.median.count(),
                (*backend)->provenance() == Provenance::measured ? "measured" : "simulated");
  }

  const Folder folder;
  const std::string profile = folder.path / "choices.profile";
  TuneSettings tune_settings;
  tune_settings.tuner.time_limit = std::chrono::seconds(10);
  tune_settings.tuner.most_candidates = 6;  // of the 24 that a search may measure
  const Result<TunedCase> tuned = tune(**backend, scenario, tune_settings, profile);
  if (!tuned) { return fail(tuned.error()); }
  std::printf("chosen: %s (%s)\n", in_words(tuned->choice.plan).c_str(), tuned->choice.reason.c_str());

  // Another program that runs this case finds the choice in the profile.
  const Result<Profile> stored = load_profile(profile);
  if (!stored) { return fail(stored.error()); }
  const StoredChoice* const found = stored->find(tuned->choice.key);
  return found != nullptr && found->plan == tuned->choice.plan ? 0 : 1;
}
