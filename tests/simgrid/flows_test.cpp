// Flows of the network beside SimGrid's: the same patterns on the same star of hosts, whose links have a direction each.
// CM02 without cross-traffic and with a TCP window that never counts.
#include "elbowroom/network/flows.hpp"

#include <gtest/gtest.h>

#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

namespace elbowroom {
namespace {

namespace sg4 = simgrid::s4u;

constexpr double kRate = 12.5e3;  // bytes per microsecond
constexpr double kLatency = 2;    // microseconds of a link

/// Who sends what to whom, and after which of the messages that the sender has sent or got.
struct Message {
  int from = 0;
  int to = 0;
  double bytes = 0;
  std::vector<int> after;
};

double our_end(const std::vector<Message>& messages, int hosts) {
  std::vector<Flow> flows;
  for (const Message& message : messages) {
    flows.push_back({message.bytes, {message.from, hosts + message.to}, Microseconds(2 * kLatency), message.after});
  }
  Microseconds last{0};
  for (const Microseconds end : flow_ends(std::vector<double>(2 * static_cast<std::size_t>(hosts), kRate), flows)) {
    last = std::max(last, end);
  }
  return last.count();
}

/// Microseconds. An engine of SimGrid lasts as long as its process: each question has one of its own.
double simgrid_end(const std::vector<Message>& messages, int hosts) {
  int argc = 5;
  std::vector<std::string> words{"test", "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:1e30",
                                 "--log=root.threshold:error"};
  std::vector<char*> argv;
  for (std::string& word : words) { argv.push_back(word.data()); }
  sg4::Engine engine(&argc, argv.data());
  sg4::NetZone* zone = sg4::create_star_zone("star");
  std::vector<sg4::Host*> all;
  for (int at = 0; at < hosts; ++at) {
    sg4::Host* host = zone->create_host("h" + std::to_string(at), 1e9);
    const sg4::Link* link =
        zone->create_split_duplex_link("l" + std::to_string(at), kRate * 1e6)->set_latency(kLatency * 1e-6)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, sg4::LinkInRoute::Direction::UP}}, true);
    all.push_back(host);
  }
  zone->seal();
  std::vector<std::vector<int>> followers(messages.size());
  std::vector<std::size_t> waits_for(messages.size());
  for (std::size_t at = 0; at < messages.size(); ++at) {
    waits_for[at] = messages[at].after.size();
    for (const int before : messages[at].after) { followers[static_cast<std::size_t>(before)].push_back(static_cast<int>(at)); }
  }
  // One actor watches all messages and begins each when those before it have ended.
  sg4::Actor::create("watch", all.front(), [&] {
    std::vector<sg4::CommPtr> under_way;
    std::vector<int> number;
    const auto begin = [&](int at) {
      const Message& message = messages[static_cast<std::size_t>(at)];
      under_way.push_back(sg4::Comm::sendto_async(all[static_cast<std::size_t>(message.from)],
                                                  all[static_cast<std::size_t>(message.to)],
                                                  static_cast<std::uint64_t>(message.bytes)));
      number.push_back(at);
    };
    for (std::size_t at = 0; at < messages.size(); ++at) {
      if (waits_for[at] == 0) { begin(static_cast<int>(at)); }
    }
    // To ask which of thousands is next takes as long as all of them.
    if (under_way.size() == messages.size()) {
      sg4::Comm::wait_all(under_way);
      return;
    }
    while (!under_way.empty()) {
      const auto ended = static_cast<std::ptrdiff_t>(sg4::Comm::wait_any(under_way));
      const int done = number[static_cast<std::size_t>(ended)];
      under_way.erase(under_way.begin() + ended);
      number.erase(number.begin() + ended);
      for (const int next : followers[static_cast<std::size_t>(done)]) {
        if (--waits_for[static_cast<std::size_t>(next)] == 0) { begin(next); }
      }
    }
  });
  engine.run();
  return sg4::Engine::get_clock() * 1e6;
}

/// In a process of its own, which the engine does not outlive.
void expect_alike(const std::vector<Message>& messages, int hosts) {
  const double ours = our_end(messages, hosts);
  EXPECT_EXIT(
      {
        const double theirs = simgrid_end(messages, hosts);
        if (std::abs(ours / theirs - 1) >= 0.01) { std::fprintf(stderr, "ours %g us, SimGrid %g us\n", ours, theirs); }
        std::_Exit(std::abs(ours / theirs - 1) < 0.01 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

std::vector<Message> ring(int hosts, int steps, double bytes) {
  std::vector<Message> messages;
  for (int step = 0; step < steps; ++step) {
    for (int host = 0; host < hosts; ++host) {
      std::vector<int> after;
      if (step > 0) { after = {(step - 1) * hosts + (host + hosts - 1) % hosts, (step - 1) * hosts + host}; }
      // Unequal parts, so that neighbours wait for each other.
      messages.push_back({host, (host + 1) % hosts, bytes * (1 + host % 3), after});
    }
  }
  return messages;
}

// Each host sends to two below it what has come from above.
std::vector<Message> tree(int hosts, double bytes) {
  std::vector<Message> messages;
  for (int host = 1; host < hosts; ++host) {
    const int above = (host - 1) / 2;
    messages.push_back({above, host, bytes, above == 0 ? std::vector<int>() : std::vector<int>{above - 1}});
  }
  return messages;
}

// Chunks from host to host in a chain; a host sends one after the other.
std::vector<Message> pipeline(int hosts, int chunks, double bytes) {
  std::vector<Message> messages;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    for (int host = 0; host + 1 < hosts; ++host) {
      const int at = static_cast<int>(messages.size());
      std::vector<int> after;
      if (host > 0) { after.push_back(at - 1); }
      if (chunk > 0) { after.push_back(at - (hosts - 1)); }
      messages.push_back({host, host + 1, bytes, after});
    }
  }
  return messages;
}

std::vector<Message> all_to_all(int hosts, double bytes) {
  std::vector<Message> messages;
  for (int from = 0; from < hosts; ++from) {
    for (int to = 0; to < hosts; ++to) {
      if (from != to) { messages.push_back({from, to, bytes * (1 + (from + to) % 2), {}}); }
    }
  }
  return messages;
}

TEST(FlowsBesideSimGrid, Rings) {
  for (const auto& [hosts, steps] : {std::pair(64, 12), std::pair(256, 6), std::pair(1024, 3)}) {
    expect_alike(ring(hosts, steps, 1e6), hosts);
  }
}

TEST(FlowsBesideSimGrid, Trees) {
  for (const int hosts : {64, 256, 1024}) { expect_alike(tree(hosts, 1e6), hosts); }
}

TEST(FlowsBesideSimGrid, Pipelines) {
  for (const auto& [hosts, chunks] : {std::pair(64, 16), std::pair(256, 8), std::pair(1024, 2)}) {
    expect_alike(pipeline(hosts, chunks, 1e6), hosts);
  }
}

TEST(FlowsBesideSimGrid, AllToAll) { expect_alike(all_to_all(64, 1e5), 64); }

}  // namespace
}  // namespace elbowroom
