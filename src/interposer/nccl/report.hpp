#pragma once

#include "interposer/core/report_writer.hpp"

namespace elbowroom::interposer::nccl {

/// The member `nccl` of a process's report.
void write_report(ReportWriter& out);

}  // namespace elbowroom::interposer::nccl
