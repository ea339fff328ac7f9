// SPDX-License-Identifier: Apache-2.0
#include "bench/process/connection.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include <fmt/format.h>
#include <poll.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

constexpr std::size_t kHead = 4;

std::size_t length_in(std::string_view head) {
  std::size_t length = 0;
  for (std::size_t byte = 0; byte < kHead; ++byte)
    length |= std::size_t{static_cast<unsigned char>(head[byte])} << (8 * byte);
  return length;
}

Status gone() { return {Code::system, "the connection was closed by the other end"}; }

}  // namespace

Status Connection::send(const Json& message) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMostBytes)
    return {Code::internal, fmt::format("a message of {} bytes; {} is the most", text.size(), kMostBytes)};
  for (std::size_t byte = 0; byte < kHead; ++byte)
    unsent_.push_back(static_cast<char>(text.size() >> (8 * byte) & 0xffU));
  unsent_ += text;
  return flush();
}

Status Connection::flush() {
  while (!unsent_.empty()) {
    const SocketTransfer sent = send_some(socket_.get(), std::as_bytes(std::span(unsent_)));
    if (sent.outcome == SocketTransfer::Outcome::closed) {
      closed_ = true;
      return gone();
    }
    if (sent.outcome == SocketTransfer::Outcome::would_block) return {};
    unsent_.erase(0, sent.bytes);
  }
  return {};
}

Status Connection::receive() {
  std::array<std::byte, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  // As much as the longest message, however much the other end has to say.
  while (!closed_ && received_.size() < kHead + most_bytes_) {
    const SocketTransfer got = receive_some(socket_.get(), bytes);
    if (got.outcome == SocketTransfer::Outcome::would_block) return {};
    if (got.outcome == SocketTransfer::Outcome::closed) {
      closed_ = true;
      return {};
    }
    received_.append(reinterpret_cast<const char*>(bytes.data()), got.bytes);
  }
  return {};
}

Result<std::optional<Json>> Connection::next() {
  if (received_.size() >= kHead) {
    const std::size_t length = length_in(received_);
    if (length > most_bytes_)
      return Status(Code::invalid_argument,
                    fmt::format("a message of {} bytes was announced; {} is the most", length, most_bytes_));
    if (received_.size() >= kHead + length) {
      const std::string text = received_.substr(kHead, length);
      received_.erase(0, kHead + length);
      Json message = Json::parse(text, nullptr, false);
      if (message.is_discarded() || !message.is_object())
        return Status(Code::invalid_argument, fmt::format("a message that is no JSON object: {}", in_quotes(text)));
      return std::optional(std::move(message));
    }
  }
  if (closed_) return gone();
  return std::optional<Json>();
}

Result<Json> Connection::await() {
  while (true) {
    Result<std::optional<Json>> message = next();
    if (!message.ok()) return message.status();
    if (*message) return std::move(**message);
    pollfd waiting{socket_.get(), static_cast<short>(has_unsent() ? POLLIN | POLLOUT : POLLIN), 0};
    if (::poll(&waiting, 1, -1) < 0 && errno != EINTR) return Status::from_errno("cannot wait for the runner", errno);
    if (has_unsent()) TUTTI_TRY(flush());
    TUTTI_TRY(receive());
  }
}

}  // namespace tutti::harness
