// SPDX-License-Identifier: Apache-2.0
#include "launch/frames.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::launch {

namespace {

// type (1), number (4), length (4), little-endian; then the bytes.
constexpr std::size_t kHeader = 9;
constexpr std::size_t kMostWords = 1 << 20;

void put(std::string& to, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>((number >> shift) & 0xFF);
}

void put(std::string& to, std::string_view text) {
  put(to, static_cast<std::uint32_t>(text.size()));
  to += text;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) number = (number << 8) | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

bool is_known(std::uint8_t type) {
  const auto within = [type](FrameType first, FrameType last) {
    return type >= static_cast<std::uint8_t>(first) && type <= static_cast<std::uint8_t>(last);
  };
  return within(FrameType::order, FrameType::input_end) || within(FrameType::greeting, FrameType::input_taken);
}

std::size_t most_bytes(FrameType type) { return type == FrameType::order ? kMostOrder : kMostPayload; }

Status not_an_order(std::string_view why) { return wrong_argument(fmt::format("this is not an order: {}", why)); }

// Takes fields from the front. Once something is missing, all that follows is empty, and ok() is false.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : left_(bytes) {}
  std::uint32_t number() {
    if (left_.size() < 4) return fail();
    const std::uint32_t value = number_at(left_, 0);
    left_.remove_prefix(4);
    return value;
  }
  // No program takes a text with a zero byte.
  std::string text() {
    const std::size_t size = number();
    if (size > left_.size() || left_.substr(0, size).find('\0') != std::string_view::npos) {
      fail();
      return {};
    }
    std::string value(left_.substr(0, size));
    left_.remove_prefix(size);
    return value;
  }
  std::vector<std::string> texts() {
    const std::uint32_t count = number();
    if (count > kMostWords) fail();
    std::vector<std::string> values;
    for (std::uint32_t i = 0; i < count && ok_; ++i) values.push_back(text());
    return values;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool is_at_end() const { return ok_ && left_.empty(); }

 private:
  std::uint32_t fail() {
    ok_ = false;
    left_ = {};
    return 0;
  }
  std::string_view left_;
  bool ok_ = true;
};

Status check(const RankRange& ranks) {
  const bool is_right = ranks.count >= 1 && ranks.first >= 0 && ranks.first_place >= 0 && ranks.total >= 1 &&
                        ranks.count <= ranks.total && ranks.first <= ranks.total - ranks.count;
  if (is_right) return {};
  return not_an_order(fmt::format("it asks for {} ranks from {} of {}", ranks.count, ranks.first, ranks.total));
}

}  // namespace

std::string encode(FrameType type, std::uint32_t number, std::string_view bytes) {
  std::string frame(1, static_cast<char>(type));
  put(frame, number);
  put(frame, bytes);
  return frame;
}

Result<std::optional<Frame>> FrameReader::next() {
  if (pending_.empty()) return std::optional<Frame>();
  const auto type = static_cast<std::uint8_t>(pending_.front());
  const bool has_header = pending_.size() >= kHeader;
  const std::size_t size = has_header ? number_at(pending_, 5) : 0;
  if (!is_known(type) || size > most_bytes(static_cast<FrameType>(type))) {
    return Status(Code::invalid_argument, in_quotes(std::string_view(pending_).substr(0, pending_.find('\n'))));
  }
  if (!has_header || pending_.size() < kHeader + size) return std::optional<Frame>();
  Frame frame{static_cast<FrameType>(type), number_at(pending_, 1), pending_.substr(kHeader, size)};
  pending_.erase(0, kHeader + size);
  return std::optional(std::move(frame));
}

std::string encode(const Order& order) {
  std::string bytes;
  put(bytes, order.version);
  const RankRange& ranks = order.ranks;
  for (const int number : {ranks.first, ranks.count, ranks.total, ranks.first_place, order.bind_to_cores ? 1 : 0})
    put(bytes, static_cast<std::uint32_t>(number));
  put(bytes, order.id.to_text());
  put(bytes, order.folder);
  put(bytes, static_cast<std::uint32_t>(order.command.size()));
  for (const std::string& word : order.command) put(bytes, word);
  put(bytes, static_cast<std::uint32_t>(order.variables.size()));
  for (const auto& [name, value] : order.variables) put(bytes, fmt::format("{}={}", name, value));
  return encode(FrameType::order, 0, bytes);
}

Result<Order> decode_order(std::string_view bytes, std::string_view own_version) {
  Fields fields(bytes);
  Order order;
  order.version = fields.text();
  if (!fields.ok()) return not_an_order("it has no version");
  if (order.version != own_version) {
    return Status(Code::unsupported,
                  fmt::format("tutti is {} there, and {} on the launcher's host; both must be the same", own_version,
                              printable(order.version)));
  }
  for (int* const number : {&order.ranks.first, &order.ranks.count, &order.ranks.total, &order.ranks.first_place})
    *number = static_cast<int>(fields.number());
  order.bind_to_cores = fields.number() != 0;
  const std::string id = fields.text();
  order.folder = fields.text();
  order.command = fields.texts();
  for (const std::string& variable : fields.texts()) {
    const std::size_t equals = variable.find('=');
    if (equals == 0 || equals == std::string::npos) return not_an_order("a variable has no name or no value");
    order.variables.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  if (!fields.is_at_end()) return not_an_order("it is too short or too long");
  TUTTI_TRY(check(order.ranks));
  if (order.command.empty() || order.command.front().empty()) return not_an_order("it names no program");
  TUTTI_TRY_ASSIGN(order.id, UniqueId::from_text(id));
  return order;
}

std::string encode(const RankEnd& end) {
  std::string bytes;
  for (const int number : {end.process, end.was_killed ? 1 : 0, end.status})
    put(bytes, static_cast<std::uint32_t>(number));
  return encode(FrameType::ended, static_cast<std::uint32_t>(end.rank), bytes);
}

Result<RankEnd> decode_end(const Frame& frame) {
  Fields fields(frame.bytes);
  RankEnd end{.rank = static_cast<int>(frame.number)};
  end.process = static_cast<int>(fields.number());
  end.was_killed = fields.number() != 0;
  end.status = static_cast<int>(fields.number());
  if (!fields.is_at_end()) return wrong_argument("the end of a rank is malformed");
  return end;
}

}  // namespace tutti::launch
