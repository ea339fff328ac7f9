// SPDX-License-Identifier: Apache-2.0
// The endpoint behind make_tcp_endpoint(): it owns the connections, and brings what happens to whom it concerns. One
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/tcp/endpoint.hpp"
#include "transport/tcp/incoming.hpp"
#include "transport/tcp/outgoing.hpp"
#include "transport/tcp/shared.hpp"
#include "transport/tcp/strangers.hpp"

namespace tutti::transport::tcp {

class TcpEndpoint final : public Endpoint {
 public:
  explicit TcpEndpoint(TcpOptions options);
  [[nodiscard]] Status open();

  [[nodiscard]] const EndpointShape& shape() const override { return shared_.options.shape; }
  [[nodiscard]] Outgoing& to(std::uint32_t rank, Traffic traffic) override { return outgoing(rank).queue(traffic); }
  [[nodiscard]] Incoming& from(std::uint32_t rank, Traffic traffic) override { return incoming(rank).queue(traffic); }
  bool step() override;
  void sleep(std::chrono::nanoseconds longest) override;
  [[nodiscard]] std::chrono::nanoseconds may_sleep(std::chrono::nanoseconds longest) override;
  void forsake() noexcept override;
  [[nodiscard]] int descriptor() const override { return shared_.poller.descriptor(); }
  [[nodiscard]] bool has_sent_all() const override;
  [[nodiscard]] bool has_delivered_all() const override;
  [[nodiscard]] const std::optional<Unreachable>& unreachable() const override { return shared_.unreachable; }

 private:
  [[nodiscard]] OutgoingLink& outgoing(std::uint32_t rank);
  [[nodiscard]] IncomingLink& incoming(std::uint32_t rank);

  bool tell_due();
  bool tell_owed();
  bool read_unread();
  bool use_events();
  void use_event(const PollEvent& event, bool& any);
  void note_source(IncomingLink& link);
  bool admit();

  [[nodiscard]] bool has_timers() const;
  [[nodiscard]] Clock::time_point next_due() const;
  bool use_time();

  Shared shared_;
  Strangers strangers_;
  std::vector<std::unique_ptr<OutgoingLink>> outgoing_;
  std::vector<std::unique_ptr<IncomingLink>> incoming_;
  std::vector<std::uint32_t> crowded_{};  // listeners at which more may be waiting
  Clock::time_point accept_again_{};

  // The connection that the last two messages came from is read without asking the poller first.
  IncomingLink* last_source_ = nullptr;
  IncomingLink* hot_ = nullptr;
  std::uint32_t turn_ = 0;
  std::uint32_t idle_steps_ = 0;
  Clock::time_point last_step_{};  // kept while there is anything to be on time for
};

}  // namespace tutti::transport::tcp
