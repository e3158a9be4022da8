#pragma once

#include "interposer/cuda/driver.hpp"
#include "interposer/driver/interposer.hpp"

namespace elbowroom::interposer::cuda {

using namespace process;
using driver::id_of;
using driver::kLegacy;
using driver::kPerThread;

using Interposer = driver::Interposer<Driver>;
using StepTimer = driver::StepTimer<Driver>;

/// The process's interposer (driver::interposer).
inline Interposer* interposer() { return driver::interposer<Driver>(); }

}  // namespace elbowroom::interposer::cuda
