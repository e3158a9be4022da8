#include "backend_sim/residents.hpp"

#include <algorithm>

namespace elbowroom::sim {

Residents::Residents(int sms, int lanes)
    : sms_(static_cast<std::size_t>(sms)),
      since_(sms_, 0),
      on_lane_(static_cast<std::size_t>(lanes), 0),
      first_(sms_ * on_lane_.size(), kNever),
      first_count_(first_.size(), 0),
      progress_(first_.size(), 0),
      rate_(first_.size(), 0),
      later_(first_.size()),
      fresh_(first_.size(), 0) {}

void Residents::insert_beside(std::size_t slot, const Cohort& cohort) {
  std::vector<Cohort>& later = later_[slot];
  if (cohort.end == first_[slot]) {
    first_count_[slot] += cohort.count;
    return;
  }
  if (cohort.end < first_[slot]) {
    later.push_back({first_[slot], first_count_[slot]});
    first_[slot] = cohort.end;
    first_count_[slot] = cohort.count;
    return;
  }
  const auto next = std::ranges::lower_bound(later, cohort.end, std::ranges::greater(), &Cohort::end);
  if (next != later.end() && next->end == cohort.end) {
    next->count += cohort.count;
  } else {
    later.insert(next, cohort);
  }
}

// For the compiler to make vectors of: no branch. Where nothing is resident the end is kNever by itself.
void Residents::set_lane(std::size_t lane, double now, double* __restrict next) {
  const double* const since = since_.data();
  const double* const fresh = fresh_.data() + lane * sms_;
  const double* const first = first_.data() + lane * sms_;
  double* const __restrict progress = progress_.data() + lane * sms_;
  double* const __restrict rate = rate_.data() + lane * sms_;
  for (std::size_t sm = 0; sm < sms_; ++sm) {
    const double reached = progress[sm] + (now - since[sm]) * rate[sm];
    const double end = now + (first[sm] - reached) / fresh[sm];
    progress[sm] = reached;
    rate[sm] = fresh[sm];
    next[sm] = end < next[sm] ? end : next[sm];
  }
}

}  // namespace elbowroom::sim
