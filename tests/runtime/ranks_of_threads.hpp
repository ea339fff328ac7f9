// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process over one shared region, or over one for each host that they are to be on: what tests
// of the runtime use where processes are not the point, so that sanitizers and debuggers see all of it. Between hosts
// the network may be late.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "base/log.hpp"
#include "base/system/socket.hpp"
#include "base/variables/environment.hpp"
#include "base/variables/variables.hpp"
#include "runtime/bootstrap/hosts.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/over_ofi.hpp"
#include "transport/faulty/endpoint.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/tcp/endpoint.hpp"

namespace tutti::test {

constexpr OperatorHandle handle(Op op) { return {static_cast<std::uint32_t>(op)}; }

class ThreadRanks {
 public:
  // `of_log` says what is logged, and where.
  explicit ThreadRanks(std::uint32_t num_ranks, Settings settings = Settings::from(Variables()),
                       const Variables& of_log = Variables(), Hosts hosts = {},
                       std::optional<transport::faulty::Faults> faults = {})
      : num_ranks_(num_ranks),
        settings_(std::move(settings)),
        log_(std::move(Log::create(of_log, LogWriter::of_this_process()).value())),
        hosts_(hosts.are_several() ? std::move(hosts) : Hosts()),
        faults_(faults) {
    if (!hosts_.are_several())
      regions_.push_back(std::move(shm::Region::create(settings_.region_for(num_ranks)).value()));
    for (std::uint32_t host = 0; hosts_.are_several() && host < hosts_.count(); ++host) {
      std::uint32_t first = 0;
      while (hosts_.host_of[first] != host) ++first;
      const std::vector<std::uint32_t> here = hosts_.ranks_near(first);
      const shm::RegionShape shape = settings_.region_for(num_ranks, static_cast<std::uint32_t>(here.size()));
      UniqueFd memory = std::move(shm::make_memory(shm::region_bytes(shape)).value());
      regions_.push_back(std::move(shm::Region::map(std::move(memory), shape, here).value()));
    }
  }

  // Where others are told that a rank listens over TCP. By default where it does.
  void tell_others(std::function<Address(const Address& real)> told) { told_ = std::move(told); }

  // Runs `body(communicator)` on each rank, each in its own thread, and returns when all have.
  template <typename Body>
  void run(const Body& body) {
    run(body, [](std::uint32_t, Settings&) {});
  }
  // Each with settings that `change(rank, settings)` has made other.
  template <typename Body, typename Change>
  void run(const Body& body, const Change& change) {
    std::vector<std::unique_ptr<transport::Endpoint>> endpoints = make_endpoints();
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank)
      threads.emplace_back([this, rank, &body, &change, &endpoints] {
        Settings settings = settings_;
        change(rank, settings);
        const std::uint32_t host = hosts_.are_several() ? hosts_.host_of[rank] : 0;
        const std::unique_ptr<Communicator> communicator =
            Communicator::over(regions_[host], static_cast<int>(rank), settings, *log_, hosts_,
                               hosts_.are_several() ? std::move(endpoints[rank]) : nullptr);
        body(*communicator);
      });
  }

  // For the latter: ranks that take turns to store through their caches and past them.
  static void store_differently(std::uint32_t rank, Settings& settings) {
    settings.stores = rank % 2 == 0 ? StoresChoice::past : StoresChoice::cached;
  }

  // For the latter as well: ranks in turn on the first two cores that they may run on.
  static void share_two_cores(std::uint32_t rank) { run_on(rank % 2); }
  // This thread on the core of that number among those that it may run on, or on the last of them.
  static void run_on(std::uint32_t number) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    cpu_set_t own;
    CPU_ZERO(&own);
    std::uint32_t found = 0;
    for (int core = 0; core < CPU_SETSIZE && found <= number; ++core)
      if (CPU_ISSET(core, &allowed)) {
        CPU_ZERO(&own);
        CPU_SET(core, &own);
        ++found;
      }
    ASSERT_EQ(sched_setaffinity(0, sizeof own, &own), 0);
  }

  [[nodiscard]] const shm::Region& region() const { return *regions_.front(); }
  // Tells every host of an end, as the watch of a communicator that was joined does.
  void tell_all(const shm::Breakage& why) const {
    for (const std::shared_ptr<const shm::Region>& region : regions_) region->break_with(why);
  }

 private:
  // By rank, at the loopback interface; none where all are on one host.
  std::vector<std::unique_ptr<transport::Endpoint>> make_endpoints() const {
    std::vector<std::unique_ptr<transport::Endpoint>> endpoints;
    if (!hosts_.are_several()) return endpoints;
    if (settings_.transport.is_ofi) return make_ofi_endpoints();
    const Token token = make_token().value();
    AddressLists addresses;
    std::vector<std::vector<Listener>> listeners(num_ranks_);
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
      Address loopback;
      loopback.bytes = {127, 0, 0, 1};
      std::vector<Address> told;
      for (std::uint32_t i = 0; i < settings_.transport.connections; ++i) {
        listeners[rank].push_back(std::move(listen_at(loopback).value()));
        const Address& real = listeners[rank].back().address;
        told.push_back(told_ ? told_(real) : real);
      }
      addresses.add(told);
    }
    for (std::uint32_t rank = 0; rank < num_ranks_; ++rank) {
      const shm::RegionShape& shape = regions_[hosts_.host_of[rank]]->shape();
      transport::tcp::TcpOptions options{
          .rank = rank,
          .num_ranks = num_ranks_,
          .shape = {.depth = std::max(shape.message_depth, 8U), .slot = shape.message_slot},
          .token = token,
          .connections = settings_.transport.connections,
          .addresses = addresses,
          .listeners = std::move(listeners[rank]),
          .warn = {}};
      endpoints.push_back(std::move(transport::tcp::make_tcp_endpoint(std::move(options)).value()));
      if (!faults_) continue;
      transport::faulty::Faults faults = *faults_;
      faults.seed += rank;
      endpoints[rank] = transport::faulty::make_faulty_endpoint(std::move(endpoints[rank]), faults);
    }
    return endpoints;
  }

  std::vector<std::unique_ptr<transport::Endpoint>> make_ofi_endpoints() const {
    Address loopback;
    loopback.bytes = {127, 0, 0, 1};
    std::vector<std::unique_ptr<transport::ofi::Door>> doors(num_ranks_);
    transport::ofi::OfiOptions options{.num_ranks = num_ranks_,
                                       .shape = shape_between_hosts(regions_.front()->shape()),
                                       .token = make_token().value(),
                                       .warn = {}};
    for (std::unique_ptr<transport::ofi::Door>& door : doors)
      options.names.push_back(door_opener(settings_, static_cast<int>(num_ranks_), door)(loopback).value());
    std::vector<std::unique_ptr<transport::Endpoint>> endpoints;
    for (std::unique_ptr<transport::ofi::Door>& door : doors) {
      endpoints.push_back(std::move(transport::ofi::make_ofi_endpoint(std::move(door), options).value()));
      ++options.rank;
    }
    return endpoints;
  }

  std::uint32_t num_ranks_;
  Settings settings_;
  std::unique_ptr<Log> log_;
  Hosts hosts_;
  std::optional<transport::faulty::Faults> faults_;
  std::function<Address(const Address& real)> told_;
  std::vector<std::shared_ptr<const shm::Region>> regions_;  // by host
};

}  // namespace tutti::test
