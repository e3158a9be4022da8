#include "objects.hpp"

// The driver's graphs.

namespace {

constexpr int kInvalidValue = 1;

void count_priorities(fake::Graph& graph, bool node_priorities) {
  for (fake::Node* node : graph.nodes) {
    node->counted = node_priorities ? node->priority : 0;
    if (node->child != nullptr) { count_priorities(*node->child, node_priorities); }
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int fake_counted_priority(cu::GraphNode node) { return fake::object<fake::Node>(node)->counted; }

int cuGraphCreate(cu::Graph* graph, unsigned) {
  *graph = reinterpret_cast<cu::Graph>(new fake::Graph);
  return 0;
}
int cuGraphAddKernelNode_v2(cu::GraphNode* node, cu::Graph graph, const cu::GraphNode* dependencies, std::size_t count,
                            const cu::KernelNodeParamsV2* parameters) {
  auto* made = new fake::Node;
  made->kernel = *parameters;
  auto* known = fake::object<fake::Graph>(graph);
  for (std::size_t i = 0; i < count; ++i) { known->edges.emplace_back(fake::object<fake::Node>(dependencies[i]), made); }
  known->nodes.push_back(made);
  *node = reinterpret_cast<cu::GraphNode>(made);
  return 0;
}
int cuGraphAddChildGraphNode(cu::GraphNode* node, cu::Graph graph, const cu::GraphNode*, std::size_t, cu::Graph child) {
  auto* made = new fake::Node;
  made->type = cu::kGraphNodeChild;
  made->child = fake::object<fake::Graph>(child);
  fake::object<fake::Graph>(graph)->nodes.push_back(made);
  *node = reinterpret_cast<cu::GraphNode>(made);
  return 0;
}
int cuGraphAddHostNode(cu::GraphNode* node, cu::Graph graph, const cu::GraphNode*, std::size_t, const void*) {
  auto* made = new fake::Node;
  made->type = cu::kGraphNodeHost;
  fake::object<fake::Graph>(graph)->nodes.push_back(made);
  *node = reinterpret_cast<cu::GraphNode>(made);
  return 0;
}
int cuGraphGetNodes(cu::Graph graph, cu::GraphNode* nodes, std::size_t* count) {
  const auto* known = fake::object<fake::Graph>(graph);
  if (known == nullptr) { return kInvalidValue; }
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) { nodes[i] = reinterpret_cast<cu::GraphNode>(known->nodes[i]); }
  }
  *count = known->nodes.size();
  return 0;
}
int cuGraphGetEdges(cu::Graph graph, cu::GraphNode* from, cu::GraphNode* to, std::size_t* count) {
  const auto& edges = fake::object<fake::Graph>(graph)->edges;
  for (std::size_t i = 0; from != nullptr && i < *count; ++i) {
    from[i] = reinterpret_cast<cu::GraphNode>(edges[i].first);
    to[i] = reinterpret_cast<cu::GraphNode>(edges[i].second);
  }
  *count = edges.size();
  return 0;
}
int cuGraphNodeGetType(cu::GraphNode node, int* type) {
  *type = fake::object<fake::Node>(node)->type;
  return 0;
}
int cuGraphChildGraphNodeGetGraph(cu::GraphNode node, cu::Graph* graph) {
  *graph = reinterpret_cast<cu::Graph>(fake::object<fake::Node>(node)->child);
  return 0;
}
// Of a node that got no kernel it says nothing.
int cuGraphKernelNodeGetParams_v2(cu::GraphNode node, cu::KernelNodeParamsV2* parameters) {
  *parameters = fake::object<fake::Node>(node)->kernel;
  return parameters->v1.function == nullptr && parameters->kernel == nullptr ? kInvalidValue : 0;
}
int cuGraphKernelNodeSetAttribute(cu::GraphNode node, int attribute, const cu::LaunchAttributeValue* value) {
  if (attribute != cu::kLaunchPriority) { return kInvalidValue; }
  fake::object<fake::Node>(node)->priority = value->priority;
  return 0;
}
int cuGraphKernelNodeGetAttribute(cu::GraphNode node, int attribute, cu::LaunchAttributeValue* value) {
  if (attribute != cu::kLaunchPriority) { return kInvalidValue; }
  value->priority = fake::object<fake::Node>(node)->priority;
  return 0;
}
int cuGraphInstantiateWithFlags(cu::GraphExec* exec, cu::Graph graph, unsigned long long flags) {
  FakeCall call = fake::named("cuGraphInstantiateWithFlags");
  call.flags = flags;
  const int injected = fake::enter(call);
  if (injected != 0) { return injected; }
  auto* made = new fake::Exec;
  made->graph = fake::object<fake::Graph>(graph);
  made->node_priorities = (flags & cu::kInstantiateUseNodePriority) != 0;
  count_priorities(*made->graph, made->node_priorities);
  *exec = reinterpret_cast<cu::GraphExec>(made);
  return 0;
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
