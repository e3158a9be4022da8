#pragma once

/// The ten headers that applications use; docs/library.md says for what. They include the standard library alone, so that a program
/// that includes this one needs no vendor's toolkit. It compiles faster with the one header that it uses.
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/interop/cuda.hpp"
#include "elbowroom/interop/hip.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/residency_plan.hpp"
#include "elbowroom/runtime/cases.hpp"
#include "elbowroom/runtime/plan_parts.hpp"
#include "elbowroom/runtime/session.hpp"
#include "elbowroom/tune/profile_file.hpp"
