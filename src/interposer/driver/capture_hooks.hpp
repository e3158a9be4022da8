#pragma once

#include <optional>

#include "interposer/driver/graph_priorities.hpp"
#include "interposer/driver/interposer.hpp"
#include "interposer/driver/unplaced.hpp"
#include "interposer/driver/unseen_record.hpp"

namespace elbowroom::interposer::driver {

/// Hooks of stream capture, and of the graphs that come of it or of explicit nodes. What a graph holds is read when it is
/// instantiated or an executable graph is updated from it. So no way of adding or changing its nodes needs a hook of its own.
/// `Ours` is the hook whose real function is called.
template <Driver D>
struct CaptureHooks {
  using Stream = typename D::Stream;
  using Graph = typename D::Graph;
  using GraphExec = typename D::GraphExec;

  template <auto Ours, class... Arguments>
  static int begin(DefaultStream default_stream, Stream stream, Arguments... arguments) {
    Interposer<D>* state = interposer<D>();
    if (state != nullptr) { state->core->before_capture(state->stream_id(stream, default_stream)); }
    const int result = process::call_real<Ours>(stream, arguments...);
    if (state != nullptr && result == D::kSuccess) {
      const std::uint64_t capture = state->driver.capture_of(explicit_stream<D>(stream, default_stream));
      state->core->on_capture_begin(state->stream_id(stream, default_stream), capture);
    }
    return result;
  }

  template <auto Ours, class... Arguments>
  static int end(DefaultStream default_stream, Stream stream, Arguments... arguments) {
    if (Interposer<D>* state = interposer<D>()) { state->core->on_capture_end(state->stream_id(stream, default_stream)); }
    return process::call_real<Ours>(stream, arguments...);
  }

  /// The forms without flags.
  template <auto Ours>
  static int instantiate_with_log(GraphExec* exec, Graph graph, typename D::GraphNode* error_node, char* log,
                                  std::size_t log_bytes) {
    Interposer<D>* state = interposer<D>();
    const auto with_flags = state == nullptr ? nullptr : state->driver.calls.graph_instantiate_with_flags;
    const auto takes_flags = [&] { return with_flags != nullptr; };
    return instantiate(exec, graph, 0, takes_flags, [&](bool node_priorities) {
      return node_priorities ? with_flags(exec, graph, D::kInstantiateUseNodePriority)
                             : process::call_real<Ours>(exec, graph, error_node, log, log_bytes);
    });
  }

  template <auto Ours>
  static int instantiate_with_flags(GraphExec* exec, Graph graph, unsigned long long flags) {
    return instantiate(exec, graph, flags, &always, [&](bool node_priorities) {
      const unsigned long long added = node_priorities ? D::kInstantiateUseNodePriority : 0;
      return process::call_real<Ours>(exec, graph, flags | added);
    });
  }

  template <auto Ours>
  static int instantiate_with_params(GraphExec* exec, Graph graph, typename D::GraphInstantiateParams* parameters) {
    if (parameters == nullptr) { return process::call_real<Ours>(exec, graph, parameters); }
    return instantiate(exec, graph, parameters->flags, &always, [&](bool node_priorities) {
      const std::uint64_t asked = parameters->flags;
      if (node_priorities) { parameters->flags |= D::kInstantiateUseNodePriority; }
      const int result = process::call_real<Ours>(exec, graph, parameters);
      parameters->flags = asked;
      return result;
    });
  }

  // The driver refuses an update that changes a priority with which the graph was instantiated: the new graph needs the same ones.
  template <auto Ours, class... Arguments>
  static int update(GraphExec exec, Graph graph, Arguments... arguments) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return process::call_real<Ours>(exec, graph, arguments...); }
    const process::NodePriorities priorities = state->graphs.get(exec).priorities;
    const auto call = [&] { return process::call_real<Ours>(exec, graph, arguments...); };
    const int result = with_priorities(*state, priorities, graph, call);
    if (result != D::kSuccess) { return result; }
    GraphFacts facts = read_graph(state->driver, state->rules, graph);
    facts.first_blocks = first_blocks_with(*state, priorities, graph);
    state->graphs.put(exec, facts, priorities);
    return result;
  }

  /// One child graph of an executable graph is updated from `child`, under the same rule.
  template <auto Ours, class Last>
  static int update_child(GraphExec exec, typename D::GraphNode node, Graph child, Last last) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return process::call_real<Ours>(exec, node, last); }
    const auto call = [&] { return process::call_real<Ours>(exec, node, last); };
    const int result = with_priorities(*state, state->graphs.get(exec).priorities, child, call);
    if (result == D::kSuccess) { state->graphs.add(exec, read_graph(state->driver, state->rules, child)); }
    return result;
  }

  /// One kernel node of an executable graph gets another kernel, maybe. What it was before is not asked: a graph with a collective
  /// stays one.
  template <auto Ours, class Last>
  static int update_kernel(GraphExec exec, typename D::GraphNode node, const typename D::KernelNodeParams& kernel, Last last) {
    const int result = process::call_real<Ours>(exec, node, last);
    Interposer<D>* state = result == D::kSuccess ? interposer<D>() : nullptr;
    if (state == nullptr) { return result; }
    state->graphs.add(exec, facts_of(state->driver, state->rules, kernel));
    return result;
  }

  template <auto Ours>
  static int launch(DefaultStream default_stream, GraphExec exec, Stream stream) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return process::call_real<Ours>(exec, stream); }
    const std::uint64_t now = process::now_ns();
    const StreamId id = state->stream_id(stream, default_stream);
    const process::ExecutableGraph graph = state->graphs.begin_launch(exec);
    const GraphFacts& facts = graph.facts;
    std::optional<UnseenRecord> records;
    if (facts.records) { records.emplace(*state->core, kSomeEvent); }
    std::optional<Unplaced> waiting;  // as wait_for_host
    if (facts.waits) { waiting.emplace(*state->core); }
    const GraphStep begun = state->core->on_graph_launch(id, facts, now, graph.newest);
    const Stream named = explicit_stream<D>(stream, default_stream);
    if (graph.priorities.are_ours() && !state->graphs.priorities_left() && priority_of(state->driver, named) != 0) {
      state->graphs.leave_priorities();
    }
    if (begun.step != 0 && !state->driver.is_captured(named)) {
      state->timer.begin_step(D::place_of(begun.context), named, begun.step);
    }
    const int result = process::call_real<Ours>(exec, stream);
    // Once more: another thread may have waited for the stream in between.
    if (result == D::kSuccess && facts.waits) { state->core->on_host_dependency(id); }
    const bool elsewhere = begun.joins && state->driver.is_captured(named);  // in a capture that is not followed
    end_launch(*state, id, exec, graph, begun, result == D::kSuccess && !elsewhere);
    state->timer.poll(now);  // a program of graphs alone has no other launch that would ask
    return result;
  }

  /// Nothing of the graph runs, and yet it is behind the launches before.
  template <auto Ours>
  static int upload(DefaultStream default_stream, GraphExec exec, Stream stream) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return process::call_real<Ours>(exec, stream); }
    const StreamId id = state->stream_id(stream, default_stream);
    const process::ExecutableGraph graph = state->graphs.begin_launch(exec);
    const GraphStep ready = state->core->on_graph_upload(id, graph.newest);
    const int result = process::call_real<Ours>(exec, stream);
    end_launch(*state, id, exec, graph, ready, result == D::kSuccess);
    return result;
  }

  template <auto Ours>
  static int destroy(GraphExec exec) {
    if (Interposer<D>* state = interposer<D>()) { state->graphs.remove(exec); }
    return process::call_real<Ours>(exec);
  }

 private:
  template <class Call>
  static int with_priorities(Interposer<D>& state, const process::NodePriorities& priorities, Graph graph, Call&& call) {
    const CollectivesFirst<D> first(state.driver, graph, priorities.ours);
    return call();
  }

  // Where the program asked for node priorities, collectives may have some, and which ones is not counted.
  static std::uint64_t first_blocks_with(Interposer<D>& state, const process::NodePriorities& priorities, Graph graph) {
    if (priorities.are_ours()) { return first_blocks(state.driver, sms_of_graphs(state.driver), graph); }
    return priorities.of_program && collectives_may_have_priorities(state.driver, graph) ? kUnknownBlocks : 0;
  }

  // While the driver launched the graph here, another thread may have launched it, and the driver has put that launch first. Or
  // another thread launched a collective on this stream, which the driver has put first. The next launch is behind it too.
  static void end_launch(Interposer<D>& state, StreamId stream, GraphExec exec, const process::ExecutableGraph& graph,
                         const GraphStep& begun, bool taken) {
    const std::uint32_t newest = begun.newest == 0 ? 0 : state.core->newest_collective();
    const bool others = state.graphs.end_launch(exec, graph, newest);
    if (others && newest != 0) { state.core->on_graph_followed(stream, newest); }
    state.core->after_graph(begun, taken);
  }

  static bool always() { return true; }

  // `make(node_priorities)` makes the graph with or without the flag that makes the priorities of its nodes count. Asked for it is
  // only where `takes_flags` says so. A driver that refuses the flag gets the program's own call.
  template <class TakesFlags, class Make>
  static int instantiate(GraphExec* exec, Graph graph, std::uint64_t flags, TakesFlags&& takes_flags, Make&& make) {
    Interposer<D>* state = interposer<D>();
    if (state == nullptr) { return make(false); }
    GraphFacts facts = read_graph(state->driver, state->rules, graph);
    process::NodePriorities priorities;
    priorities.of_program = (flags & D::kInstantiateUseNodePriority) != 0 || D::uses_node_priorities();
    int result = kNotMade;
    if (collectives_leave_needed_sms(*state, facts, graph) && takes_flags()) {
      const typename D::OwnCalls own(state->driver.calls);
      priorities.ours = first_priority(*state);
      const CollectivesFirst<D> first(state->driver, graph, priorities.ours);
      if (first.any()) { result = make(true); }
    }
    if (result != D::kSuccess) {
      priorities.ours = 0;
      facts.first_blocks = first_blocks_with(*state, priorities, graph);
      result = make(false);
    }
    if (result == D::kSuccess && exec != nullptr) { state->graphs.put(*exec, facts, priorities); }
    return result;
  }

  static constexpr int kNotMade = -1;

  // Its collectives, where they went first. Tells `facts` of their blocks.
  static bool collectives_leave_needed_sms(Interposer<D>& state, GraphFacts& facts, Graph graph) {
    const std::uint32_t sms = may_have_priorities(state, facts) ? sms_of_graphs(state.driver) : 0;
    if (sms == 0 || others_have_priorities(state.driver, graph)) { return false; }
    facts.first_blocks = first_blocks(state.driver, sms, graph);
    return facts.first_blocks + state.core->needed_sms(sms) <= sms;
  }

  // A graph that would be forgotten could not be updated later: nobody would know of its priorities.
  static bool may_have_priorities(Interposer<D>& state, const GraphFacts& facts) {
    const bool remembered = facts.collectives > 0 && facts.computes > 0 && state.graphs.may_take_priorities();
    return remembered && state.rules.policy != Policy::observe;
  }
};

}  // namespace elbowroom::interposer::driver
