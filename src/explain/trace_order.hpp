#pragma once

#include <vector>

#include "explain/trace.hpp"

namespace elbowroom::explain {

/// Sorts the rows by their begin, finds what launched each and says what it is to a step. Rows of equal times have one order
/// whatever order they came in.
void put_in_order(Trace& trace);

/// Puts another part of the same process's trace behind this one; both are put in order then.
void append(Trace& trace, const Trace& part);

/// One trace for each device that has rows, in the order of the devices. A process that uses one GPU gives itself.
std::vector<Trace> per_device(Trace trace);

}  // namespace elbowroom::explain
