// SPDX-License-Identifier: Apache-2.0
// The elements of an MSCCL file, by expat: one pass, nothing kept but what stands in file.hpp.
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include <expat.h>
#include <fmt/format.h>

#include "base/text.hpp"
#include "schedule/msccl/file.hpp"

namespace tutti::msccl {

namespace {

struct CollectiveName {
  std::string_view name;
  Collective collective;
};

// Those that have no root, for which the format has no word. msccl-tools and the interpreter spell one differently.
constexpr CollectiveName kCollectives[] = {
    {"allreduce", Collective::all_reduce},         {"allgather", Collective::all_gather},
    {"reducescatter", Collective::reduce_scatter}, {"reduce_scatter", Collective::reduce_scatter},
    {"alltoall", Collective::all_to_all},
};

constexpr std::string_view kElements[] = {"algo", "gpu", "tb", "step"};  // each inside the one before

class Reader {
 public:
  explicit Reader(std::string_view path) : parser_(XML_ParserCreate(nullptr)) { file_.path = path; }

  Result<File> read(std::string_view text) {
    XML_Parser parser = parser_.get();
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser,
        [](void* self, const XML_Char* name, const XML_Char** pairs) {
          static_cast<Reader*>(self)->start(name, pairs);
        },
        [](void* self, const XML_Char*) { static_cast<Reader*>(self)->end(); });
    XML_SetCharacterDataHandler(parser, [](void* self, const XML_Char* text_of_element, int length) {
      static_cast<Reader*>(self)->characters({text_of_element, static_cast<std::size_t>(length)});
    });
    // Without a document type there are no entities, whose expansion would make a small file large.
    XML_SetStartDoctypeDeclHandler(parser, [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
      static_cast<Reader*>(self)->fail("found a document type declaration, expected none: entities are not read");
    });
    constexpr std::size_t kPart = std::size_t{1} << 20U;
    bool last = false;
    while (!last) {
      const std::string_view part = text.substr(0, kPart);
      text.remove_prefix(part.size());
      last = text.empty();
      if (XML_Parse(parser, part.data(), static_cast<int>(part.size()), last ? 1 : 0) == XML_STATUS_OK) continue;
      if (error_) return *error_;
      return wrong_at(file_.path, line(),
                      fmt::format("found {}, expected well-formed XML", XML_ErrorString(XML_GetErrorCode(parser))));
    }
    return std::move(file_);
  }

 private:
  struct Free {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
  };

  [[nodiscard]] std::uint32_t line() const {
    return static_cast<std::uint32_t>(XML_GetCurrentLineNumber(parser_.get()));
  }

  bool fail(std::string_view what) {
    if (!error_) error_ = wrong_at(file_.path, line(), what);
    XML_StopParser(parser_.get(), XML_FALSE);
    return false;
  }

  void start(std::string_view element, const XML_Char** pairs) {
    if (error_) return;  // expat may still hand over what it has begun
    if (depth_ == std::size(kElements)) {
      fail(fmt::format("found <{}> inside <step>, expected nothing", printable(element)));
    } else if (element != kElements[depth_]) {
      fail(fmt::format("found <{}>, expected <{}>", printable(element), kElements[depth_]));
    } else if (take_attributes(pairs)) {
      ++depth_;
      switch (depth_) {
        case 1: start_algo(); return;
        case 2: start_gpu(); return;
        case 3: start_block(); return;
        default: start_step(); return;
      }
    }
  }

  void end() {
    if (!error_) --depth_;
  }

  void characters(std::string_view text) {
    if (error_ || text.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
    fail(fmt::format("found the text {}, expected elements only", in_quotes(trim(text))));
  }

  bool take_attributes(const XML_Char** pairs) {
    attributes_.clear();
    for (; *pairs != nullptr; pairs += 2) {
      const std::string_view name = pairs[0];
      const std::string_view value = pairs[1];
      if (attributes_.size() == kMostAttributes)
        return fail(fmt::format("found more than {} attributes, expected fewer", kMostAttributes));
      if (value.size() > kMostValueBytes)
        return fail(fmt::format("found {} bytes of attribute {}, expected at most {}", value.size(), in_quotes(name),
                                kMostValueBytes));
      attributes_.emplace_back(name, value);
    }
    return true;
  }

  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const {
    for (const auto& [own, value] : attributes_)
      if (own == name) return value;
    return std::nullopt;
  }

  bool text_of(std::string_view name, std::string_view& value) {
    const auto found = find(name);
    if (!found) return fail(fmt::format("found no attribute {}, expected one of <{}>", name, kElements[depth_ - 1]));
    value = *found;
    return true;
  }

  template <typename Integer>
  bool number(std::string_view name, Integer least, Integer most, Integer& value) {
    std::string_view text;
    if (!text_of(name, text)) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return true;
    if (least == most) return fail(fmt::format("found {}={}, expected {}", name, in_quotes(text), least));
    return fail(fmt::format("found {}={}, expected a whole number from {} to {}", name, in_quotes(text), least, most));
  }

  bool flag(std::string_view name, bool& value) {
    std::int32_t as_number = 0;
    if (!number(name, 0, 1, as_number)) return false;
    value = as_number == 1;
    return true;
  }

  bool buffer(std::string_view name, Buffer& value) {
    std::string_view text;
    if (!text_of(name, text)) return false;
    if (text == "i") {
      value = Buffer::input;
    } else if (text == "o") {
      value = Buffer::output;
    } else if (text == "s") {
      value = Buffer::scratch;
    } else {
      return fail(fmt::format("found {}={}, expected i, o or s", name, in_quotes(text)));
    }
    return true;
  }

  void start_algo() {
    file_.line = line();
    file_.name = printable(find("name").value_or("msccl"));
    std::string_view collective;
    if (!text_of("coll", collective)) return;
    const auto* found = std::find_if(std::begin(kCollectives), std::end(kCollectives),
                                     [&](const CollectiveName& each) { return each.name == collective; });
    if (found == std::end(kCollectives)) {
      fail(fmt::format("found coll={}, expected allreduce, allgather, reducescatter or alltoall",
                       in_quotes(collective)));
      return;
    }
    file_.collective = found->collective;
    const bool all = number("ngpus", 1, kMostRanks, file_.num_ranks) &&
                     number("nchannels", 0, static_cast<std::int32_t>(kMostChannels), file_.num_channels) &&
                     number("nchunksperloop", 1, kMostChunks, file_.chunks_per_loop) && flag("inplace", file_.in_place);
    if (!all) return;
    // Before there was a flag for out of place, a program was for one or the other.
    file_.out_of_place = !file_.in_place;
    if (find("outofplace") && !flag("outofplace", file_.out_of_place)) return;
    if (!file_.in_place && !file_.out_of_place) {
      fail("found inplace=\"0\" and outofplace=\"0\", expected a 1 in one of them");
      return;
    }
    // Which sizes a program is meant for does not change what it does; but a wrong number is a wrong file.
    std::int64_t bytes = 0;
    for (const std::string_view name : {"minBytes", "maxBytes"})
      if (find(name) && !number(name, std::int64_t{0}, INT64_MAX, bytes)) return;
  }

  void start_gpu() {
    if (file_.gpus.size() == static_cast<std::size_t>(file_.num_ranks)) {
      fail(fmt::format("found one <gpu> more, expected the {} of ngpus", file_.num_ranks));
      return;
    }
    FileGpu& gpu = file_.gpus.emplace_back();
    gpu.line = line();
    static_cast<void>(number("id", 0, file_.num_ranks - 1, gpu.id) &&
                      number("i_chunks", 0, kMostChunks, gpu.input_chunks) &&
                      number("o_chunks", 0, kMostChunks, gpu.output_chunks) &&
                      number("s_chunks", 0, kMostChunks, gpu.scratch_chunks));
  }

  void start_block() {
    FileBlock& block = file_.gpus.back().blocks.emplace_back();
    block.line = line();
    static_cast<void>(number("id", 0, kMostThreadBlocks - 1, block.id) &&
                      number("send", -1, file_.num_ranks - 1, block.send) &&
                      number("recv", -1, file_.num_ranks - 1, block.recv) &&
                      number("chan", -1, static_cast<std::int32_t>(kMostChannels) - 1, block.channel));
  }

  void start_step() {
    std::vector<FileStep>& steps = file_.gpus.back().blocks.back().steps;
    if (num_steps_++ == kMostSteps) {
      fail(fmt::format("found more than {} steps, expected fewer", kMostSteps));
      return;
    }
    const auto due = static_cast<std::int32_t>(steps.size());
    FileStep& step = steps.emplace_back();
    step.line = line();
    std::string_view type;
    std::int32_t place = 0;
    if (!number("s", due, due, place) || !text_of("type", type)) return;
    step.type = std::find_if(std::begin(kStepTypes), std::end(kStepTypes),
                             [&](const StepType& each) { return each.name == type; });
    if (step.type == std::end(kStepTypes)) {
      fail(fmt::format("found type={}, expected s, r, cpy, re, rrc, rcs, rrs, rrcs or nop", in_quotes(type)));
      return;
    }
    static_cast<void>(buffer("srcbuf", step.source_buffer) && number("srcoff", -1, kMostChunks, step.source) &&
                      buffer("dstbuf", step.destination_buffer) &&
                      number("dstoff", -1, kMostChunks, step.destination) &&
                      number("cnt", step.type->works() ? 1 : 0, kMostChunks, step.count) &&
                      number("depid", -1, kMostThreadBlocks - 1, step.depends_on_block) &&
                      number("deps", -1, static_cast<std::int32_t>(kMostSteps), step.depends_on_step) &&
                      flag("hasdep", step.has_dependents));
  }

  std::unique_ptr<std::remove_pointer_t<XML_Parser>, Free> parser_;
  File file_;
  std::size_t depth_ = 0;
  std::uint32_t num_steps_ = 0;
  std::vector<std::pair<std::string_view, std::string_view>> attributes_;  // of the present element; expat's memory
  std::optional<Status> error_;
};

}  // namespace

bool has_xml() { return true; }

Result<File> parse_xml(std::string_view text, std::string_view path) {
  if (text.size() > kMostBytes) {
    return Status(Code::invalid_argument, fmt::format("cannot read {}: found {} bytes, expected at most {}",
                                                      in_quotes(path), text.size(), kMostBytes));
  }
  return Reader(path).read(text);
}

}  // namespace tutti::msccl
