#pragma once

#include <string_view>

namespace elbowroom::hip {

/// Every kernel of the backend as one text of HIP's C++ that includes nothing; docs/amd.md lists the kernels. What is compiled at
/// start for the live device is what `./dev test --with-hip` compiles ahead of time.
std::string_view kernel_source();

}  // namespace elbowroom::hip
