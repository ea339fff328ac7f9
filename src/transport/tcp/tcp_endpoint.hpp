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
#include "transport/tcp/link.hpp"
#include "transport/tcp/shared.hpp"
#include "transport/tcp/strangers.hpp"

namespace tutti::transport::tcp {

class TcpEndpoint final : public Endpoint {
 public:
  explicit TcpEndpoint(TcpOptions options);
  [[nodiscard]] Status open();

  [[nodiscard]] const EndpointShape& shape() const override { return shared_.options.shape; }
  [[nodiscard]] Outgoing& to(std::uint32_t rank, Traffic traffic) override { return link(rank).to(traffic); }
  [[nodiscard]] Incoming& from(std::uint32_t rank, Traffic traffic) override { return link(rank).from(traffic); }
  bool step() override;
  void sleep(std::chrono::nanoseconds longest) override;
  [[nodiscard]] std::chrono::nanoseconds may_sleep(std::chrono::nanoseconds longest) override;
  void forsake() noexcept override;
  [[nodiscard]] int descriptor() const override { return shared_.poller.descriptor(); }
  [[nodiscard]] int trouble_descriptor() const override { return shared_.poller.trouble_descriptor(); }
  [[nodiscard]] bool is_connecting() const override { return has_timers() || shared_.restoring > 0; }
  void renew_patience(const std::function<bool(std::uint32_t rank)>& matters) override;
  [[nodiscard]] bool has_sent_all() const override;
  [[nodiscard]] bool has_delivered(std::uint32_t rank) const override;
  [[nodiscard]] const std::optional<Unreachable>& unreachable() const override { return shared_.unreachable; }
  void forget_unreachable() override { shared_.unreachable.reset(); }

 private:
  [[nodiscard]] Link& link(std::uint32_t rank);

  bool tell_due();
  bool tell_owed();
  void look_for_silence();
  bool read_unread();
  bool use_events();
  void use_event(const PollEvent& event, bool& any);
  void note_source(Link& link, std::uint64_t pieces_before);
  bool admit();

  [[nodiscard]] bool has_timers() const;
  [[nodiscard]] Clock::time_point next_due() const;
  bool use_time();

  Shared shared_;
  Strangers strangers_;
  std::vector<std::unique_ptr<Link>> links_;  // by rank
  std::vector<std::uint32_t> crowded_{};      // listeners at which more may be waiting
  Clock::time_point accept_again_{};

  // The connection that the last two messages came from is read without asking the poller first.
  Link* last_source_ = nullptr;
  Link* hot_ = nullptr;
  std::uint32_t turn_ = 0;
  std::uint32_t idle_steps_ = 0;
  Clock::time_point looked_at_{};  // for silent hosts
  Clock::time_point last_step_{};  // kept while there is anything to be on time for
};

}  // namespace tutti::transport::tcp
