#pragma once

#include "backend_gpu/comm_library.hpp"
#include "backend_gpu/handles.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom::gpu {

/// One rank of a collective, for which the library is called. What it refers to outlives it.
struct CallingRank {
  const CommLibrary& library;
  const Collective& collective;
  int ranks;
  int rank;
  const void* send;  ///< null: it sends nothing
  void* recv;        ///< null: it receives nothing
  CommHandle comm;
  StreamHandle stream;
};

// All ranks' calls of a collective stand in one group of the library. One thread drives them all, and a call outside of a group may
// wait for its peers.

/// The collective as kernels carry it out.
Status call_whole(const CallingRank& rank);
/// An all_to_all by the call that copy engines can be given, unlike sends and receives.
Status call_at_once(const CallingRank& rank);
/// An all-reduce's two halves, in place: every rank's share of the sums, then all shares.
Status call_scatter_sums(const CallingRank& rank);
Status call_gather_sums(const CallingRank& rank);

}  // namespace elbowroom::gpu
