#pragma once

#include "interposer/driver/interposer.hpp"
#include "interposer/hip/driver.hpp"

namespace elbowroom::interposer::hip {

using namespace process;
using driver::id_of;
using driver::kLegacy;
using driver::kPerThread;

using Interposer = driver::Interposer<Driver>;

/// The process's interposer (driver::interposer).
inline Interposer* interposer() { return driver::interposer<Driver>(); }

}  // namespace elbowroom::interposer::hip
