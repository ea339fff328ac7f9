#include "base/conf.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"

namespace tutti {

namespace {

constexpr bool is_name_begin(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
constexpr bool is_name_part(char c) { return is_name_begin(c) || (c >= '0' && c <= '9'); }

bool is_name(std::string_view text) {
  return !text.empty() && is_name_begin(text.front()) && std::all_of(text.begin(), text.end(), is_name_part);
}

// A value may be a secret, so a message shows of a line only what stands before the first blank or '='.
std::string shown(std::string_view line) {
  const std::string_view first = line.substr(0, line.find_first_of(" \t="));
  return first.size() == line.size() ? in_quotes(line) : in_quotes(first) + " and more";
}

// Either the value or what is wrong about it.
struct ParsedValue {
  std::string_view value;
  std::string_view wrong;
};

ParsedValue parse_value(std::string_view text) {
  if (text.empty() || text.front() != '"') {
    // A comment begins at a # behind a blank, so that a#b is a value.
    for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
      if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t') return {trim(text.substr(0, at)), {}};
    }
    return {text, {}};
  }
  const std::size_t close = text.find('"', 1);
  if (close == std::string_view::npos) return {{}, "the quote is not closed; end the value with \""};
  const std::string_view behind = trim(text.substr(close + 1));
  if (!behind.empty() && behind.front() != '#')
    return {{}, "something follows the closing quote; only a # comment may"};
  return {text.substr(1, close - 1), {}};
}

struct FileDescriptor {
  int number;
  explicit FileDescriptor(int descriptor) : number(descriptor) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number >= 0) ::close(number);
  }
};

class Parser {
 public:
  explicit Parser(std::string_view path) : path_(path) {}

  void take(std::string_view line) {
    ++number_;
    const std::string_view text = trim(line);
    if (first_invalid_utf8(line) != std::string_view::npos) return wrong("the line is not UTF-8 text");
    const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; };
    if (std::any_of(text.begin(), text.end(), is_control)) return wrong("the line holds a control character");
    if (text.empty() || text.front() == '#') return;
    const std::size_t equals = text.find('=');
    const std::string_view name = trim(text.substr(0, equals));
    if (equals == std::string_view::npos || !is_name(name)) {
      return wrong(fmt::format("found {}, expected NAME = value", shown(text)));
    }
    const ParsedValue parsed = parse_value(trim(text.substr(equals + 1)));
    if (!parsed.wrong.empty()) return wrong(fmt::format("{}: {}", name, parsed.wrong));
    const auto [earlier, is_new] = line_of_.try_emplace(std::string(name), number_);
    if (!is_new) return wrong(fmt::format("{} is set a second time, after line {}; keep one", name, earlier->second));
    contents_.lines.push_back({std::string(name), std::string(parsed.value), number_});
  }

  ConfContents finish() && { return std::move(contents_); }

 private:
  void wrong(std::string_view what) {
    // A file that is not a conf at all is wrong in every line; the first ones tell.
    constexpr std::size_t kMostErrors = 20;
    if (contents_.errors.size() < kMostErrors) {
      contents_.errors.push_back(fmt::format("{}:{}: {}", path_, number_, what));
    } else if (contents_.errors.size() == kMostErrors) {
      contents_.errors.push_back(fmt::format("{}:{}: and more; is this a tutti.conf?", path_, number_));
    }
  }

  std::string_view path_;
  int number_ = 0;
  std::unordered_map<std::string, int> line_of_;
  ConfContents contents_;
};

}  // namespace

ConfContents parse_conf(std::string_view text, std::string_view path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Parser parser(path);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(parser).finish();
}

Result<std::optional<std::string>> read_conf(const std::string& path) {
  const auto cannot = [&](int error) {
    return Status::from_errno(fmt::format("cannot read {}", in_quotes(path)), error);
  };
  // Non-blocking, so that a pipe without a writer is refused below and not waited for.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>();
    return cannot(errno);
  }
  struct stat about {};
  if (::fstat(file.number, &about) != 0) return cannot(errno);
  if (S_ISDIR(about.st_mode)) return cannot(EISDIR);
  if (!S_ISREG(about.st_mode) && !S_ISCHR(about.st_mode)) {
    return Status(Code::invalid_argument, fmt::format("cannot read {}: it is not a regular file", in_quotes(path)));
  }
  std::string text;
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t count = ::read(file.number, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot(errno);
    if (count == 0) return std::optional(std::move(text));
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > kConfGreatestBytes) {
      return Status(Code::invalid_argument,
                    fmt::format("cannot read {}: it is larger than {} bytes, which no tutti.conf is", in_quotes(path),
                                kConfGreatestBytes));
    }
  }
}

}  // namespace tutti
