// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tutti::wire {
namespace {

constexpr std::array<std::uint8_t, kMagicBytes> kMagic = {'T', 'u', 't', 't', 'i', 'R', 'v', 0x1a};
constexpr std::size_t kFrameHeaderBytes = 5;
constexpr std::size_t kMostErrorWords = 4096;
constexpr std::uint32_t kNoTurn = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kLargeFrame = 1 << 15;                 // copying it costs more than the memory for the next one
constexpr std::uint32_t kAttaches = std::uint32_t{1} << 31;  // beside a fetch's rank

class Writer {
 public:
  template <typename Unsigned>
  void number(Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void words(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    raw(std::as_bytes(std::span(text)));
  }
  void addresses(const std::vector<Address>& all) {
    number(static_cast<std::uint8_t>(std::min(all.size(), kMostAddresses)));
    for (const Address& each : std::span(all).first(std::min(all.size(), kMostAddresses))) {
      number(static_cast<std::uint8_t>(each.family));
      number(each.port);
      number(each.scope);
      raw(std::as_bytes(std::span(each.bytes)));
    }
  }
  void interfaces(const Interfaces& interfaces) {
    number(interfaces.begins);
    number(interfaces.num_in_turn);
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads on as long as all is well; after the first thing that is not there everything is zero, and good() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Unsigned>
  Unsigned number() {
    Unsigned value = 0;
    const auto part = raw(sizeof(Unsigned));
    for (std::size_t i = part.size(); i-- > 0;) {
      value = static_cast<Unsigned>((value << 8) | std::to_integer<Unsigned>(part[i]));
    }
    return value;
  }
  std::span<const std::byte> raw(std::size_t count) {
    if (!good_ || count > bytes_.size()) {
      good_ = false;
      return {};
    }
    const auto part = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return part;
  }
  std::string words() {
    const auto part = raw(number<std::uint32_t>());
    std::string text(part.size(), '\0');
    std::transform(part.begin(), part.end(), text.begin(), [](std::byte b) { return static_cast<char>(b); });
    return text;
  }
  std::vector<Address> addresses() {
    std::vector<Address> all;
    const auto count = number<std::uint8_t>();
    good_ = good_ && count <= kMostAddresses;
    for (std::size_t i = 0; good_ && i < count; ++i) {
      Address address;
      const auto family = number<std::uint8_t>();
      // Local ones are of no use to other hosts.
      good_ = good_ && (family == static_cast<std::uint8_t>(Address::Family::ipv4) ||
                        family == static_cast<std::uint8_t>(Address::Family::ipv6));
      address.family = static_cast<Address::Family>(family);
      address.port = number<std::uint16_t>();
      address.scope = number<std::uint32_t>();
      for (std::uint8_t& byte : address.bytes) byte = number<std::uint8_t>();
      if (good_) all.push_back(address);
    }
    return all;
  }
  Interfaces interfaces() {
    Interfaces interfaces;
    interfaces.begins = number<std::uint32_t>();
    interfaces.num_in_turn = number<std::uint16_t>();
    return interfaces;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool good_and_all_read() const { return good_ && bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

Status malformed(std::string_view what) {
  return {Code::internal, fmt::format("received a malformed {} during the rendezvous", what)};
}

std::vector<std::byte> frame(FrameType type, std::span<const std::byte> body) {
  Writer writer;
  writer.reserve(kFrameHeaderBytes + body.size());
  writer.number(static_cast<std::uint8_t>(type));
  writer.number(static_cast<std::uint32_t>(body.size()));
  writer.raw(body);
  return writer.take();
}

}  // namespace

std::vector<std::byte> encode(const Hello& hello, const Token& token) {
  Writer body;
  body.number(static_cast<std::uint8_t>(hello.is_unsure ? 1 : 0));
  body.number(static_cast<std::uint32_t>(hello.pid));
  body.words(hello.host.name);
  body.words(hello.host.id);
  body.words(hello.host.boot);
  body.words(hello.host.network);
  body.words(hello.host.processes);
  body.words(hello.leader_socket);
  body.addresses(hello.addresses);
  body.words(hello.endpoint_name);
  body.number(hello.turn.value_or(kNoTurn));
  body.interfaces(hello.interfaces);
  body.words(hello.configuration);
  body.number(static_cast<std::uint8_t>(hello.refusal.code()));
  body.words(hello.refusal.ok() ? "" : hello.refusal.to_string().substr(0, kMostErrorWords));
  const std::vector<std::byte> bytes = body.take();

  Writer writer;
  writer.raw(std::as_bytes(std::span(kMagic)));
  writer.number(hello.version);
  writer.raw(token);
  writer.number(hello.generation);
  writer.number(static_cast<std::uint32_t>(hello.rank));
  writer.number(static_cast<std::uint32_t>(hello.num_ranks));
  writer.number(static_cast<std::uint32_t>(bytes.size()));
  writer.raw(bytes);
  return writer.take();
}

bool may_be_hello(std::span<const std::byte> bytes) {
  const auto begin = bytes.first(std::min(bytes.size(), kMagicBytes));
  return std::equal(begin.begin(), begin.end(), std::as_bytes(std::span(kMagic)).begin());
}

std::optional<Prefix> parse_prefix(std::span<const std::byte, kPrefixBytes> bytes, const Token& token) {
  if (!may_be_hello(bytes)) return std::nullopt;
  Reader reader(bytes.subspan<kMagicBytes>());
  Prefix prefix;
  prefix.version = reader.number<std::uint32_t>();
  if (!same_token(reader.raw(kTokenBytes).first<kTokenBytes>(), token)) return std::nullopt;
  prefix.generation = reader.number<std::uint64_t>();
  prefix.rank = reader.number<std::uint32_t>();
  prefix.num_ranks = reader.number<std::uint32_t>();
  prefix.body_bytes = reader.number<std::uint32_t>();
  return prefix;
}

Result<Hello> parse_body(const Prefix& prefix, std::span<const std::byte> body) {
  constexpr std::uint32_t kMostInt = std::numeric_limits<int>::max();
  Reader reader(body);
  Hello hello;
  hello.version = prefix.version;
  hello.generation = prefix.generation;
  hello.rank = static_cast<int>(std::min(prefix.rank, kMostInt));
  hello.num_ranks = static_cast<int>(std::min(prefix.num_ranks, kMostInt));
  const auto unsure = reader.number<std::uint8_t>();
  hello.is_unsure = unsure == 1;
  hello.pid = static_cast<pid_t>(reader.number<std::uint32_t>());
  hello.host.name = reader.words();
  hello.host.id = reader.words();
  hello.host.boot = reader.words();
  hello.host.network = reader.words();
  hello.host.processes = reader.words();
  hello.leader_socket = reader.words();
  hello.addresses = reader.addresses();
  hello.endpoint_name = reader.words();
  if (const auto turn = reader.number<std::uint32_t>(); turn != kNoTurn) hello.turn = turn;
  hello.interfaces = reader.interfaces();
  hello.configuration = reader.words();
  const auto refusal = reader.number<std::uint8_t>();
  std::string why = reader.words();
  const bool is_refusal = refusal <= static_cast<std::uint8_t>(Code::internal) && why.size() <= kMostErrorWords &&
                          (refusal != 0 || why.empty());
  const bool is_name = hello.endpoint_name.size() <= kMostEndpointNameBytes;
  if (!reader.good_and_all_read() || !is_refusal || !is_name || unsure > 1) return malformed("hello");
  if (refusal != 0) hello.refusal = Status(static_cast<Code>(refusal), std::move(why), hello.rank);
  return hello;
}

std::vector<std::byte> encode(FrameType type, std::string_view words) {
  return frame(type, std::as_bytes(std::span(words)));
}

std::vector<std::byte> encode(const Table& table) {
  Writer body;
  body.number(table.generation);
  body.number(static_cast<std::uint32_t>(table.ranks.size()));
  for (const TableRow& row : table.ranks) {
    body.number(row.host);
    body.number(static_cast<std::uint32_t>(row.pid));
    body.words(row.leader_socket);
    body.addresses(row.addresses);
    body.words(row.endpoint_name);
    body.number(row.turn);
    body.interfaces(row.interfaces);
  }
  return frame(FrameType::table, body.take());
}

std::vector<std::byte> encode(FrameType type, const Status& error) { return frame(type, encode_body(error)); }

std::vector<std::byte> encode_body(const Status& error) {
  Writer body;
  body.number(static_cast<std::uint8_t>(error.code()));
  body.number(static_cast<std::uint32_t>(error.rank()));
  body.words(error.to_string().substr(0, kMostErrorWords));
  return body.take();
}

std::vector<std::byte> encode_rank(FrameType type, int rank) {
  Writer body;
  body.number(static_cast<std::uint32_t>(rank));
  return frame(type, body.take());
}

std::vector<std::byte> encode(const Place& place) {
  Writer body;
  body.number(place.generation);
  body.number(static_cast<std::uint32_t>(place.rank));
  body.number(static_cast<std::uint32_t>(place.pid));
  body.addresses(place.addresses);
  return frame(FrameType::go_to, body.take());
}

std::vector<std::byte> encode(const Frame& whole) { return frame(whole.type, whole.body); }

Result<std::optional<Frame>> take_frame(std::vector<std::byte>& buffer) {
  if (buffer.size() < kFrameHeaderBytes) return std::optional<Frame>();
  Reader reader(buffer);
  const auto type = reader.number<std::uint8_t>();
  const auto length = reader.number<std::uint32_t>();
  const bool known =
      type >= static_cast<std::uint8_t>(FrameType::progress) && type <= static_cast<std::uint8_t>(FrameType::gone);
  const bool is_table = type == static_cast<std::uint8_t>(FrameType::table);
  if (!known || length > (is_table ? kMostTableBytes : kMostFrameBytes)) return malformed("frame");
  if (reader.left() < length) {
    // Memory that nothing is written to is none yet.
    buffer.reserve(kFrameHeaderBytes + length);
    return std::optional<Frame>();
  }
  if (reader.left() == length && length >= kLargeFrame) {
    Frame frame{static_cast<FrameType>(type), std::exchange(buffer, {})};
    frame.body.erase(frame.body.begin(), frame.body.begin() + static_cast<std::ptrdiff_t>(kFrameHeaderBytes));
    return std::optional<Frame>(std::move(frame));
  }
  const auto body = reader.raw(length);
  Frame frame{static_cast<FrameType>(type), {body.begin(), body.end()}};
  buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(kFrameHeaderBytes + length));
  return std::optional<Frame>(std::move(frame));
}

std::string parse_words(const Frame& frame) {
  std::string text;
  for (const std::byte byte : frame.body) text += static_cast<char>(byte);
  return text;
}

TableReader::TableReader(const Frame& frame) {
  Reader reader(frame.body);
  generation_ = reader.number<std::uint64_t>();
  num_ranks_ = reader.number<std::uint32_t>();
  is_good_ = reader.good();
  rest_ = std::span(frame.body).last(reader.left());
}

bool TableReader::next(TableRow& row) {
  if (!is_good_ || num_read_ == num_ranks_) return false;
  Reader reader(rest_);
  row.host = reader.number<std::uint32_t>();
  row.pid = static_cast<pid_t>(reader.number<std::uint32_t>());
  row.leader_socket = reader.words();
  row.addresses = reader.addresses();
  row.endpoint_name = reader.words();
  row.turn = reader.number<std::uint32_t>();
  row.interfaces = reader.interfaces();
  is_good_ = reader.good() && row.host < num_ranks_ && row.endpoint_name.size() <= kMostEndpointNameBytes;
  rest_ = rest_.last(reader.left());
  ++num_read_;
  return is_good_;
}

Status TableReader::end() const {
  return is_good_ && num_read_ == num_ranks_ && rest_.empty() ? Status() : malformed("table");
}

Result<Place> parse_place(const Frame& frame) {
  Reader reader(frame.body);
  Place place;
  place.generation = reader.number<std::uint64_t>();
  place.rank = static_cast<int>(std::min<std::uint32_t>(reader.number<std::uint32_t>(), kAttaches - 1));
  place.pid = static_cast<pid_t>(reader.number<std::uint32_t>());
  place.addresses = reader.addresses();
  if (!reader.good_and_all_read()) return malformed("place");
  return place;
}

std::optional<int> parse_rank(const Frame& frame) {
  Reader reader(frame.body);
  const auto rank = reader.number<std::uint32_t>();
  if (!reader.good_and_all_read() || rank >= kAttaches) return std::nullopt;
  return static_cast<int>(rank);
}

Status parse_error(const Frame& frame) {
  Reader reader(frame.body);
  const auto code = reader.number<std::uint8_t>();
  const auto rank = static_cast<int>(reader.number<std::uint32_t>());
  std::string words = reader.words();
  const bool known = code > static_cast<std::uint8_t>(Code::ok) && code <= static_cast<std::uint8_t>(Code::internal);
  if (!reader.good_and_all_read() || !known) return malformed("error");
  return {static_cast<Code>(code), std::move(words), rank};
}

std::vector<std::byte> encode(const Fetch& fetch, const Token& token) {
  Writer writer;
  writer.raw(token);
  writer.number(fetch.generation);
  writer.number(fetch.rank | (fetch.attaches ? kAttaches : 0));
  return writer.take();
}

std::optional<Fetch> parse_fetch(std::span<const std::byte> bytes, const Token& token) {
  if (bytes.size() != kFetchBytes || !same_token(bytes.first<kTokenBytes>(), token)) return std::nullopt;
  Reader reader(bytes.subspan(kTokenBytes));
  Fetch fetch;
  fetch.generation = reader.number<std::uint64_t>();
  const auto rank = reader.number<std::uint32_t>();
  fetch.rank = rank & ~kAttaches;
  fetch.attaches = (rank & kAttaches) != 0;
  return fetch;
}

}  // namespace tutti::wire
