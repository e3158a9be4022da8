#include <dlfcn.h>

#include <string>
#include <thread>

#include "report_of.hpp"
#include "two_streams.hpp"

// A program with another preloaded library, which counts launches: each launch goes by it that goes by it without the interposer.

namespace {

int seen() { return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "shim_launches"))(); }

decltype(&cuLaunchKernel) asked() {
  void* found = nullptr;
  EXPECT(cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, 0, nullptr) == 0);
  return reinterpret_cast<decltype(&cuLaunchKernel)>(found);
}

void launch_by(decltype(&cuLaunchKernel) launch, const TwoStreams& two) {
  EXPECT(launch(two.gemm, 7, 1, 1, 32, 1, 1, 0, two.compute, nullptr, nullptr) == 0);
}

int launch_ex(const TwoStreams& two) {
  const cu::LaunchConfig config{24, 1, 1, 544, 1, 1, 0, two.comm, nullptr, 0};
  return cuLaunchKernelEx(&config, two.all_reduce, nullptr, nullptr);
}

// Its own function is the driver's, and nothing is missed by that: the gate stays.
void asks_itself() {
  const TwoStreams two;
  for (int launch = 1; launch < 4; ++launch) { EXPECT(launch_on(two.compute, two.gemm) == 0 && seen() == launch); }
  EXPECT(launch_ex(two) == 0 && launch_on(two.compute, two.gemm) == 0 && seen() == 4);
  EXPECT(fake_times_called("cuStreamWaitEvent") == 1);
}

// It has no form of its functions that takes attributes: what it sees alone it sees here, and gets nothing that needs them.
void older() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0 && seen() == 2);
  EXPECT(cuLaunchCooperativeKernel(two.all_reduce, 24, 1, 1, 544, 1, 1, 0, two.comm, nullptr) == 0 && seen() == 3);
  EXPECT(launch_on(two.compute, two.gemm) == 0 && seen() == 4);
  EXPECT(fake_times_called("cuLaunchKernelEx") == 0 && fake_times_called("cuStreamWaitEvent") == 0);
  // What goes past it anyway is as ever.
  EXPECT(launch_ex(two) == 0 && seen() == 4);
  EXPECT(attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchPriority) != nullptr);
}

void older_graph() {
  const TwoStreams two;
  cu::Graph graph = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  for (const cu::Function function : {two.all_reduce, two.gemm}) {
    cu::KernelNodeParamsV2 parameters{};
    parameters.v1 = {function, 24, 1, 1, 544, 1, 1, 0, nullptr, nullptr};
    cu::GraphNode node = nullptr;
    EXPECT(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters) == 0);
  }
  cu::GraphExec exec = nullptr;
  const auto graphs = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "shim_graphs"));
  EXPECT(cuGraphInstantiate_v2(&exec, graph, nullptr, nullptr, 0) == 0 && graphs() == 1);
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && graphs() == 1);
  EXPECT(fake_call(fake_call_count() - 1)->flags == cu::kInstantiateUseNodePriority);
}

// A cap needs no attribute.
void older_cap() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0 && seen() == 2);
  EXPECT(fake_times_called("cuLaunchKernelEx") == 0 && is_call(1, "cuLaunchKernel") && fake_call(1)->shared > 0);
}

void older_report() {
  const std::string report = report_of([] { older(); });
  EXPECT(holds(report, "cuLaunchKernel: a preloaded library has it alone, so that it gets no priority and no event"));
  EXPECT(!holds(report, "cuLaunchKernelEx: a preloaded"));
}

// The program asks the driver first and is linked as well.
void asked_past() {
  const TwoStreams two;
  const auto by_question = asked();
  const auto by_name = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuLaunchKernel"));
  launch_by(by_question, two);
  launch_by(by_name, two);
  EXPECT(seen() == 0 && fake_call_count() == 2);
  EXPECT(launch_on(two.compute, two.gemm) == 0 && seen() == 1);
  launch_by(by_question, two);
  EXPECT(seen() == 1);
  // What is launched so is not followed.
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake_times_called("cuStreamWaitEvent") == 0);
}

// It has no function but in its answers, which come late.
void answers() {
  const TwoStreams two;
  EXPECT(launch_on(two.compute, two.gemm) == 0 && seen() == 0);
  launch_by(asked(), two);
  EXPECT(seen() == 1 && fake_call_count() == 2);
}

// It has one function for both default streams, which calls what it was given last.
void answers_for_thread() {
  const TwoStreams two;
  void* found = nullptr;
  EXPECT(cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, cu::kProcAddressPerThreadDefaultStream, nullptr) == 0);
  EXPECT(found == reinterpret_cast<void*>(&cuLaunchKernel_ptsz));
  const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(found);
  EXPECT(launch(two.gemm, 7, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) == 0);
  EXPECT(seen() == 1 && is_call(0, "cuLaunchKernel_ptsz"));
  // Both forms are as old.
  EXPECT(cuGetProcAddress_v2("cuLaunchKernelEx", &found, 12000, cu::kProcAddressPerThreadDefaultStream, nullptr) == 0);
  EXPECT(found == reinterpret_cast<void*>(&cuLaunchKernelEx_ptsz));
}

// It has one function for all versions, which may be of the older form or of the newer one: who asks gets that, and who calls by
// name another.
void answers_with_one_form() {
  const TwoStreams two;
  const auto number = [](const char* name) { return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, name))(); };
  const auto address = [](const char* name) { return reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, name))(); };
  const auto answer = [](const char* name, int version) {
    void* found = nullptr;
    EXPECT(cuGetProcAddress_v2(name, &found, version, 0, nullptr) == 0);
    return found;
  };
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  const auto newer = reinterpret_cast<decltype(&cuGraphExecUpdate)>(answer("cuGraphExecUpdate", 12000));  // the shim's one form
  EXPECT(reinterpret_cast<void*>(newer) == address("shim_update"));
  EXPECT(cuGraphExecUpdate_v2(exec, graph, nullptr) == 0 && number("shim_updates") == 0);
  EXPECT(newer(exec, graph, nullptr, nullptr) == 0 && number("shim_updates") == 1);
  EXPECT(fake_times_called("cuGraphExecUpdate_v2") == 2 && fake_times_called("cuGraphExecUpdate") == 0);
  const auto older = reinterpret_cast<decltype(&cuGraphExecUpdate)>(answer("cuGraphExecUpdate", 10020));
  EXPECT(older(exec, graph, nullptr, nullptr) == 0 && number("shim_updates") == 2 && fake_times_called("cuGraphExecUpdate") == 1);
  for (const int version : {3010, 14000}) { EXPECT(answer("cuMemcpyDtoH", version) == address("shim_copy")); }
}

cu::GraphExec updated_exec = nullptr;
cu::Graph updated_graph = nullptr;
decltype(&cuGraphExecUpdate) held_update = nullptr;

// It is asked what the program asks, and nothing else: what a thread calls meanwhile is of the version that was asked for.
void asked_once() {
  const TwoStreams two;
  const auto questions = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "shim_questions"));
  const auto ask = [&](const char* name, int version) {
    void* found = nullptr;
    const int before = questions();
    EXPECT(cuGetProcAddress_v2(name, &found, version, 0, nullptr) == 0 && questions() == before + 1);
    return found;
  };
  EXPECT(cuGraphCreate(&updated_graph, 0) == 0 && cuGraphInstantiateWithFlags(&updated_exec, updated_graph, 0) == 0);
  held_update = reinterpret_cast<decltype(&cuGraphExecUpdate)>(ask("cuGraphExecUpdate", 12000));
  reinterpret_cast<void (*)(void (*)())>(dlsym(RTLD_DEFAULT, "shim_meanwhile"))(
      [] { std::thread([] { EXPECT(held_update(updated_exec, updated_graph, nullptr, nullptr) == 0); }).join(); });
  ask("cuGraphExecUpdate", 12000);
  EXPECT(fake_times_called("cuGraphExecUpdate") == 0 && fake_times_called("cuGraphExecUpdate_v2") == 1);
  EXPECT(ask("cuLaunchKernel", 12000) == reinterpret_cast<void*>(&cuLaunchKernel));
  // The driver's own, at another address than it exports.
  EXPECT(ask("cuEventQuery", 12000) == reinterpret_cast<void*>(&cuEventQuery));
}

// Which form its function is of is not known, and nothing is gated from then on.
void form_unknown() {
  const std::string report = report_of([] {
    const TwoStreams two;
    void* found = nullptr;
    EXPECT(cuGetProcAddress_v2("cuGraphExecUpdate", &found, 12000, 0, nullptr) == 0);
    EXPECT(launch_ex(two) == 0 && launch_on(two.compute, two.gemm) == 0 && fake_times_called("cuStreamWaitEvent") == 0);
  });
  EXPECT(holds(report, "cuGraphExecUpdate_v2: a preloaded library answers with one of its own, of a form that is not known"));
  EXPECT(!holds(report, "a newer form"));
}

// The program has launched the same so often that the hook looks no more.
void answers_late() {
  const TwoStreams two;
  for (int launch = 0; launch < 8; ++launch) { launch_by(&cuLaunchKernel, two); }
  EXPECT(seen() == 0 && fake_call_count() == 8);
  const auto by_question = asked();
  for (int launch = 1; launch < 4; ++launch) {
    launch_by(by_question, two);
    EXPECT(seen() == launch);
  }
  EXPECT(fake_call_count() == 11);
}

// It answers like that, and its own launches are linked: they come to the hook.
void answers_and_links() {
  const TwoStreams two;
  for (int asks = 1; asks < 3; ++asks) {
    launch_by(asked(), two);
    EXPECT(seen() == asks && launch_on(two.compute, two.gemm) == 0 && seen() == asks);
  }
  EXPECT(fake_call_count() == 4);
}

// It answers with the hook itself, and not with the form for a thread's own stream. That one goes to the driver still.
void answers_by_name() {
  const TwoStreams two;
  launch_by(asked(), two);
  EXPECT(seen() == 1 && is_call(0, "cuLaunchKernel"));
  void* found = nullptr;
  EXPECT(cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, cu::kProcAddressPerThreadDefaultStream, nullptr) == 0);
  EXPECT(found == reinterpret_cast<void*>(&cuLaunchKernel));
  launch_by(&cuLaunchKernel_ptsz, two);
  EXPECT(seen() == 1 && is_call(1, "cuLaunchKernel_ptsz") && fake_call_count() == 2);
}

constexpr Case kCases[] = {{"asks_itself", asks_itself},
                           {"asked_past", asked_past},
                           {"answers", answers},
                           {"answers_for_thread", answers_for_thread},
                           {"answers_with_one_form", answers_with_one_form},
                           {"asked_once", asked_once},
                           {"form_unknown", form_unknown},
                           {"answers_late", answers_late},
                           {"answers_and_links", answers_and_links},
                           {"answers_by_name", answers_by_name},
                           {"older", older},
                           {"older_graph", older_graph},
                           {"older_cap", older_cap},
                           {"older_report", older_report}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
