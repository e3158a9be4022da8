#include "elbowroom/plan/critical_path.hpp"

#include <algorithm>

namespace elbowroom {

Microseconds critical_path(Pattern pattern, int iterations, Microseconds compute, Microseconds comm) {
  switch (pattern) {
    case Pattern::pipeline:
      return std::max(compute + comm / iterations, compute / iterations + comm);
    case Pattern::pair:
      return std::max(compute, comm);
  }
  return compute + comm;
}

}  // namespace elbowroom
