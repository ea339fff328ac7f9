// SPDX-License-Identifier: Apache-2.0
#include "api/device/meeting.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include "api/handle.hpp"
#include "base/system/socket.hpp"

namespace tutti::api {

namespace {

// Descriptors are handed over within a moment; a rank that is lost meanwhile ends it earlier.
constexpr std::chrono::seconds kWithin{60};
constexpr int kLookEveryMs = 20;

Status late(std::string_view what) { return {Code::timeout, fmt::format("{} within {} s", what, kWithin.count())}; }

}  // namespace

struct DeviceMeeting::Place {
  std::array<char, 32> name = {};  // hexadecimal digits
  std::uint64_t secret = 0;

  [[nodiscard]] static Result<Place> random() {
    std::array<unsigned char, 24> bytes = {};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      return Status::from_errno("cannot have random bytes", errno);
    Place place;
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (std::size_t byte = 0; byte < place.name.size() / 2; ++byte) {
      place.name[2 * byte] = kDigits[bytes[byte] / 16];
      place.name[2 * byte + 1] = kDigits[bytes[byte] % 16];
    }
    std::memcpy(&place.secret, bytes.data() + place.name.size() / 2, sizeof place.secret);
    return place;
  }
  [[nodiscard]] std::string listener() const { return "tutti-device-" + std::string(name.data(), name.size()); }
};

struct DeviceMeeting::Greeting {
  std::uint64_t secret = 0;
  std::uint64_t rank = 0;
};

Status DeviceMeeting::exchange(std::span<const std::byte> own, std::span<std::byte> all) {
  const Invocation asked = {.collective = Collective::all_gather,
                            .input = own.data(),
                            .output = all.data(),
                            .count = own.size() / sizeof(std::uint64_t),
                            .type = Type::u64};
  const Entry entry(communicator_);
  TUTTI_TRY(entry.status());
  communicator_.take_over();
  return communicator_.run(asked);
}

Status DeviceMeeting::exchange(int own, std::vector<UniqueFd>& all) {
  all.clear();
  all.resize(num_ranks());
  const Result<Place> place = Place::random();
  Result<UniqueFd> listener =
      place.ok() ? listen_abstract(place->listener(), static_cast<int>(num_ranks())) : Result<UniqueFd>(place.status());
  TUTTI_TRY(device::agree(*this, listener.status()));
  TUTTI_TRY_ASSIGN(const std::vector<Place> places, device::exchange(*this, *place));
  Status status;
  for (std::uint32_t rank = 0; status.ok() && rank < num_ranks(); ++rank)
    if (rank != this->rank()) status = send_to(places[rank], own);
  // The others wait for it by then.
  if (!status.ok()) {
    communicator_.abort(status.to_string());
    return status;
  }
  return device::agree(*this, receive_from_others(listener->get(), *place, all));
}

// The other rank need not have accepted: what is sent waits for it.
Status DeviceMeeting::send_to(const Place& place, int own) {
  const auto deadline = Clock::now() + kWithin;
  UniqueFd socket;
  while (!socket.valid()) {
    TUTTI_TRY_ASSIGN(socket, connect_abstract(place.listener()));
    if (socket.valid()) break;
    TUTTI_TRY(communicator_.failure());
    if (Clock::now() > deadline) return late("a rank has not taken a connection");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const Greeting greeting = {place.secret, rank()};
  const SocketTransfer sent = send_with_fd(socket.get(), std::as_bytes(std::span(&greeting, 1)), own);
  if (sent.outcome == SocketTransfer::Outcome::done) return {};
  return {Code::system, "cannot hand device memory to another rank: its socket takes nothing"};
}

Status DeviceMeeting::receive_from_others(int listener, const Place& own, std::vector<UniqueFd>& all) {
  const auto deadline = Clock::now() + kWithin;
  std::vector<UniqueFd> guests;  // that have said nothing yet
  std::uint32_t missing = num_ranks() - 1;
  while (missing > 0) {
    TUTTI_TRY(communicator_.failure());
    if (Clock::now() > deadline) return late("not all ranks have handed over their device memory");
    std::vector<pollfd> polled = {{listener, POLLIN, 0}};
    for (const UniqueFd& guest : guests) polled.push_back({guest.get(), POLLIN, 0});
    static_cast<void>(poll(polled.data(), polled.size(), kLookEveryMs));
    for (;;) {
      TUTTI_TRY_ASSIGN(UniqueFd guest, accept_from(listener));
      if (!guest.valid()) break;
      guests.push_back(std::move(guest));
    }
    for (UniqueFd& guest : guests) {
      Greeting greeting;
      PassedFd passed;
      const SocketTransfer got = receive_with_fd(guest.get(), std::as_writable_bytes(std::span(&greeting, 1)), passed);
      if (got.outcome == SocketTransfer::Outcome::would_block) continue;
      if (passed.lost) return {Code::system, "no descriptor is free for the device memory of another rank (ulimit -n)"};
      const bool is_right = got.outcome == SocketTransfer::Outcome::done && got.bytes == sizeof greeting &&
                            greeting.secret == own.secret && greeting.rank < all.size() && passed.fd.valid() &&
                            greeting.rank != rank() && !all[greeting.rank].valid();
      // A stranger's connection is closed without a message.
      if (is_right) {
        all[greeting.rank] = std::move(passed.fd);
        --missing;
      }
      guest.reset();
    }
    std::erase_if(guests, [](const UniqueFd& guest) { return !guest.valid(); });
  }
  return {};
}

}  // namespace tutti::api
