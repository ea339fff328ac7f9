// Calls whose blocks differ in size. Each rank knows its own counts alone, so the ranks first tell each other five
// words about them (count_statement.hpp). Then all know the largest block, from which rounds follow, and the size of
// the whole, by which an algorithm is chosen; and all know whether the counts agree. Where they do not, or a rank has
// refused its arguments, every rank returns an error and nothing is broken (docs/decisions/0020).
#include <fmt/format.h>

#include "runtime/communicator.hpp"

namespace tutti {

namespace {

static_assert(sizeof(CountStatement) <= shm::kInlineBytes, "statements travel in the line of a flag");

}  // namespace

Status Communicator::run_varying(const Invocation& asked) {
  if (!facts_of(asked.collective).varies)
    return {Code::invalid_argument, fmt::format("the blocks of {} are all of one size", name_of(asked.collective))};
  const Result<const Prepared*> entry = prepared(asked);
  if (!entry.ok()) return entry.status();
  Schedule header;
  header.collective = asked.collective;
  header.num_ranks = num_ranks_;
  header.root = asked.root;
  header.spaces = spaces_of(asked.collective, num_ranks_);
  CountStatement statement;
  Status refusal = varying_.table.place(header, rank_, asked);
  if (refusal.ok()) {
    statement = statement_of(header, rank_, varying_.table);
    refusal = varying_.table.find_buffers(header, rank_, asked);
  } else {
    statement.form |= CountStatement::kNoCounts;
  }
  if (!refusal.ok()) statement.form |= CountStatement::kRefused;
  if (varying_.table.buffers().in_place) statement.form |= CountStatement::kInPlace;
  varying_.statements.resize(num_ranks_);
  // What ranks say is about the caller's call, which must be the same on all of them.
  const std::uint64_t about = CallDescription{.collective = asked.collective,
                                              .type = asked.type,
                                              .op = (*entry)->small.operation.op,
                                              .algorithm = kNotChosenYet,
                                              .subject = CallDescription::subject_of(asked, num_ranks_)}
                                  .pack();
  TUTTI_TRY(tell_all(&statement, kStatementWords, varying_.statements.data(), about, varying_.stating));
  const Agreed agreed = agreed_by(header, varying_.statements);
  if (agreed.differs) return name_difference(header, about);
  if (!refusal.ok()) return refusal;
  if (agreed.refused < num_ranks_)
    return {Code::invalid_usage,
            fmt::format("rank {} has refused what it was passed for {}, and says why; nothing was done", agreed.refused,
                        name_of(asked.collective)),
            static_cast<int>(agreed.refused)};
  return run_agreed(agreed, **entry, asked);
}

// Every rank comes here, and finds the same.
Status Communicator::name_difference(const Schedule& header, std::uint64_t about) {
  const std::vector<std::uint64_t> mine = all_counts_of(header, rank_, varying_.table);
  std::vector<std::uint64_t> all(mine.size() * num_ranks_);
  CallDescription again = CallDescription::unpack(about);
  again.count = kFurtherStep;
  BoundCall telling;
  TUTTI_TRY(tell_all(mine.data(), mine.size(), all.data(), again.pack(), telling));
  return {Code::invalid_usage,
          fmt::format("the ranks' counts differ in {}: {}", name_of(header.collective), first_difference(header, all))};
}

// Each rank's words to every rank. The communicator's own call: whatever is forced is for the caller's.
Status Communicator::tell_all(const void* mine, std::uint64_t words, void* all, std::uint64_t about, BoundCall& bound) {
  const Invocation asked = {
      .collective = Collective::all_gather, .input = mine, .output = all, .count = words, .type = Type::u64};
  if (bound.count != words) {
    const Result<const Prepared*> entry = prepared(asked);
    if (!entry.ok()) return entry.status();
    const Result<Way*> way = portfolio_.find(asked.collective, "direct");
    if (!way.ok()) return way.status();
    const Result<const Plan*> plan = portfolio_.plan(**way, 0);
    if (!plan.ok()) return plan.status();
    const std::uint64_t bytes = words * sizeof(std::uint64_t);
    bound.buffers = {.input_bytes = bytes, .output_bytes = bytes * num_ranks_};
    TUTTI_TRY(make_call(**plan, (*way)->number, Reach::staged, **entry, asked, bound));
    bound.counted = &counts_.row(asked.collective, nullptr, Reach::staged);
    bound.count = words;
  }
  bound.call.described = about;
  bound.is_inner = is_inner(about);
  return walk(bound, asked, settings_.walker);
}

Status Communicator::exchange_for_split(const void* mine, std::uint64_t words, void* all) {
  if (is_over()) return failure();
  return guarded("a split", [&] {
    BoundCall bound;
    return tell_all(mine, words, all, own_description(Collective::all_gather, OwnCall::splitting), bound);
  });
}

Status Communicator::run_agreed(const Agreed& agreed, const Prepared& entry, const Invocation& asked) {
  const Operator& operation = entry.small.operation;
  BoundCall& bound = varying_.bound;
  bound.buffers = varying_.table.buffers();
  bound.buffers.message_bytes = agreed.elements * size_of(asked.type);
  const Result<Choice> choice = selector_.choose(
      asked.collective, bound.buffers.message_bytes,
      {.in_place = agreed.in_place, .op = operation.op, .commutative = operation.commutative, .root = asked.root});
  if (!choice.ok()) return choice.status();
  warn_of_fallback(*choice, bound.buffers);
  const Result<const Plan*> plan = portfolio_.plan(*choice->way, asked.root);
  if (!plan.ok()) return plan.status();
  log_.info(LogSubsystem::coll, "{} {} B of {}: {} ({})", name_of(asked.collective), bound.buffers.message_bytes,
            name_of(asked.type), choice->way->name, choice->why);
  Invocation largest = asked;
  largest.count = agreed.largest;
  TUTTI_TRY(make_call(**plan, choice->way->number, Reach::staged, entry, largest, bound));
  bound.counted = &counts_.row(asked.collective, &choice->way->name, Reach::staged);
  varying_.table.cut((*plan)->schedule.spaces, bound.call.window);
  bound.call.varying = &varying_.table;
  if (bound.call.window * bound.call.element >= bound.call.inline_end) bound.call.inline_end = 0;
  bound.is_lowered = settings_.walker != WalkerChoice::generic && lower(bound.call, bound.lowered);
  bound.is_inner = is_inner(bound.call.described);
  return walk(bound, largest, settings_.walker);
}

}  // namespace tutti
