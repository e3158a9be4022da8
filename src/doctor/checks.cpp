#include "doctor/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/dotted_version.hpp"
#include "doctor/library_path.hpp"

namespace elbowroom::doctor {
namespace {

using detail::dotted_version;

constexpr const char* kOtherPython = "call doctor with the program's Python first on PATH";
// The least versions that the parts need; docs/symmetric-memory.md and docs/run.md say what for.
constexpr int kOldestNccl = 21800;
constexpr int kSymmetricNccl = 22800;
constexpr std::uint64_t kEnoughSharedMemory = std::uint64_t{1} << 30U;

Check ok(std::string name, std::string found) { return {std::move(name), State::ok, std::move(found)}; }
Check to_do(std::string name, std::string found, std::string what) {
  return {std::move(name), State::to_do, std::move(found), std::move(what)};
}
Check absent(std::string name, std::string found, std::string what = {}) {
  return {std::move(name), State::absent, std::move(found), std::move(what)};
}

/// 13000 -> 13.0
std::string cuda_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Check program(const Facts& facts) {
  constexpr const char* what = "install a CUDA toolkit, 12.5 or later, so that nvcc is on PATH, and install Elbowroom again";
  if (facts.cuda_backend) { return ok("program", fmt::format("{}, with the CUDA backend", facts.version)); }
  std::string found = fmt::format("{}, built without nvcc: bench and tune simulate, run is complete", facts.version);
  return facts.gpus.empty() ? absent("program", std::move(found), what) : to_do("program", std::move(found), what);
}

Check report_page(const Facts& facts) {
  if (facts.report_page) { return ok("report page", "built in"); }
  return absent("report page", "built without d3: elbowroom report writes no page",
                "apt-get install node-d3, or npm's d3, and install Elbowroom again");
}

Check packed_files(const Facts& facts) {
  if (facts.unpacks_gzip) { return ok("packed files", "gzip is read"); }
  return absent("packed files", "built without zlib: explain and report read no .gz",
                "apt-get install zlib1g-dev, and install Elbowroom again");
}

Check interposer(const Facts& facts) {
  if (!facts.interposer) {
    return to_do("interposer", facts.interposer_problem, "install Elbowroom again, in a folder without blanks and colons");
  }
  if (!facts.python_hook) {
    return to_do("interposer", *facts.interposer + "; its Python part was not found beside the program",
                 "install Elbowroom again: buffers of PyTorch stay on ordinary memory without it");
  }
  return ok("interposer", *facts.interposer);
}

Check library_path(const Facts& facts) {
  if (!facts.library_path || facts.library_path->empty()) { return ok("library path", "LD_LIBRARY_PATH is not set"); }
  if (without_empty_entries(*facts.library_path) != *facts.library_path) {
    return to_do("library path",
                 fmt::format("LD_LIBRARY_PATH \"{}\" has an empty entry, which is the current folder", *facts.library_path),
                 "remove it: any program loads libraries from the folder that it is started in");
  }
  return ok("library path", *facts.library_path);
}

Check driver(const Facts& facts) {
  if (facts.driver.path && facts.driver.version > 0) {
    return ok("driver", fmt::format("{}, up to CUDA {}", facts.driver_release.empty() ? *facts.driver.path : facts.driver_release,
                                    cuda_version(facts.driver.version)));
  }
  if (facts.nvidia_devices || facts.driver.path) {
    return to_do("driver", facts.driver.problem.empty() ? "the driver's library gives no version" : facts.driver.problem,
                 "in a container: start it with --gpus all; else install the driver's libcuda.so.1");
  }
  return absent("driver", "no NVIDIA driver: bench and tune simulate");
}

Check gpus(const Facts& facts) {
  const std::size_t count = facts.gpus.size();
  if (count == 0) {
    if (facts.driver.version == 0) { return absent("GPUs", "none"); }
    return to_do("GPUs", "the driver shows none",
                 "give the process GPUs: --gpus of the container, --gres of SLURM, CUDA_VISIBLE_DEVICES");
  }
  std::string found = fmt::format("{} x {}", count, facts.gpus.front().name);
  if (std::ranges::any_of(facts.gpus, [&](const Gpu& gpu) { return gpu.name != facts.gpus.front().name; })) {
    found += " and others";
  }
  return ok("GPUs", std::move(found));
}

std::optional<Check> second_gpu(const Facts& facts) {
  if (facts.gpus.size() != 1) { return std::nullopt; }
  return absent("second GPU", "none here, and collectives need two",
                "bench and tune simulate; run acts in jobs of several hosts alone");
}

std::optional<Check> partitions(const Facts& facts) {
  const auto split = std::ranges::count_if(facts.gpus, &Gpu::mig);
  if (facts.gpus.empty()) { return std::nullopt; }
  if (split > 0) {
    return to_do(
        "MIG", fmt::format("on, on {} of {} GPUs: NCCL connects no MIG devices, counters cannot be read", split, facts.gpus.size()),
        "nvidia-smi -mig 0 as root, or GPUs without it");
  }
  return ok("MIG", "off");
}

std::optional<Check> links(const Facts& facts) {
  if (facts.gpus.size() < 2) { return std::nullopt; }
  std::optional<int> least;
  for (const Gpu& gpu : facts.gpus) {
    if (!gpu.links) { return absent("NVLink", "the driver does not say"); }
    least = std::min(least.value_or(*gpu.links), *gpu.links);
  }
  if (*least == 0) {
    return absent("NVLink", "none on at least one GPU: collectives cross PCIe or the host",
                  "expect less: figures were measured over NVLink");
  }
  return ok("NVLink", fmt::format("{} links a GPU at least", *least));
}

Check mps(const Facts& facts) {
  if (!facts.mps) { return ok("MPS", "not running"); }
  return to_do("MPS", "its server is running: priorities and SM shares are the server's",
               "stop it: echo quit | nvidia-cuda-mps-control; nothing was measured beside it");
}

Check nccl(const Facts& facts) {
  constexpr const char* get = "pip install nvidia-nccl-cu13 (or -cu12), or set ELBOWROOM_NCCL_LIBRARY to its path";
  if (!facts.nccl.path) {
    return facts.gpus.empty() ? absent("NCCL", facts.nccl.problem, get) : to_do("NCCL", facts.nccl.problem, get);
  }
  if (facts.nccl.version == 0) { return to_do("NCCL", facts.nccl.problem, get); }
  const std::string found = fmt::format("{} ({})", dotted_version(facts.nccl.version), *facts.nccl.path);
  if (facts.nccl.version < kOldestNccl) {
    return to_do("NCCL", found + " is older than " + dotted_version(kOldestNccl), "install a newer one; 2.28.9 was measured");
  }
  if (facts.nccl.version < kSymmetricNccl) {
    return to_do("NCCL", found + ": no symmetric memory and no copy engines before 2.28",
                 "install 2.28 or later; 2.28.9 was measured");
  }
  return ok("NCCL", found);
}

std::optional<Check> settings(const Facts& facts) {
  if (facts.settings.empty()) { return std::nullopt; }
  std::string given;
  for (const auto& [name, value] : facts.settings) { given += fmt::format("{}{}={}", given.empty() ? "" : " ", name, value); }
  return ok("NCCL's variables", given + ": what you set stays");
}

// Such an event holds up what is launched later on any stream (findings/one_queue_timed_event_holds_others_up.sh).
std::optional<Check> connections(const Facts& facts) {
  if (!facts.one_connection) { return std::nullopt; }
  const std::string found = "CUDA_DEVICE_MAX_CONNECTIONS=1: an event with a time holds up what is launched later, on any stream";
  if (facts.timed_by.empty()) { return ok("connections", found); }
  return to_do("connections", fmt::format("{}; {} puts one behind each collective", found, facts.timed_by),
               "unset " + facts.timed_by);
}

Check torch(const Python& python) {
  const std::string who = python.program.empty() ? "python3" : python.program;
  if (python.problem) { return absent("PyTorch", fmt::format("{}: {}", who, *python.problem), kOtherPython); }
  if (!python.torch) { return absent("PyTorch", fmt::format("not installed in {} ({})", who, python.version), kOtherPython); }
  const std::string found = fmt::format("{}, {}, in {}", *python.torch, python.cuda ? "CUDA " + *python.cuda : "without CUDA", who);
  if (!python.cuda) { return absent("PyTorch", found); }
  if (python.refused.empty()) { return ok("PyTorch", found + ": DDP and FSDP2 buffers can be placed"); }
  return to_do("PyTorch", fmt::format("{}: {}", found, fmt::join(python.refused, "; ")),
               "run goes on without these parts; docs/symmetric-memory.md says which PyTorch has them");
}

Check jax(const Python& python) {
  if (!python.jax) { return absent("JAX", "not installed"); }
  return ok("JAX", *python.jax);
}

Check cuobjdump(const Facts& facts) {
  if (facts.cuobjdump) { return ok("cuobjdump", *facts.cuobjdump); }
  return absent("cuobjdump", "not found: plan FILE reads no cubin and no library of NVIDIA's code",
                "pip install nvidia-cuda-cuobjdump, or give plan a log of nvcc -Xptxas -v");
}

std::optional<Check> cupti(const Facts& facts) {
  constexpr const char* get = "pip install nvidia-cuda-cupti, or set ELBOWROOM_CUPTI_LIBRARY: explain and --trace record by it";
  if (!facts.cupti.path) {
    return facts.gpus.empty() ? absent("CUPTI", facts.cupti.problem) : to_do("CUPTI", facts.cupti.problem, get);
  }
  if (facts.profiling_needs_root && !facts.is_root) {
    return ok("CUPTI", fmt::format("{}; hardware counters are root's alone, which nothing here needs", *facts.cupti.path));
  }
  return ok("CUPTI", *facts.cupti.path);
}

std::optional<Check> energy(const Facts& facts) {
  if (facts.gpus.empty()) { return std::nullopt; }
  for (const Gpu& gpu : facts.gpus) {
    if (gpu.no_energy) {
      return absent("energy counter", fmt::format("{}: {}", gpu.name, *gpu.no_energy), "run --energy says no joules");
    }
  }
  return ok("energy counter", fmt::format("readable on {}", facts.gpus.size() == 1 ? "the GPU" : "all GPUs"));
}

Check shared_memory(const Facts& facts) {
  constexpr const char* get = "start the container with --shm-size=8g or --ipc=host: NCCL and data loaders need it";
  if (!facts.shared_memory) { return to_do("/dev/shm", "not there, or not writable", get); }
  const double gibibytes = static_cast<double>(*facts.shared_memory) / static_cast<double>(std::uint64_t{1} << 30U);
  if (*facts.shared_memory < kEnoughSharedMemory) { return to_do("/dev/shm", fmt::format("{:.2f} GiB free", gibibytes), get); }
  return ok("/dev/shm", fmt::format("{:.1f} GiB free", gibibytes));
}

Check cache(const Facts& facts) {
  if (!facts.cache_problem) { return ok("cache", facts.cache); }
  return to_do(
      "cache", *facts.cache_problem,
      "set XDG_CACHE_HOME or HOME to a folder with locks that can be written; or run --no-memory, which compares anew each time");
}

Check launchers(const Facts& facts) {
  if (facts.launchers.empty()) {
    return absent("launchers", "no torchrun, mpirun or srun on PATH; elbowroom launch starts ranks of bench and tune");
  }
  return ok("launchers", fmt::format("{}", fmt::join(facts.launchers, ", ")));
}

}  // namespace

std::string_view text(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::to_do:
      return "to do";
    case State::absent:
      break;
  }
  return "absent";
}

std::vector<Check> checks_of(const Facts& facts) {
  std::vector<Check> checks;
  const auto add = [&checks](std::optional<Check> check) {
    if (check) { checks.push_back(*std::move(check)); }
  };
  add(program(facts));
  add(interposer(facts));
  add(library_path(facts));
  add(driver(facts));
  add(gpus(facts));
  add(second_gpu(facts));
  add(links(facts));
  add(partitions(facts));
  add(mps(facts));
  add(nccl(facts));
  add(settings(facts));
  add(connections(facts));
  for (const UnusableBackend& backend : facts.unusable) {
    checks.push_back(absent(fmt::format("backend {}", backend.name), backend.problem));
  }
  add(torch(facts.python));
  add(jax(facts.python));
  add(cuobjdump(facts));
  add(cupti(facts));
  add(energy(facts));
  add(shared_memory(facts));
  add(cache(facts));
  add(launchers(facts));
  add(report_page(facts));
  add(packed_files(facts));
  return checks;
}

bool has_work(const std::vector<Check>& checks) {
  return std::ranges::any_of(checks, [](const Check& check) { return check.state == State::to_do; });
}

}  // namespace elbowroom::doctor
