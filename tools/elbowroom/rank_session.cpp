#include "rank_session.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "backend/over_ranks.hpp"
#include "base/descriptor.hpp"
#include "console.hpp"
#include "elbowroom/base/environment.hpp"
#include "elbowroom/experiment/cases.hpp"
#include "exit_code.hpp"
#include "keyed_hash.hpp"
#include "launching_process.hpp"
#include "ranks/hub.hpp"
#include "ranks/membership.hpp"
#include "ranks/spoke.hpp"
#include "ranks/token.hpp"

namespace elbowroom {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::chrono::milliseconds limit_of(const CaseOptions& options) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(options.timeout_s));
}

/// While this lives, signals that ask a process to end can be read instead. Launchers and terminals send them to all ranks, and
/// rank 0 is to end first: it says what was measured.
class EndSignals {
 public:
  EndSignals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action = {};
      if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) { sigaddset(&watched, signal); }
    }
    pthread_sigmask(SIG_BLOCK, &watched, &before_);
    queue_ = detail::Descriptor(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~EndSignals() {
    // What came in vain ends nothing any more.
    while (next()) {}
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  [[nodiscard]] int descriptor() const { return queue_.get(); }

  /// As a shell says it: 128 + signal.
  [[nodiscard]] int exit_code() const {
    constexpr int killed = 128;
    return killed + next().value_or(SIGTERM);
  }

 private:
  [[nodiscard]] std::optional<int> next() const {
    signalfd_siginfo info = {};
    const bool came = ::read(queue_.get(), &info, sizeof info) == sizeof info;
    return came ? std::optional(static_cast<int>(info.ssi_signo)) : std::nullopt;
  }

  sigset_t before_ = {};
  detail::Descriptor queue_;
};

/// What this process shows others; `invalid_input` where it has a token that it could not prove.
Result<ranks::Credentials> credentials_of(const ranks::Membership& membership) {
  Result<std::optional<std::string>> token = ranks::token_of(variable);
  if (!token) { return token.error(); }
  ranks::Credentials credentials{ELBOWROOM_VERSION, *std::move(token), keyed_hash()};
  if (credentials.mac || !credentials.token) { return credentials; }
  // On one host the kernel says whose processes the ranks are.
  const bool needless = membership.here && !membership.named && !membership.job.empty();
  if (!needless) {
    return unavailable(
        fmt::format("{}: this program was built without libsodium, by which ranks prove that they have it", kToken.name));
  }
  credentials.token.reset();
  return credentials;
}

int lead(std::string_view who, const ranks::Membership& membership, const ranks::Credentials& credentials, CaseOptions& options,
         const std::function<int()>& work) {
  const Result<std::unique_ptr<ranks::Hub>> hub = ranks::Hub::gather(membership, credentials, limit_of(options));
  if (!hub) { return complain(who, hub.error()); }
  options.hub = hub->get();
  const int code = work();
  options.hub = nullptr;
  return code;
}

OwnRank own_rank_of(const ranks::Membership& membership) { return {membership.rank, membership.size, membership.local_rank}; }

int serve(std::string_view who, const ranks::Membership& membership, const ranks::Credentials& credentials,
          const CaseOptions& options) {
  const auto say = [&](const Error& error) {
    print_notice(who, fmt::format("rank {}: {}", membership.rank, error.message));
    return exit_code_of(error.kind);
  };
  Result<ranks::Spoke> spoke = ranks::Spoke::join(membership, credentials, limit_of(options));
  if (!spoke) { return say(spoke.error()); }
  const EndSignals signals;
  const auto open = [&](int needed) {
    BackendRequest request = backend_request(options);
    request.options.notice = {};  // rank 0 says the same
    request.options.own_rank = own_rank_of(membership);
    return open_for(request, needed);
  };
  const Result<ranks::End> end = detail::serve_rank(*spoke, signals.descriptor(), open, membership.rank, options.seed);
  if (!end) { return say(end.error()); }
  if (*end == ranks::End::interrupted) { return signals.exit_code(); }
  return *end == ranks::End::refused ? exit_bad_input : exit_ok;
}

}  // namespace

bool is_one_of_ranks() {
  const Result<std::optional<ranks::Membership>> membership = ranks::membership_of(variable);
  return membership && *membership;
}

int in_ranks(std::string_view who, CaseOptions& options, const std::function<int()>& work) {
  Result<std::optional<ranks::Membership>> membership = ranks::membership_of(variable);
  if (!membership) { return complain(who, membership.error()); }
  if (!*membership) { return work(); }
  if ((*membership)->here && (*membership)->job.empty()) { (*membership)->job = launching_process((*membership)->process_of_host); }
  const bool leads = (*membership)->rank == 0;
  if (Status good = check_timeout(options); !good) { return leads ? complain(who, good.error()) : exit_bad_input; }
  const Result<ranks::Credentials> credentials = credentials_of(**membership);
  if (!credentials) {
    print_notice(who, fmt::format("rank {}: {}", (*membership)->rank, credentials.error().message));
    return exit_code_of(credentials.error().kind);
  }
  return leads ? lead(who, **membership, *credentials, options, work) : serve(who, **membership, *credentials, options);
}

bool speaks_for_all() { return ranks::speaks_for_all(variable); }

Result<std::unique_ptr<Backend>> open_on_ranks(const CaseOptions& options, int needed) {
  BackendRequest request = backend_request(options);
  if (options.hub != nullptr) { request.options.own_rank = own_rank_of(options.hub->membership()); }
  Result<std::unique_ptr<Backend>> own = open_for(request, needed);
  if (!own || options.hub == nullptr) { return own; }
  return detail::over_ranks(*std::move(own), *options.hub, needed, options.seed);
}

Result<std::unique_ptr<Backend>> open_on_ranks(const CaseOptions& options, const std::vector<Scenario>& scenarios) {
  int needed = 0;
  for (const Scenario& scenario : scenarios) { needed = std::max(needed, scenario.gpus); }
  return open_on_ranks(options, needed);
}

}  // namespace elbowroom
