#include "objects.hpp"

// The driver's graphs: whatever is captured, a graph is a handle that is launched.

#pragma GCC visibility push(default)
extern "C" {

int cuGraphCreate(cu::Graph* graph, unsigned) {
  *graph = reinterpret_cast<cu::Graph>(new fake::Graph);
  return 0;
}
int cuGraphInstantiateWithFlags(cu::GraphExec* exec, cu::Graph, unsigned long long flags) {
  FakeCall call = fake::named("cuGraphInstantiateWithFlags");
  call.flags = flags;
  const int injected = fake::enter(call);
  if (injected == 0) { *exec = reinterpret_cast<cu::GraphExec>(new fake::Exec); }
  return injected;
}
int cuGraphInstantiateWithParams(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  fake::reached("cuGraphInstantiateWithParams");
  return cuGraphInstantiateWithFlags(exec, graph, parameters->flags);
}
int cuGraphLaunch(cu::GraphExec exec, cu::Stream stream) {
  FakeCall call = fake::named("cuGraphLaunch");
  call.exec = exec;
  call.stream = stream;
  return fake::enter(call);
}
int cuGraphExecDestroy(cu::GraphExec) {
  fake::reached("cuGraphExecDestroy");
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
