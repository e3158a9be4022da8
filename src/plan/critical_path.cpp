#include "elbowroom/plan/critical_path.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "plan/program_nodes.hpp"

namespace elbowroom {

Microseconds critical_path(const Step& step, const Program& program, std::span<const Microseconds> alone) {
  struct Times {
    Microseconds begin{0};
    Microseconds end{0};
  };
  std::vector<Times> times;
  Microseconds last{0};
  for (const detail::ProgramNode& node : detail::nodes_of(program, rank_classes(step))) {
    Times own;
    for (const int before : node.after) { own.begin = std::max(own.begin, times[static_cast<std::size_t>(before)].end); }
    for (const int before : node.after_begun) { own.begin = std::max(own.begin, times[static_cast<std::size_t>(before)].begin); }
    const Launch& launch = program.launches[static_cast<std::size_t>(node.launch)];
    own.end = own.begin + alone[static_cast<std::size_t>(launch.operation)];
    last = std::max(last, own.end);
    times.push_back(own);
  }
  return last;
}

Microseconds critical_path(const Scenario& scenario, Microseconds compute, Microseconds comm) {
  const Step step = step_of(scenario);
  const Result<Program> program = lower(step, Order::concurrent, {});
  // A step of two operations that has an order, and both sides.
  if (!program) { return compute + comm; }
  return critical_path(step, *program, std::array{compute / scenario.iterations, comm / scenario.iterations});
}

}  // namespace elbowroom
