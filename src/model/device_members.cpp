#include "model/device_members.hpp"

#include <array>
#include <type_traits>
#include <utility>

namespace elbowroom::detail {
namespace {

// Ranges hold what may exist in years, so that the planner's arithmetic stays within 64 bits.
constexpr NumberMember whole(const char* name, double least, double greatest) { return {name, least, greatest, true}; }
constexpr NumberMember amount(const char* name) { return {name, 1e-6, 1e12, false}; }

/// A plain number, or a quantity that counts something.
template <auto Member>
constexpr LimitMember limit(NumberMember number) {
  using Held = std::remove_cvref_t<decltype(std::declval<DeviceLimits>().*Member)>;
  return {number, [](DeviceLimits& to, std::int64_t value) { to.*Member = Held(value); },
          [](const DeviceLimits& from) {
            if constexpr (std::is_integral_v<Held>) {
              return static_cast<std::int64_t>(from.*Member);
            } else {
              return (from.*Member).count();
            }
          }};
}

constexpr std::array kLimits{
    limit<&DeviceLimits::sms>(whole("sms", 1, 10'000)),
    limit<&DeviceLimits::warp>(whole("warp", 1, 128)),
    limit<&DeviceLimits::max_threads_per_block>(whole("threads_per_block", 1, 65'536)),
    limit<&DeviceLimits::max_threads_per_sm>(whole("threads_per_sm", 1, 65'536)),
    limit<&DeviceLimits::max_blocks_per_sm>(whole("blocks_per_sm", 1, 1'024)),
    limit<&DeviceLimits::registers_per_sm>(whole("registers_per_sm", 1, 1 << 24)),
    limit<&DeviceLimits::sub_partitions>(whole("sub_partitions", 1, 64)),
    limit<&DeviceLimits::register_granule>(whole("register_granule", 1, 65'536)),
    limit<&DeviceLimits::max_registers_per_thread>(whole("registers_per_thread", 1, 65'536)),
    limit<&DeviceLimits::shared_per_sm>(whole("shared_per_sm", 1, 1 << 30)),
    limit<&DeviceLimits::shared_per_block>(whole("shared_per_block", 1, 1 << 30)),
    limit<&DeviceLimits::shared_reserved_per_block>(whole("shared_reserved_per_block", 0, 1 << 20)),
    limit<&DeviceLimits::shared_granule>(whole("shared_granule", 1, 1 << 20)),
    limit<&DeviceLimits::max_cluster>(whole("max_cluster", 1, 8)),
};

constexpr double kTflops = 1e6;  // 1 Tflop/s is 1e6 flop per microsecond
constexpr double kGigabytes = 1e3;
constexpr std::array kRates{
    RateMember{amount("f32_tflops"), amount("f32_tflops_reached"), kTflops, &DeviceRates::f32},
    RateMember{amount("bf16_tflops"), amount("bf16_tflops_reached"), kTflops, &DeviceRates::bf16},
    RateMember{amount("f16_tflops"), amount("f16_tflops_reached"), kTflops, &DeviceRates::f16, false},
    RateMember{amount("e4m3_tflops"), amount("e4m3_tflops_reached"), kTflops, &DeviceRates::e4m3, false},
    RateMember{amount("memory_gb_per_s"), amount("memory_gb_per_s_reached"), kGigabytes, &DeviceRates::memory},
    RateMember{amount("link_gb_per_s"), amount("link_gb_per_s_reached"), kGigabytes, &DeviceRates::link},
};

template <auto Member>
constexpr SpeedMember speed(NumberMember number, bool needed = true, double absent = 0) {
  using Held = std::remove_cvref_t<decltype(std::declval<SimulatedSpeeds>().*Member)>;
  return {number, [](SimulatedSpeeds& to, double value) { to.*Member = static_cast<Held>(value); },
          [](const SimulatedSpeeds& from) { return static_cast<double>(from.*Member); }, needed, absent};
}

constexpr std::array kSpeeds{
    SpeedMember{whole("memory_gib", 1, 1 << 20),
                [](SimulatedSpeeds& to, double value) { to.memory = Bytes(static_cast<std::int64_t>(value) << 30); },
                [](const SimulatedSpeeds& from) { return static_cast<double>(from.memory.count() >> 30); }},
    speed<&SimulatedSpeeds::gpcs>(whole("gpcs", 1, 1'000)),
    speed<&SimulatedSpeeds::f32_rate>(amount("f32_mflops_per_sm")),
    speed<&SimulatedSpeeds::tensor_rate>(amount("bf16_mflops_per_sm")),
    speed<&SimulatedSpeeds::f16_rate>(amount("f16_mflops_per_sm"), false),
    speed<&SimulatedSpeeds::e4m3_rate>(amount("e4m3_mflops_per_sm"), false),
    speed<&SimulatedSpeeds::memory_rate>(amount("memory_mb_per_s")),
    speed<&SimulatedSpeeds::link_rate>(amount("link_mb_per_s")),
    speed<&SimulatedSpeeds::load_latency>(amount("load_latency")),
    speed<&SimulatedSpeeds::block_time>(amount("block_us")),
    speed<&SimulatedSpeeds::comm_thread_rate>(amount("comm_thread_mb_per_s")),
    speed<&SimulatedSpeeds::comm_sm_rate>(amount("comm_sm_mb_per_s")),
    speed<&SimulatedSpeeds::comm_startup>(amount("comm_startup_us")),
    speed<&SimulatedSpeeds::one_way_blocks>(amount("one_way_blocks"), false, 1),
    speed<&SimulatedSpeeds::one_way_links>(amount("one_way_links"), false, 1),
    speed<&SimulatedSpeeds::one_way_traffic>(amount("one_way_traffic"), false, 1),
    speed<&SimulatedSpeeds::copy_rate>({"copy_mb_per_s", 0, 1e12, false}),
    speed<&SimulatedSpeeds::host>(whole("devices_per_host", 1, 10'000)),
};

}  // namespace

std::span<const LimitMember> limit_members() { return kLimits; }
std::span<const RateMember> rate_members() { return kRates; }
std::span<const SpeedMember> speed_members() { return kSpeeds; }

}  // namespace elbowroom::detail
