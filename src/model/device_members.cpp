#include "model/device_members.hpp"

#include <array>

namespace elbowroom::detail {
namespace {

// Ranges hold what may exist in years, so that the planner's arithmetic stays within 64 bits.
constexpr NumberMember whole(const char* name, double least, double greatest) { return {name, least, greatest, true}; }
constexpr NumberMember amount(const char* name) { return {name, 1e-6, 1e12, false}; }

constexpr std::array kLimits{
    LimitMember{whole("sms", 1, 10'000), [](DeviceLimits& to, std::int64_t n) { to.sms = Sms(n); }},
    LimitMember{whole("warp", 1, 128), [](DeviceLimits& to, std::int64_t n) { to.warp = Threads(n); }},
    LimitMember{whole("threads_per_block", 1, 65'536),
                [](DeviceLimits& to, std::int64_t n) { to.max_threads_per_block = Threads(n); }},
    LimitMember{whole("threads_per_sm", 1, 65'536), [](DeviceLimits& to, std::int64_t n) { to.max_threads_per_sm = Threads(n); }},
    LimitMember{whole("blocks_per_sm", 1, 1'024), [](DeviceLimits& to, std::int64_t n) { to.max_blocks_per_sm = BlocksPerSm(n); }},
    LimitMember{whole("registers_per_sm", 1, 1 << 24),
                [](DeviceLimits& to, std::int64_t n) { to.registers_per_sm = Registers(n); }},
    LimitMember{whole("sub_partitions", 1, 64), [](DeviceLimits& to, std::int64_t n) { to.sub_partitions = static_cast<int>(n); }},
    LimitMember{whole("register_granule", 1, 65'536), [](DeviceLimits& to, std::int64_t n) { to.register_granule = Registers(n); }},
    LimitMember{whole("registers_per_thread", 1, 65'536),
                [](DeviceLimits& to, std::int64_t n) { to.max_registers_per_thread = Registers(n); }},
    LimitMember{whole("shared_per_sm", 1, 1 << 30), [](DeviceLimits& to, std::int64_t n) { to.shared_per_sm = Bytes(n); }},
    LimitMember{whole("shared_per_block", 1, 1 << 30), [](DeviceLimits& to, std::int64_t n) { to.shared_per_block = Bytes(n); }},
    LimitMember{whole("shared_reserved_per_block", 0, 1 << 20),
                [](DeviceLimits& to, std::int64_t n) { to.shared_reserved_per_block = Bytes(n); }},
    LimitMember{whole("shared_granule", 1, 1 << 20), [](DeviceLimits& to, std::int64_t n) { to.shared_granule = Bytes(n); }},
    LimitMember{whole("max_cluster", 1, 8), [](DeviceLimits& to, std::int64_t n) { to.max_cluster = static_cast<int>(n); }},
};

constexpr double kTflops = 1e6;  // 1 Tflop/s is 1e6 flop per microsecond
constexpr double kGigabytes = 1e3;
constexpr std::array kRates{
    RateMember{amount("f32_tflops"), amount("f32_tflops_reached"), kTflops, &DeviceRates::f32},
    RateMember{amount("bf16_tflops"), amount("bf16_tflops_reached"), kTflops, &DeviceRates::bf16},
    RateMember{amount("memory_gb_per_s"), amount("memory_gb_per_s_reached"), kGigabytes, &DeviceRates::memory},
    RateMember{amount("link_gb_per_s"), amount("link_gb_per_s_reached"), kGigabytes, &DeviceRates::link},
};

constexpr std::array kSpeeds{
    SpeedMember{whole("memory_gib", 1, 1 << 20),
                [](SimulatedSpeeds& to, double value) { to.memory = Bytes(static_cast<std::int64_t>(value) << 30); }},
    SpeedMember{whole("gpcs", 1, 1'000), [](SimulatedSpeeds& to, double value) { to.gpcs = static_cast<int>(value); }},
    SpeedMember{amount("f32_mflops_per_sm"), [](SimulatedSpeeds& to, double value) { to.f32_rate = value; }},
    SpeedMember{amount("bf16_mflops_per_sm"), [](SimulatedSpeeds& to, double value) { to.tensor_rate = value; }},
    SpeedMember{amount("memory_mb_per_s"), [](SimulatedSpeeds& to, double value) { to.memory_rate = value; }},
    SpeedMember{amount("link_mb_per_s"), [](SimulatedSpeeds& to, double value) { to.link_rate = value; }},
    SpeedMember{amount("load_latency"), [](SimulatedSpeeds& to, double value) { to.load_latency = value; }},
    SpeedMember{amount("block_us"), [](SimulatedSpeeds& to, double value) { to.block_time = value; }},
    SpeedMember{amount("comm_thread_mb_per_s"), [](SimulatedSpeeds& to, double value) { to.comm_thread_rate = value; }},
    SpeedMember{amount("comm_sm_mb_per_s"), [](SimulatedSpeeds& to, double value) { to.comm_sm_rate = value; }},
    SpeedMember{amount("comm_startup_us"), [](SimulatedSpeeds& to, double value) { to.comm_startup = value; }},
    SpeedMember{{"copy_mb_per_s", 0, 1e12, false}, [](SimulatedSpeeds& to, double value) { to.copy_rate = value; }},
    SpeedMember{whole("devices_per_host", 1, 10'000), [](SimulatedSpeeds& to, double value) { to.host = static_cast<int>(value); }},
};

}  // namespace

std::span<const LimitMember> limit_members() { return kLimits; }
std::span<const RateMember> rate_members() { return kRates; }
std::span<const SpeedMember> speed_members() { return kSpeeds; }

}  // namespace elbowroom::detail
