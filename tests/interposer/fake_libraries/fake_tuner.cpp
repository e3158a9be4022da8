#include <cstdlib>

#include "interposer/nccl/tuner_abi.hpp"

// A user's tuner plugin of the version FAKE_TUNER: it asks for 12 channels and has Tree/Simple (0, 2) chosen. Its context is a
// number that it checks; chunks become 2000 bytes.

namespace {

using namespace elbowroom::interposer::nccl;

[[maybe_unused]] constexpr int kFailed = 3;
int own = 0;

// A user's plugin may refuse to start; it is ended all the same.
[[maybe_unused]] int begun() { return std::getenv("FAKE_TUNER_REFUSES") != nullptr ? kFailed : 0; }

[[maybe_unused]] int init(std::size_t, std::size_t, Logger, void** context) {
  *context = &own;
  return begun();
}
[[maybe_unused]] int init_5(void** context, std::uint64_t, std::size_t, std::size_t, Logger, void*, void*) {
  *context = &own;
  return begun();
}
[[maybe_unused]] int end(void* context) {
  setenv("FAKE_TUNER_ENDED", context == &own ? "with its own" : "with another", 1);
  return context == &own ? 0 : kFailed;
}

[[maybe_unused]] int ask_2(void* context, int, std::size_t, int collnet, int nvls, int, int* algorithm, int* protocol,
                           int* channels) {
  *algorithm = 0;
  *protocol = 2;
  *channels = 12;
  return context == &own && collnet == 0 && nvls == 0 ? 0 : kFailed;
}
[[maybe_unused]] int ask_3(void* context, int, std::size_t, int, float** costs, int, int, int* channels) {
  reinterpret_cast<float*>(costs)[2] = 0.0F;
  *channels = 12;
  return context == &own ? 0 : kFailed;
}
[[maybe_unused]] int ask_4(void* context, int function, std::size_t bytes, int pipelined, float** costs, int algorithms,
                           int protocols, int, int* channels) {
  return ask_3(context, function, bytes, pipelined, costs, algorithms, protocols, channels);
}
[[maybe_unused]] int chunk_6(void* context, int, std::size_t, int, int, int, std::size_t* chunk) {
  *chunk = 2000;
  return context == &own ? 0 : kFailed;
}

}  // namespace

#if FAKE_TUNER == 2
TunerV2 ncclTunerPlugin_v2{"two", &init, &ask_2, &end};
#elif FAKE_TUNER == 3
TunerV3 ncclTunerPlugin_v3{"three", &init, &ask_3, &end};
#elif FAKE_TUNER == 4
TunerV4 ncclTunerPlugin_v4{"four", &init, &ask_4, &end};
#elif FAKE_TUNER == 5
TunerV5 ncclTunerPlugin_v5{"five", &init_5, &ask_4, &end};
#else
TunerV6 ncclTunerPlugin_v6{"six", &init_5, &ask_4, &end, &chunk_6};
#endif
