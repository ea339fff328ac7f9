// SPDX-License-Identifier: Apache-2.0
#include "peers/null/misbehaviour.hpp"

#include <cerrno>
#include <cstdio>
#include <span>
#include <string>

#include <poll.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "base/unique_id.hpp"
#include "bench/process/connection.hpp"
#include "bench/process/worker.hpp"

namespace tutti::peers {

namespace {

using harness::Connection;
using harness::Json;

Result<Connection> connected(const Address& address) {
  TUTTI_TRY_ASSIGN(UniqueFd socket, begin_connect(address));
  pollfd waiting{socket.get(), POLLOUT, 0};
  while (::poll(&waiting, 1, -1) < 0 && errno == EINTR) continue;
  TUTTI_TRY(connect_outcome(socket.get()));
  Connection connection(std::move(socket));
  connection.trust();
  return connection;
}

void say(const Connection& connection, std::string_view bytes) {
  static_cast<void>(send_some(connection.fd(), std::as_bytes(std::span(bytes))));
}

void break_it(const NullOrders& orders, int rank, Connection& connection) {
  const Json answer = {{"prepared", true}, {"processor_time", 0}};
  if (orders.twice == rank) {
    static_cast<void>(connection.send(answer));
    static_cast<void>(connection.send(answer));
  } else if (orders.garbage == rank) {
    say(connection, std::string_view("\x07\0\0\0}{gar\x1b!", 11));
  } else if (orders.oversized == rank) {
    say(connection, "\xff\xff\xff\xff{");
  }
}

Status misbehave_with(const NullOrders& orders, int rank, int num_ranks, const UniqueId& id) {
  TUTTI_TRY_ASSIGN(Connection connection, connected(id.address()));
  TUTTI_TRY(connection.send({{"hello", id.to_text()},
                             {"rank", rank},
                             {"num_ranks", num_ranks},
                             {"pid", static_cast<std::int64_t>(::getpid())}}));
  while (true) {
    const Result<Json> order = connection.await();
    if (!order.ok()) return {};  // the runner has had enough
    const std::string what = order->value("order", "");
    if (what == "leave") return {};
    if (what == "begin") {
      TUTTI_TRY(
          connection.send({{"began", true}, {"rank", rank}, {"num_ranks", num_ranks}, {"version", "misbehaving"}}));
    } else if (what == "prepare") {
      break_it(orders, rank, connection);
    }
  }
}

}  // namespace

bool misbehaves(const NullOrders& orders, int rank) {
  return orders.twice == rank || orders.garbage == rank || orders.oversized == rank || orders.silent == rank;
}

int misbehave(const NullOrders& orders, int rank, int num_ranks, const Environment& environment) {
  const Result<UniqueId> id = UniqueId::from_text(environment.lookup(harness::kWorkerVariable).value_or(""));
  const Status status = id.ok() ? misbehave_with(orders, rank, num_ranks, *id) : id.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "worker: %s\n", status.to_string().c_str());
  return 1;
}

void visit_as_stranger(const Environment& environment) {
  const Result<UniqueId> id = UniqueId::from_text(environment.lookup(harness::kWorkerVariable).value_or(""));
  if (!id.ok()) return;
  Result<Connection> connection = connected(id->address());
  const Result<UniqueId> wrong = UniqueId::make(id->address());
  if (!connection.ok() || !wrong.ok()) return;
  static_cast<void>(connection->send({{"hello", wrong->to_text()}, {"rank", 0}, {"num_ranks", 1}, {"pid", 1}}));
  static_cast<void>(connection->await());
}

std::vector<Connection> crowd(const Environment& environment, int count) {
  std::vector<Connection> all;
  const Result<UniqueId> id = UniqueId::from_text(environment.lookup(harness::kWorkerVariable).value_or(""));
  if (!id.ok()) return all;
  for (int each = 0; each < count; ++each) {
    Result<Connection> connection = connected(id->address());
    if (connection.ok()) all.push_back(std::move(*connection));
  }
  return all;
}

}  // namespace tutti::peers
