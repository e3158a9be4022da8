#pragma once

#include "run/rules.hpp"

/// What the user asked for: the words of the protocol with `elbowroom run`, which every room of the interposer uses.
namespace elbowroom::interposer {

using run::CapRule;
using run::DeviceNames;
using run::FootprintRule;
using run::kAnyName;
using run::kEveryDevice;
using run::Policy;
using run::Product;
using run::ProductRule;
using run::ProductType;
using run::Rules;

}  // namespace elbowroom::interposer
