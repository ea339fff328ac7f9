// SPDX-License-Identifier: Apache-2.0
// The endpoint behind make_ofi_endpoint(): it owns the links, and brings what is done to whom it concerns. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/incoming.hpp"
#include "transport/ofi/outgoing.hpp"
#include "transport/ofi/shared.hpp"

namespace tutti::transport::ofi {

class OfiEndpoint final : public Endpoint {
 public:
  OfiEndpoint(std::unique_ptr<Fabric> fabric, OfiOptions options);
  ~OfiEndpoint() override;
  [[nodiscard]] Status open() { return shared_.controls.open(); }

  [[nodiscard]] const EndpointShape& shape() const override { return shared_.options.shape; }
  [[nodiscard]] Outgoing& to(std::uint32_t rank, Traffic traffic) override { return outgoing(rank).queue(traffic); }
  [[nodiscard]] Incoming& from(std::uint32_t rank, Traffic traffic) override { return incoming(rank).queue(traffic); }
  bool step() override;
  void sleep(std::chrono::nanoseconds longest) override;
  [[nodiscard]] std::chrono::nanoseconds may_sleep(std::chrono::nanoseconds longest) override;
  // To close libfabric's connections in a forked child would close the rank's own. The child keeps its copies.
  void forsake() noexcept override {}
  [[nodiscard]] int descriptor() const override { return shared_.fabric->wait_descriptor(); }
  [[nodiscard]] bool has_sent_all() const override;
  [[nodiscard]] bool has_delivered(std::uint32_t) const override { return has_sent_all(); }
  [[nodiscard]] const std::optional<Unreachable>& unreachable() const override { return shared_.unreachable; }
  void forget_unreachable() override { shared_.unreachable.reset(); }

 private:
  [[nodiscard]] OutgoingLink& outgoing(std::uint32_t rank);
  [[nodiscard]] IncomingLink& incoming(std::uint32_t rank);

  bool read();
  void use_controls();
  void use_control(const Control& control);
  bool go_on();
  bool tell_due();
  bool tell_owed();
  [[nodiscard]] bool has_more_to_do() const;
  void say_bye();

  Shared shared_;
  std::vector<std::unique_ptr<OutgoingLink>> outgoing_;
  std::vector<std::unique_ptr<IncomingLink>> incoming_;
  std::uint32_t idle_steps_ = 0;
  Clock::time_point last_step_{};  // kept while there is anything to be on time for
};

}  // namespace tutti::transport::ofi
