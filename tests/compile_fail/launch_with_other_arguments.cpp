// fails: (invalid conversion|cannot convert|no viable conversion|no matching|no known conversion)
#include "elbowroom/runtime/session.hpp"

using namespace elbowroom;

Status launched(Session& session, const KernelOf<float*, int>& kernel, const Stream& stream, float* x) {
#ifdef CONTROL
  return session.launch(kernel, LaunchSize{}, stream, OverlapPlan{}, x, 7);
#else
  return session.launch(kernel, LaunchSize{}, stream, OverlapPlan{}, 7, x);
#endif
}
