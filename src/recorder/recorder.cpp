#include "recorder/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "recorder/activity.hpp"
#include "recorder/buffers.hpp"
#include "recorder/clocks.hpp"
#include "recorder/schedule.hpp"
#include "recorder/trace_text.hpp"
#include "run/recording.hpp"

namespace elbowroom::recorder {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kAnotherProfiler =
    "another profiler was under way in this process: its GPU events since then are lost, and nothing more is recorded";

Buffers& buffers() {
  static auto* const shared = new Buffers;  // for good: CUPTI calls while the process ends
  return *shared;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* greatest_records) {
  *buffer = buffers().take();
  *size = *buffer == nullptr ? 0 : Buffers::kBytes;
  *greatest_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  buffers().hand_over(buffer, valid);
}

Time now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<Time>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

/// On the system's clock: waiting on the steady one needs glibc 2.30.
std::chrono::system_clock::time_point after(milliseconds time) { return std::chrono::system_clock::now() + time; }

std::optional<std::uint64_t> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) { return std::nullopt; }
  const std::string_view digits = text;
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && rest == digits.data() + digits.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// The first of these that is a number.
std::optional<int> first_number(std::initializer_list<const char*> variables) {
  for (const char* variable : variables) {
    if (const auto number = number_in(variable); number && *number < 1'000'000) { return static_cast<int>(*number); }
  }
  return std::nullopt;
}

/// What the clocks of all processes of one machine have in common.
std::string clock_name() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/sys/kernel/random/boot_id", "re"), &std::fclose);
  std::array<char, 64> text{};
  if (file == nullptr || std::fgets(text.data(), static_cast<int>(text.size()), file.get()) == nullptr) { return ""; }
  const std::string_view line = text.data();
  return std::string(line.substr(0, line.find('\n')));
}

class Recorder {
 public:
  explicit Recorder(Settings settings)
      : folder_(std::move(settings.folder)), schedule_(limits_of(settings), settings.command_begin, now()), reader_(cupti_) {}

  void run() {
    while (!over_) { step(); }
    const std::scoped_lock lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  /// The process ends: what was recorded is written first, and a CUPTI that hangs holds up nobody for long.
  void end() {
    if (getpid() != process_) { return; }
    std::unique_lock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
    changed_.wait_until(lock, after(std::chrono::seconds(20)), [this] { return done_; });
  }

 private:
  static Limits limits_of(const Settings& settings) {
    Limits limits;
    limits.after = settings.after;
    return limits;
  }

  void step() {
    const bool ending = wait();
    if (ending) {
      if (recording_.size() > 0 || active_) { finish(); }
      over_ = true;
      return;
    }
    if (!begun_ && devices_in_use() > 1) { begin_early(); }
    if (leaving_) { return leave(); }
    if (active_) { collect(); }
    if (active_ && buffers().foreign()) {
      give_up(kAnotherProfiler);
      return leave();
    }
    const Repetition repetition = active_ ? repetition_of(recording_.kernels) : Repetition();
    switch (schedule_.next(now(), announced(), repetition, recording_.size())) {
      case Action::wait:
        break;
      case Action::start:
        start();
        break;
      case Action::discard:
        leave();
        forget();
        reader_.forget();
        break;
      case Action::announce:
        announce();
        break;
      case Action::finish:
        stop();
        finish();
        over_ = !leaving_;
        break;
    }
  }

  /// True: the process ends.
  bool wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, after(milliseconds(200)), [this] { return ending_; });
    return ending_;
  }

  /// CUPTI's first call waits for every device that the process uses, and holds up its launches. A collective that is under way on
  /// one device and not launched on another then never ends. So the call comes before the first collective: NCCL takes longer to
  /// begin than this thread to look again.
  void begin_early() {
    begun_ = true;
    if (load(cupti_).empty()) { static_cast<void>(cupti_.flush_all(0)); }
  }

  void start() {
    if (!registered_) {
      if (const std::string problem = load(cupti_); !problem.empty()) { return give_up(problem); }
      begun_ = true;
      if (cupti_.register_callbacks(give_buffer, take_buffer) != CUPTI_SUCCESS) {
        return give_up("CUPTI takes no callbacks: cuptiActivityRegisterCallbacks failed");
      }
      registered_ = true;
      // Behind the handlers of libraries that were loaded before: this one is called while they still work.
      std::atexit([] { instance()->end(); });
      // Nothing is switched on yet: a buffer that comes now is another profiler's.
      static_cast<void>(cupti_.flush_all(0));
      if (buffers().foreign()) { return give_up(kAnotherProfiler); }
    }
    for (const CUpti_ActivityKind kind : kRecorded) {
      const CUptiResult code = cupti_.enable(kind);
      if (code != CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        return give_up("CUPTI records no kernels: cuptiActivityEnable failed with code " + std::to_string(code));
      }
    }
    active_ = true;
  }

  /// Reads what CUPTI hands out. Buffers with records that are not complete yet stay with it.
  void collect(std::uint32_t flags = 0) {
    static_cast<void>(cupti_.flush_all(flags));
    ours_ = buffers().new_requests() > 0;
    for (const Buffers::Full& buffer : buffers().full()) {
      if (active_) { reader_.read(buffer.data, buffer.valid, recording_); }
      buffers().give_back(buffer.data);
    }
    if (active_ && flags == 0) { read_clocks(); }
  }

  /// Of the devices that have run kernels in this recording.
  void read_clocks() {
    const std::vector<Kernel>& kernels = recording_.kernels;
    for (; looked_for_devices_ < kernels.size(); ++looked_for_devices_) { clocked_.insert(kernels[looked_for_devices_].device); }
    for (const std::uint32_t device : clocked_) {
      if (const auto reading = clocks_.read(device, now())) { recording_.clocks.push_back(*reading); }
    }
  }

  void forget() {
    recording_ = {};
    clocked_.clear();
    looked_for_devices_ = 0;
  }

  /// Switches the records off where CUPTI has just asked this recorder for a buffer. Otherwise the program's own profiler may have
  /// taken its place, and would miss them.
  void leave() {
    leaving_ = true;
    active_ = false;
    collect();
    if (!ours_) { return; }
    for (const CUpti_ActivityKind kind : kRecorded) { static_cast<void>(cupti_.disable(kind)); }
    leaving_ = false;
    over_ = given_up_ || schedule_.over();
  }

  /// The same at the end of a recording: what is under way is waited for.
  void stop() {
    for (int tries = 0; !ours_ && tries < 15; ++tries) {
      std::this_thread::sleep_for(milliseconds(200));
      collect();
    }
    if (!ours_) {
      leaving_ = true;
      return;
    }
    for (const CUpti_ActivityKind kind : kRecorded) { static_cast<void>(cupti_.disable(kind)); }
    std::this_thread::sleep_for(milliseconds(300));
  }

  void finish() {
    collect(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    active_ = false;
    if (recording_.kernels.empty()) {
      if (!schedule_.looking()) { note("no kernel ran while it was recorded"); }
      return;
    }
    write();
    forget();
  }

  void write() const {
    Header header;
    header.rank = first_number({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "ELBOWROOM_RANK"});
    // Lightning numbers the ranks of each host, those of the first host as they are in the job.
    if (!header.rank && first_number({"NODE_RANK"}) == 0) { header.rank = first_number({"LOCAL_RANK"}); }
    header.world_size = first_number({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "ELBOWROOM_RANKS"});
    header.clock = clock_name();
    header.process = static_cast<std::uint32_t>(process_);
    std::set<std::uint32_t> devices;
    for (const Kernel& kernel : recording_.kernels) { devices.insert(kernel.device); }
    for (const std::uint32_t device : devices) { header.devices.push_back(driver_device(static_cast<int>(device))); }
    const std::string path = base_name(header.rank) + ".json";
    const std::string part = path + ".part";
    const std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(part.c_str(), "wxe"), &std::fclose);
    if (file == nullptr) { return; }
    bool whole = true;
    write_trace(recording_, header, [&](std::string_view text) {
      whole = whole && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
    });
    whole = whole && std::fflush(file.get()) == 0;
    if (!whole || std::rename(part.c_str(), path.c_str()) != 0) { note("the recording could not be written"); }
    if (recording_.dropped > 0) { note("records were lost in the recording: CUPTI had no room for them"); }
  }

  [[nodiscard]] std::string base_name(const std::optional<int>& rank) const {
    const std::string process = std::to_string(process_);
    return folder_ + (rank ? "/rank" + std::to_string(*rank) + "-" + process : "/process-" + process);
  }

  void note(std::string_view line) const {
    const std::string path = folder_ + "/" + std::to_string(process_) + run::kNoteSuffix;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"), &std::fclose);
    if (file != nullptr) { std::fprintf(file.get(), "%.*s\n", static_cast<int>(line.size()), line.data()); }
  }

  void give_up(std::string_view why) {
    note(why);
    buffers().close();
    forget();
    given_up_ = true;
    over_ = !active_;
  }

  [[nodiscard]] std::string announcement() const { return folder_ + "/recording"; }
  [[nodiscard]] bool announced() const { return access(announcement().c_str(), F_OK) == 0; }
  void announce() const {
    if (std::FILE* const file = std::fopen(announcement().c_str(), "ae"); file != nullptr) { std::fclose(file); }
  }

 public:
  static Recorder*& instance() {
    static Recorder* one = nullptr;
    return one;
  }

 private:
  const pid_t process_ = getpid();
  std::string folder_;
  Schedule schedule_;
  Cupti cupti_;
  ActivityReader reader_;
  Recording recording_;
  Clocks clocks_;
  std::set<std::uint32_t> clocked_;     ///< devices
  std::size_t looked_for_devices_ = 0;  ///< kernels
  bool begun_ = false;                  ///< CUPTI was called
  bool registered_ = false;
  bool active_ = false;   ///< it records
  bool leaving_ = false;  ///< it does not, and the records are still switched on
  bool ours_ = false;     ///< CUPTI has just asked for a buffer
  bool given_up_ = false;
  bool over_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  bool done_ = false;
};

}  // namespace

std::optional<Settings> settings() {
  const char* const folder = std::getenv(run::kRecordDirVariable);
  const auto begin = number_in(run::kRecordBeginVariable);
  const auto after = number_in(run::kRecordAfterVariable);
  if (folder == nullptr || *folder == '\0' || !begin || !after) { return std::nullopt; }
  return Settings{folder, *begin, *after};
}

void begin(const Settings& settings) {
  static std::once_flag once;
  std::call_once(once, [&] {
    Recorder::instance() = new Recorder(settings);  // for good: its thread is never waited for where it hangs
    const auto work = [](void*) -> void* {
      Recorder::instance()->run();
      return nullptr;
    };
    // Signals of the program are for its own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, work, nullptr) == 0) { pthread_detach(thread); }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
}

}  // namespace elbowroom::recorder
