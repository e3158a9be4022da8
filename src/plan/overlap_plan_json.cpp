#include "plan/overlap_plan_json.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "model/json_fields.hpp"

namespace elbowroom::detail {
namespace {

// Bounds that no device passes; what one device takes is narrower and its backend's to say.
constexpr std::int64_t kGreatestPad = std::int64_t{1} << 20;
constexpr std::int64_t kGreatestCount = 4096;

template <class Unit>
nlohmann::ordered_json count_or_null(const std::optional<Quantity<Unit>>& value) {
  return value ? nlohmann::ordered_json(value->count()) : nlohmann::ordered_json();
}

class PlanReader {
 public:
  PlanReader(const nlohmann::json& object, const std::string& path, const std::string& source)
      : fields_(object, path + ".", source) {}

  Result<OverlapPlan> read() {
    OverlapPlan plan;
    plan.blocks_per_sm = count<BlocksPerSm>("blocks_per_sm", 1, kGreatestCount);
    plan.pad = count<Bytes>("pad_bytes", 0, kGreatestPad).value_or(Bytes(0));
    plan.priority = flag("priority");
    plan.launch_gate = flag("launch_gate");
    plan.comm_blocks = count<Blocks>("comm_blocks", 1, kGreatestCount);
    if (const auto cluster = count<Blocks>("cluster", 1, kGreatestCount)) plan.cluster = static_cast<int>(cluster->count());
    plan.sm_target = count<Sms>("sm_target", 1, kGreatestCount);
    plan.comm_threads = count<Threads>("comm_threads", 1, kGreatestCount);
    plan.carveout = count<Percent>("carveout", 0, 100);
    plan.comm_sms = count<Sms>("comm_sms", 1, kGreatestCount);
    plan.symmetric = flag("symmetric");
    plan.copy_engine = flag("copy_engine");
    plan.peer_detour = flag("peer_detour");
    plan.windows_only = flag("windows_only");
    if (Status read = fields_.finish(); !read) return read.error();
    return plan;
  }

 private:
  template <class Amount>
  std::optional<Amount> count(const char* name, std::int64_t least, std::int64_t greatest) {
    const std::optional<std::int64_t> number = fields_.optional_integer(name, least, greatest);
    return number ? std::optional(Amount(*number)) : std::nullopt;
  }

  bool flag(const char* name) {
    const nlohmann::json* value = fields_.member(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fields_.reject(name, shown(*value), "true or false");
    return value->is_boolean() && value->get<bool>();
  }

  JsonFields fields_;
};

}  // namespace

nlohmann::ordered_json plan_json(const OverlapPlan& plan) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["blocks_per_sm"] = count_or_null(plan.blocks_per_sm);
  json["pad_bytes"] = plan.pad.count();
  json["priority"] = plan.priority;
  json["launch_gate"] = plan.launch_gate;
  json["comm_blocks"] = count_or_null(plan.comm_blocks);
  json["cluster"] = plan.cluster ? nlohmann::ordered_json(*plan.cluster) : nlohmann::ordered_json();
  json["sm_target"] = count_or_null(plan.sm_target);
  json["comm_threads"] = count_or_null(plan.comm_threads);
  json["carveout"] = count_or_null(plan.carveout);
  json["comm_sms"] = count_or_null(plan.comm_sms);
  json["symmetric"] = plan.symmetric;
  json["copy_engine"] = plan.copy_engine;
  json["peer_detour"] = plan.peer_detour;
  json["windows_only"] = plan.windows_only;
  return json;
}

Result<OverlapPlan> read_plan(const nlohmann::json& object, const std::string& path, const std::string& source) {
  if (!object.is_object()) { return invalid_input(fmt::format("{}: {}: {}, expected an object", source, path, shown(object))); }
  return PlanReader(object, path, source).read();
}

}  // namespace elbowroom::detail
