#pragma once

#include <cstddef>
#include <cstdint>

#include "interposer/cuda/driver_abi.hpp"

namespace elbowroom::interposer::cuda {

/// The driver functions that the interposer calls for itself; a null one is missing in this driver, and what needs it is left out.
/// They never pass a hook.
struct DriverCalls {
  int (*ctx_get_current)(cu::Context*);
  int (*ctx_push_current)(cu::Context);
  int (*ctx_pop_current)(cu::Context*);
  int (*ctx_get_device)(cu::Device*);
  int (*ctx_get_id)(cu::Context, unsigned long long* id);
  int (*ctx_get_dev_resource)(cu::Context, cu::DeviceResource*, int type);
  int (*ctx_from_green_ctx)(cu::Context*, cu::GreenContext);
  int (*ctx_get_stream_priority_range)(int* least, int* greatest);
  int (*device_get_attribute)(int*, int attribute, cu::Device);
  int (*device_get_name)(char* name, int length, cu::Device);
  int (*device_get_bus_id)(char* text, int length, cu::Device);
  int (*pointer_get_attributes)(unsigned count, const int* attributes, void** values, cu::DevicePointer);
  int (*stream_get_ctx)(cu::Stream, cu::Context*);
  int (*stream_get_flags)(cu::Stream, unsigned*);
  int (*stream_get_priority)(cu::Stream, int*);
  int (*stream_wait_event)(cu::Stream, cu::Event, unsigned flags);
  int (*stream_is_capturing)(cu::Stream, int* status);
  int (*stream_get_capture_info)(cu::Stream, int* status, std::uint64_t* capture);
  int (*event_create)(cu::Event*, unsigned flags);
  int (*event_destroy)(cu::Event);
  int (*event_record)(cu::Event, cu::Stream);
  int (*primary_ctx_get_state)(cu::Device, unsigned* flags, int* active);
  int (*primary_ctx_retain)(cu::Context*, cu::Device);
  int (*primary_ctx_release)(cu::Device);
  int (*event_query)(cu::Event);
  int (*event_elapsed_time)(float* milliseconds, cu::Event begin, cu::Event end);
  int (*func_get_attribute)(int*, int attribute, cu::Function);
  int (*func_set_attribute)(cu::Function, int attribute, int value);
  int (*func_get_name)(const char**, cu::Function);
  int (*func_is_loaded)(int* state, cu::Function);
  int (*kernel_get_function)(cu::Function*, cu::Kernel);
  int (*occupancy)(int* blocks, cu::Function, int threads, std::size_t dynamic_shared);
  int (*launch_kernel_ex)(const cu::LaunchConfig*, cu::Function, void** parameters, void** extra);
  int (*exchange_capture_mode)(int* mode);
  int (*graph_get_nodes)(cu::Graph, cu::GraphNode*, std::size_t*);
  int (*graph_get_edges)(cu::Graph, cu::GraphNode* from, cu::GraphNode* to, std::size_t*);
  int (*graph_node_get_type)(cu::GraphNode, int*);
  int (*graph_child_graph)(cu::GraphNode, cu::Graph*);
  int (*graph_kernel_node_get_params)(cu::GraphNode, cu::KernelNodeParamsV2*);
  int (*graph_kernel_node_get_attribute)(cu::GraphNode, int attribute, cu::LaunchAttributeValue*);
  int (*graph_kernel_node_set_attribute)(cu::GraphNode, int attribute, const cu::LaunchAttributeValue*);
  int (*graph_instantiate_with_flags)(cu::GraphExec*, cu::Graph, unsigned long long flags);

  /// Looks them all up in the loaded driver.
  static DriverCalls find();
};

/// `function` itself, or the function of the current context where it is a CUkernel, which most calls refuse.
cu::Function plain_function(const DriverCalls& driver, cu::Function function);

}  // namespace elbowroom::interposer::cuda
