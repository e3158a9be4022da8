#pragma once

#include "page/reading.hpp"

namespace elbowroom::page {

/// What a step takes of the GPUs' energy and what that rests on, from the member `energy` of a run. Nothing where nobody asked.
void add_run_energy(Members& run, Document& document);

}  // namespace elbowroom::page
