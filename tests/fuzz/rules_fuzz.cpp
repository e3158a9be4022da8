#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "run/rules.hpp"

namespace {

using namespace elbowroom::run;

// What hooks and core rely on.
const char* broken(const Rules& rules) {
  if (rules.cap_count > kMostCaps || rules.footprint_count > kMostFootprints) { return "more caps than fit"; }
  if (rules.product_count > kMostProducts || rules.device_count > kMostDevices) { return "more rules than fit"; }
  const DeviceNames known = (kEveryDevice << (rules.device_count + 1)) - 1;
  for (std::size_t i = 0; i < rules.footprint_count; ++i) {
    const FootprintRule& rule = rules.footprints[i];
    if (rule.blocks_per_sm == 0 || rule.cluster == 0) { return "a cap of nothing"; }
    if ((rule.on & known) == 0) { return "a cap for no device"; }
  }
  for (std::size_t i = 0; i < rules.product_count; ++i) {
    const ProductRule& rule = rules.products[i];
    if (rules.target_of(rule.product, rule.on) == 0) { return "a product without target on its own device"; }
  }
  for (std::size_t i = 0; i < rules.device_count; ++i) {
    const std::string name = std::string("NVIDIA ") + rules.device_names[i].data() + "-SXM";
    if ((rules.names_of(name.c_str()) & (kEveryDevice << (i + 1))) == 0) { return "a device that has not its own name"; }
  }
  Rules again;
  if (parse_rules(rules_text(rules), again) != 0 || again != rules) { return "rules that their own text does not say"; }
  return nullptr;
}

}  // namespace

// parse_rules stays within its text and its tables, every rule that it took can act, and its text says the same rules.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Rules rules;
  (void)parse_rules({reinterpret_cast<const char*>(data), size}, rules);
  if (const char* what = broken(rules)) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
  }
  return 0;
}
