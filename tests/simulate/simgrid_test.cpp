// SPDX-License-Identifier: Apache-2.0
// The same messages on the same platform in SimGrid, which shares links by max-min fairness as well: its actors walk
// the programs of the ranks, one mailbox a connection.
//
// SimGrid's model is CM02 without its correction factors. Each connection has an actor that sends one message after
// another, and holds its port for as long as the bytes take there, which is our rule where nothing has a latency. (With
// one, a connection's next message would wait until the last is there, and flows with less latency would have more of a
// link. The plain model of PlainNetwork has latencies.)
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <simgrid/s4u.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "algorithms/registry.hpp"
#include "schedule/layout.hpp"
#include "schedule/programs.hpp"
#include "simulate/engine/watch.hpp"
#include "simulate/network/ways.hpp"
#include "simulate/simulate.hpp"
#include "small_fabrics.hpp"

namespace tutti::simulate {
namespace {

namespace s4u = simgrid::s4u;

constexpr double kNano = 1e-9;

// What waits for its turn on a connection.
struct Outgoing {
  std::deque<std::uint64_t> bytes;
  s4u::SemaphorePtr arrivals = s4u::Semaphore::create(0);
  s4u::Mailbox* to = nullptr;
  std::size_t left = 0;  // that will be sent in all
};

// A link by which messages enter, one after another.
struct Port {
  s4u::MutexPtr turn = s4u::Mutex::create();
  double bandwidth = 0;  // bytes a second
};

std::uint64_t bytes_of(const Schedule& schedule, const Slice& slice, std::uint64_t block) {
  const PieceLayout layout(block, schedule.division(slice.space).pieces, UINT64_MAX);
  return layout.whole(slice.first_piece, slice.num_pieces).length * slice.num_blocks;
}

// Ranks, links and ways as the fabric has them.
std::vector<s4u::Host*> hosts_of(const fabric::Fabric& fabric, std::uint32_t num_ranks, Ways& ways) {
  s4u::NetZone* zone = s4u::create_full_zone("all");
  std::vector<s4u::Host*> hosts;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
    hosts.push_back(zone->create_host("rank" + std::to_string(rank), 1e9));
  std::vector<const s4u::Link*> links;
  for (std::size_t link = 0; link < fabric.links.size(); ++link)
    links.push_back(zone->create_link("link" + std::to_string(link), fabric.links[link].bandwidth * 1e9)
                        ->set_latency(fabric.links[link].latency * kNano)
                        ->seal());
  for (std::uint32_t from = 0; from < num_ranks; ++from) {
    for (std::uint32_t to = 0; to < num_ranks; ++to) {
      if (from == to) continue;
      std::vector<s4u::LinkInRoute> route;
      for (const std::uint32_t link : ways.between(from, to)) route.emplace_back(links[link]);
      zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
    }
  }
  zone->seal();
  return hosts;
}

s4u::Mailbox* mailbox(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
  return s4u::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to) + "." + std::to_string(channel));
}

// The actors of all ranks and their connections.
class Actors {
 public:
  Actors(const Programs& programs, const fabric::Fabric& fabric, std::uint64_t block)
      : programs_(programs), fabric_(fabric), block_(block), watch_(goes_on_), ways_(fabric, watch_) {}

  void start() {
    const std::uint32_t num_ranks = programs_.num_ranks();
    const std::vector<s4u::Host*> hosts = hosts_of(fabric_, num_ranks, ways_);
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      start_connections(rank, hosts[rank]);
      const s4u::ActorPtr actor =
          s4u::Actor::create("actor" + std::to_string(rank), hosts[rank], [this, rank] { walk(rank); });
      // So that a message is on its way before it is asked for.
      for (const Step& step : programs_.steps(rank, 0))
        for (const Endpoint& end : step.sources)
          if (end.place == Place::message) mailbox(end.rank, rank, end.channel)->set_receiver(actor);
    }
  }

 private:
  std::uint64_t bytes(const Slice& slice) const { return bytes_of(programs_.schedule(), slice, block_); }

  template <typename Act>
  void for_each_message(std::uint32_t rank, const Step& step, const Act& act) {
    for (const Endpoint& end : step.destinations) {
      if (end.place != Place::message || bytes(end.slice) == 0) continue;
      s4u::Mailbox* const to = mailbox(rank, end.rank, end.channel);
      Outgoing& connection = connections_[to];
      connection.to = to;
      act(connection, ways_.between(rank, end.rank).front(), bytes(end.slice));
    }
  }

  void start_connections(std::uint32_t rank, s4u::Host* host) {
    std::map<Outgoing*, Port*> mine;
    for (const Step& step : programs_.steps(rank, 0))
      for_each_message(rank, step, [&](Outgoing& connection, std::uint32_t link, std::uint64_t) {
        ++connection.left;
        ports_[link].bandwidth = fabric_.links[link].bandwidth * 1e9;
        mine[&connection] = &ports_[link];
      });
    for (const auto& [outgoing, link] : mine)
      s4u::Actor::create("connection" + std::to_string(rank), host, [connection = outgoing, port = link] {
        for (; connection->left > 0; --connection->left) {
          connection->arrivals->acquire();
          const std::uint64_t bytes = connection->bytes.front();
          connection->bytes.pop_front();
          port->turn->lock();
          const s4u::CommPtr message = connection->to->put_async(new int(0), bytes);
          s4u::this_actor::sleep_for(static_cast<double>(bytes) / port->bandwidth);
          port->turn->unlock();
          message->wait();
        }
      });
  }

  void walk(std::uint32_t rank) {
    for (const Step& step : programs_.steps(rank, 0)) {
      for (const Endpoint& end : step.sources)
        if (end.place == Place::message && bytes(end.slice) > 0)
          mailbox(end.rank, rank, end.channel)->get_unique<int>();
      for_each_message(rank, step, [](Outgoing& connection, std::uint32_t, std::uint64_t bytes) {
        connection.bytes.push_back(bytes);
        connection.arrivals->release();
      });
    }
  }

  const Programs& programs_;
  const fabric::Fabric& fabric_;
  std::uint64_t block_;
  const std::function<bool()> goes_on_ = [] { return false; };
  Watch watch_;
  Ways ways_;
  std::map<std::uint32_t, Port> ports_;  // by link
  std::map<s4u::Mailbox*, Outgoing> connections_;
};

// The time in ns, in this process: SimGrid can have one world in each.
double in_simgrid(const Programs& programs, const fabric::Fabric& fabric, std::uint64_t block) {
  std::vector<std::string> words{"test",
                                 "--cfg=network/model:CM02",
                                 "--cfg=network/TCP-gamma:0",
                                 "--cfg=network/crosstraffic:0",
                                 "--cfg=surf/precision:1e-12",
                                 "--cfg=maxmin/precision:1e-12",
                                 "--log=root.thres:critical"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  s4u::Engine engine(&count, arguments.data());
  Actors actors(programs, fabric, block);
  actors.start();
  engine.run();
  return s4u::Engine::get_clock() / kNano;
}

double in_simgrid_apart(const Programs& programs, const fabric::Fabric& fabric, std::uint64_t block) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    try {
      const double time = in_simgrid(programs, fabric, block);
      _exit(write(ends[1], &time, sizeof time) == sizeof time ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "SimGrid: %s\n", error.what());
      _exit(2);
    }
  }
  close(ends[1]);
  double time = -1;
  const ssize_t got = read(ends[0], &time, sizeof time);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return got == sizeof time && status == 0 ? time : -1;
}

struct Platform {
  const char* name;
  std::function<fabric::Fabric(std::uint32_t num_ranks)> make;
};

void PrintTo(const Platform& platform, std::ostream* out) { *out << platform.name; }

class SimGrid : public testing::TestWithParam<Platform> {};

TEST_P(SimGrid, TakesTheSameTime) {
  int compared = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (facts_of(algorithm->collective).varies || algorithm->channel != Channel::message) continue;
    if (algorithm->collective == Collective::barrier) continue;
    for (const std::uint32_t num_ranks : {4U, 7U, 8U}) {
      Request request;
      request.collective = algorithm->collective;
      request.num_ranks = num_ranks;
      request.parameters.grid = {num_ranks, 1};
      request.parameters.groups = {num_ranks};
      if (!objection_to(*algorithm, request).empty()) continue;
      const Schedule schedule = algorithm->make(request);
      // Lanes of a rank would have to wait for each other.
      if (schedule.num_lanes > 1) continue;
      const fabric::Fabric fabric = GetParam().make(num_ranks);
      const Programs programs(schedule, Fusion::neighbours);
      for (const std::uint64_t bytes : {std::uint64_t{1000}, std::uint64_t{1'000'000}}) {
        SCOPED_TRACE(schedule.name + " of " + std::string(name_of(algorithm->collective)) + ", " +
                     std::to_string(num_ranks) + " ranks, " + std::to_string(bytes));
        const Result<Answer> answer = simulate(schedule, fabric, {.count = bytes});
        ASSERT_TRUE(answer.ok()) << answer.status().to_string();
        const double theirs = in_simgrid_apart(programs, fabric, bytes);
        ++compared;
        EXPECT_NEAR(answer->time, theirs, theirs * 0.02);
      }
    }
  }
  EXPECT_GE(compared, 60);
}

INSTANTIATE_TEST_SUITE_P(Platforms, SimGrid,
                         testing::Values(Platform{"wires", [](std::uint32_t ranks) { return wires(ranks, 0, 10); }},
                                         Platform{"star", [](std::uint32_t ranks) { return star(ranks, 0, 10); }},
                                         Platform{"ring", [](std::uint32_t ranks) { return ring(ranks, 0, 10); }}),
                         [](const auto& platform) { return std::string(platform.param.name); });

}  // namespace
}  // namespace tutti::simulate
