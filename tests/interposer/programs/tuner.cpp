#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "driver_program.hpp"
#include "fake_nccl.hpp"

// The interposer as the tuner plugin of a stand-in for NCCL, and the user's own plugin behind it. Each question is asked in a
// process of its own, because a plugin is looked for once.

namespace {

constexpr std::size_t kBytes = 64U << 20U;

template <class Body>
void in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

// As `elbowroom run` does; `users`: what NCCL_TUNER_PLUGIN was, null where it was not there.
void set_plugins(const char* users) {
  setenv("NCCL_TUNER_PLUGIN", std::getenv("ELBOWROOM_INTERPOSER"), 1);
  setenv("NCCL_CONF_FILE", "/tmp/elbowroom-no-such-file", 1);
  unsetenv("ELBOWROOM_RUN_TUNER_PLUGIN");
  if (users != nullptr) { setenv("ELBOWROOM_RUN_TUNER_PLUGIN", users, 1); }
}

FakeAnswer ask(int newest) {
  EXPECT(fake_nccl_load_tuner(newest) == newest);
  const nccl::Communicator communicator = fake_tuned_communicator(7, 2, 1);
  EXPECT(communicator != nullptr);
  const FakeAnswer answer = fake_ask_tuner(communicator, 4, kBytes, 1);
  EXPECT(answer.result == 0);
  fake_end_tuned(communicator);
  return answer;
}

std::string tuner(const std::string& file) { return std::string(std::getenv("ELBOWROOM_TUNERS")) + "/" + file; }

// Every version of NCCL's interface with every version of a user's plugin: the newest that both know is asked. 12 channels and Tree
// are the user's, 0 and Ring are NCCL's own.
void versions() {
  for (int newest = 2; newest <= 6; ++newest) {
    for (int users = 2; users <= 6; ++users) {
      in_child([&] {
        set_plugins(tuner("libfake_tuner_v" + std::to_string(users) + ".so").c_str());
        const FakeAnswer answer = ask(newest);
        const bool asked = users <= newest;
        EXPECT(answer.channels == (asked ? 12 : 0));
        EXPECT(answer.algorithm == (asked ? 0 : newest == 2 ? -1 : 1));
        if (newest == 6) {
          const nccl::Communicator communicator = fake_tuned_communicator(8, 2, 1);
          EXPECT(fake_chunk_size(communicator) == (users == 6 ? 2000U : 1000U));
        }
      });
    }
  }
}

// A user's plugin that refuses to start, and is ended with the context that it has set, as without this library.
void refuses() {
  for (int newest = 2; newest <= 6; ++newest) {
    in_child([&] {
      set_plugins(tuner("libfake_tuner_v" + std::to_string(newest) + ".so").c_str());
      setenv("FAKE_TUNER_REFUSES", "1", 1);
      EXPECT(fake_nccl_load_tuner(newest) == newest);
      EXPECT(fake_tuned_communicator(7, 2, 1) == nullptr);
      const char* ended = std::getenv("FAKE_TUNER_ENDED");
      EXPECT(ended != nullptr && std::string(ended) == "with its own");
    });
  }
}

// Two libraries of NCCL in one process, which know different versions: each asks the newest that it knows itself.
void two_libraries() {
  for (const int first : {2, 3, 6}) {
    for (const int second : {2, 3, 6}) {
      in_child([&] {
        set_plugins(tuner("libfake_tuner_v3.so").c_str());
        EXPECT(ask(first).channels == (first == 2 ? 0 : 12) && ask(second).channels == (second == 2 ? 0 : 12));
      });
    }
  }
}

// A name, a short name, a path, the default name, none, a library without the symbol, a name that is not there.
void forms() {
  const std::string path = tuner("libfake_tuner_v4.so");
  const struct {
    const char* users;
    int channels;
  } forms[] = {{path.c_str(), 12},
               {"libfake_tuner_v4.so", 12},
               {"mine", 12},
               {nullptr, 12},
               {"", 12},
               {"none", 0},
               {"NONE", 0},
               {"libcuda.so.1", 0},
               {"absent", 0},
               {"/no/such/file.so", 0},
               {"libelbowroom_interposer.so", 0}};
  for (const auto& form : forms) {
    in_child([&] {
      set_plugins(form.users);
      EXPECT(ask(5).channels == form.channels);
    });
  }
}

// Of the file that NCCL reads where the environment has none.
void conf_file() {
  in_child([] {
    set_plugins(nullptr);
    const std::string path = "/tmp/elbowroom-tuner-conf-" + std::to_string(getpid());
    std::FILE* file = std::fopen(path.c_str(), "w");
    EXPECT(file != nullptr && std::fputs("NCCL_TUNER_PLUGIN=none\n", file) >= 0 && std::fclose(file) == 0);
    setenv("NCCL_CONF_FILE", path.c_str(), 1);
    const int channels = ask(5).channels;
    unlink(path.c_str());
    EXPECT(channels == 0);
  });
}

// The one inside a network plugin that NCCL has loaded; one that it has not loaded is left alone.
void net_plugin() {
  for (const bool loaded : {true, false}) {
    in_child([&] {
      set_plugins("absent");
      setenv("NCCL_NET_PLUGIN", "other,fake", 1);
      if (loaded) { EXPECT(dlopen("libnccl-net-fake.so", RTLD_NOW | RTLD_LOCAL) != nullptr); }
      EXPECT(ask(5).channels == (loaded ? 12 : 0));
    });
  }
}

constexpr Case kCases[] = {{"versions", versions}, {"refuses", refuses},     {"two_libraries", two_libraries},
                           {"forms", forms},       {"conf_file", conf_file}, {"net_plugin", net_plugin}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
