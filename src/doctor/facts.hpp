#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What `elbowroom doctor` found on this machine. A value: how it is judged stands in checks.cpp.
namespace elbowroom::doctor {

/// A library that is found at run time. Without a path it was not found, and `problem` says where it was looked for.
struct Library {
  std::optional<std::string> path = {};
  int version = 0;  ///< as the library gives it; 0: it gives none
  std::string problem = {};
};

struct Gpu {
  std::string name;
  bool mig = false;
  std::optional<int> links = {};              ///< active NVLinks; absent: the driver does not say
  std::optional<std::string> no_energy = {};  ///< why its energy counter cannot be read; absent: it can
};

/// A backend that cannot be used here, and why.
struct UnusableBackend {
  std::string name;
  std::string problem;
};

/// What the Python that programs would use has.
struct Python {
  std::string program = {};
  std::string version = {};
  std::optional<std::string> problem = {};  ///< why it could not be asked
  std::optional<std::string> torch = {};    ///< its version; absent: not installed
  std::optional<std::string> cuda = {};     ///< of PyTorch; absent: built without
  std::vector<std::string> refused = {};    ///< what of ours PyTorch has no place for, with reasons
  std::optional<std::string> jax = {};
  std::optional<std::string> nccl = {};  ///< path of the package's library
};

struct Facts {
  std::string version = {};  ///< Elbowroom's own
  bool cuda_backend = false;
  bool report_page = false;
  bool unpacks_gzip = false;
  std::optional<std::string> interposer = {};  ///< what `run` preloads
  std::string interposer_problem = {};
  bool python_hook = false;
  std::vector<UnusableBackend> unusable = {};

  std::optional<std::string> library_path = {};                    ///< LD_LIBRARY_PATH as it was given; absent: not set
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< variables of NCCL's in the environment

  bool nvidia_devices = false;  ///< /dev/nvidiactl is there
  Library driver = {};          ///< libcuda.so.1; version 13000 is CUDA 13.0
  std::string driver_release = {};
  std::vector<Gpu> gpus = {};
  Library nccl = {};                          ///< the one that a program would get; version 22809 is 2.28.9
  std::optional<std::string> cuobjdump = {};  ///< path of NVIDIA's program
  Library cupti = {};
  bool profiling_needs_root = false;  ///< by the driver's setting
  bool is_root = false;
  bool mps = false;
  bool one_connection = false;  ///< CUDA_DEVICE_MAX_CONNECTIONS is 1
  std::string timed_by = {};    ///< the variable by which PyTorch records events with a time behind collectives; "": it does not

  std::optional<std::uint64_t> shared_memory = {};  ///< bytes free in /dev/shm; absent: not there
  std::optional<std::string> cache_problem = {};    ///< why nothing can be kept in the folder of what auto chose
  std::string cache = {};
  std::vector<std::string> launchers = {};
  Python python = {};
};

}  // namespace elbowroom::doctor
