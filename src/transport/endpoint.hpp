// SPDX-License-Identifier: Apache-2.0
// What carries messages between the ranks of several hosts. Each way of doing it has a folder beside this file and is
// made by a function of its own; to the runtime all are this interface.
//
// A rank has one endpoint for each communicator that spans hosts. From it to each other rank, and to it from each,
// there is for each kind of traffic a queue of messages that keeps their order: one writer, one reader, and a fixed
// number of slots, for each of which the reader gives a credit back when it has taken the message. What that takes
// (buffers, connections) is made when it is first used. So a rank that only talks to few holds only what they need.
//
// Nothing here ever waits but sleep(). One thread at a time uses an endpoint and all that it has given out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include "transport/traffic.hpp"

namespace tutti::transport {

// Messages to one rank.
class Outgoing {
 public:
  Outgoing() = default;
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;
  virtual ~Outgoing() = default;

  [[nodiscard]] virtual bool has_credit() = 0;
  // Where to write the next message of that many bytes, at most EndpointShape::slot. Needs a credit; may be asked for
  // several times before publish(), with the same number. Memory that is aligned for every type.
  [[nodiscard]] virtual std::byte* slot(std::uint64_t bytes) = 0;
  // The message goes out; one for which no slot was asked has no bytes.
  virtual void publish(std::uint64_t description) = 0;
  // A message of these bytes, at most EndpointShape::slot, goes out. Needs a credit. The caller may change the bytes
  // when this returns. The transport may hand them to the system without keeping a copy (may_borrow()); if the
  // connection breaks before they have arrived, that message cannot be sent again.
  virtual void publish_from(const std::byte* data, std::uint64_t bytes, std::uint64_t description) {
    if (bytes > 0) std::memcpy(slot(bytes), data, bytes);
    publish(description);
  }
  // Whether publish_from() may do without a copy, for a message of so many bytes.
  [[nodiscard]] virtual bool may_borrow(std::uint64_t bytes) const {
    static_cast<void>(bytes);
    return false;
  }
  // Whether the reader has taken all that was published.
  [[nodiscard]] virtual bool is_drained() = 0;
  // Whether the system has all that was published.
  [[nodiscard]] virtual bool has_sent() const = 0;
};

// Messages from one rank.
class Incoming {
 public:
  Incoming() = default;
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;
  virtual ~Incoming() = default;

  [[nodiscard]] virtual bool has_message() const = 0;
  // Of the message that has_message() has seen.
  [[nodiscard]] virtual std::uint64_t description() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  [[nodiscard]] virtual const std::byte* data() const = 0;
  virtual void take() = 0;

  // Offers a place to the next message, if it has exactly so many bytes; at most one place at a time. Has no effect if
  // a message is there. data() says where the message is. After withdraw() one that is whole stays where it is; one
  // that is not continues in a slot, and nothing more is written to the place.
  virtual void expect(std::byte* place, std::uint64_t bytes) { static_cast<void>(place), static_cast<void>(bytes); }
  virtual void withdraw() {}
};

// The same on every rank.
struct EndpointShape {
  std::uint32_t depth = 8;         // messages of a queue that are on their way at once
  std::uint64_t slot = 128 << 10;  // the most bytes of one
};

// A rank that cannot be reached any more, and why.
struct Unreachable {
  std::uint32_t rank = 0;
  std::string words;
};

// After so many calls of step() all has been read that had come before the first.
inline constexpr int kStepsThatReadAll = 256;

class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  // What is still to be sent is lost.
  virtual ~Endpoint() = default;

  [[nodiscard]] virtual const EndpointShape& shape() const = 0;
  // They stay where they are as long as the endpoint lives.
  [[nodiscard]] virtual Outgoing& to(std::uint32_t rank, Traffic traffic) = 0;
  [[nodiscard]] virtual Incoming& from(std::uint32_t rank, Traffic traffic) = 0;

  // Goes on with what is under way as far as it can; whether anything has come or gone. Messages come, credits come
  // back and connections are made only here.
  virtual bool step() = 0;
  // Until step() has something to do, or for so long.
  virtual void sleep(std::chrono::nanoseconds longest) = 0;
  // Before a rank sleeps elsewhere, until descriptor() is readable: how long at most, of `longest`, as it may be that
  // step() has something to do all the same. Nothing: not at all. Others get the credits that they are owed.
  [[nodiscard]] virtual std::chrono::nanoseconds may_sleep(std::chrono::nanoseconds longest) = 0;
  // Readable where something has come since the last step(). Any thread may wait for that.
  [[nodiscard]] virtual int descriptor() const = 0;
  // Readable while step() is needed for the sake of others: a connection is broken, or somebody wants to make one. Any
  // thread may wait for that. -1: there is no such thing.
  [[nodiscard]] virtual int trouble_descriptor() const { return -1; }
  // Whether connections are being made, or what was lost with one is still to be sent again. Only step() does that.
  [[nodiscard]] virtual bool is_connecting() const { return false; }
  // Restarts the time limit of each rank that could not be reached so far and for which `matters` is true.
  virtual void renew_patience(const std::function<bool(std::uint32_t rank)>& matters) { static_cast<void>(matters); }
  // In a forked child, which has copies of all connections: closes these, so that the end of the rank is seen. Nothing
  // else may be called there.
  virtual void forsake() noexcept = 0;

  // Whether the system has all that was published, and all credits that are owed, so that they arrive although this
  // rank makes no step() for a while.
  [[nodiscard]] virtual bool has_sent_all() const = 0;
  // Whether all that was published for a rank has arrived at its host, or nobody is there any more to whom it could go.
  [[nodiscard]] virtual bool has_delivered(std::uint32_t rank) const = 0;

  // The first rank that is to send or be sent something, and with which no connection can be had for longer than is
  // allowed.
  [[nodiscard]] virtual const std::optional<Unreachable>& unreachable() const = 0;
  // That rank does not matter; the next one is told.
  virtual void forget_unreachable() = 0;
};

}  // namespace tutti::transport
