// SPDX-License-Identifier: Apache-2.0
// Ranks with devices meet by their communicator, and hand descriptors over by sockets of this host. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda/rendezvous.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti::api {

class DeviceMeeting final : public device::Rendezvous {
 public:
  // Borrowed.
  explicit DeviceMeeting(Communicator& communicator) : communicator_(communicator) {}

  [[nodiscard]] std::uint32_t rank() const override { return communicator_.rank(); }
  [[nodiscard]] std::uint32_t num_ranks() const override { return communicator_.num_ranks(); }
  [[nodiscard]] Status exchange(std::span<const std::byte> own, std::span<std::byte> all) override;
  [[nodiscard]] Status exchange(int own, std::vector<UniqueFd>& all) override;

 private:
  // How a rank is found: its listener's name, and a secret by which a message is known to be for it.
  struct Place;
  struct Greeting;

  [[nodiscard]] Status send_to(const Place& place, int own);
  [[nodiscard]] Status receive_from_others(int listener, const Place& own, std::vector<UniqueFd>& all);

  Communicator& communicator_;
};

}  // namespace tutti::api
