// SPDX-License-Identifier: Apache-2.0
// Calls whose blocks differ in size. Each rank knows its own counts alone, so the ranks first tell each other five
// words about them (count_statement.hpp). Then all know the largest block, from which rounds follow, and the size of
// the whole, by which an algorithm is chosen; and all know whether the counts agree. Where they do not, or a rank has
// refused its arguments, every rank returns an error and nothing is broken (docs/decisions/0020). What blocks and what
// is waited for later take the same steps (VaryingCall).
#include <fmt/format.h>

#include "runtime/communicator/communicator.hpp"

namespace tutti {

namespace {

static_assert(sizeof(CountStatement) <= shm::kInlineBytes, "statements travel in the line of a flag");

}  // namespace

// Ready for its first step. What is wrong with its blocks, the ranks hear in that.
Status Communicator::bind_varying(const Invocation& asked, VaryingCall& call) {
  if (asked.root >= num_ranks_ || asked.op.value > OperatorHandle::kMost) return refuse(asked);
  if (!facts_of(asked.collective).varies)
    return {Code::invalid_argument, fmt::format("the blocks of {} are all of one size", name_of(asked.collective))};
  const Result<const Prepared*> entry = prepared(asked);
  if (!entry.ok()) return entry.status();
  call.asked = asked;
  call.asked.varying = nullptr;  // the caller's, and only for now
  call.operation = &(*entry)->small.operation;
  call.header.collective = asked.collective;
  call.header.num_ranks = num_ranks_;
  call.header.root = asked.root;
  call.header.spaces = spaces_of(asked.collective, num_ranks_);
  call.statement = CountStatement();
  call.refusal = call.table.place(call.header, rank_, asked);
  if (call.refusal.ok()) {
    call.statement = statement_of(call.header, rank_, call.table);
    call.refusal = call.table.find_buffers(call.header, rank_, asked);
  } else {
    call.statement.form |= CountStatement::kNoCounts;
  }
  if (!call.refusal.ok()) call.statement.form |= CountStatement::kRefused;
  if (call.table.buffers().in_place) call.statement.form |= CountStatement::kInPlace;
  call.statements.resize(num_ranks_);
  // What ranks say is about the caller's call, which must be the same on all of them.
  call.about = CallDescription{.collective = asked.collective,
                               .type = asked.type,
                               .op = call.operation->op,
                               .algorithm = kNotChosenYet,
                               .subject = CallDescription::subject_of(asked, num_ranks_)}
                   .pack();
  call.step = VaryingCall::Step::stating;
  return bind_telling(&call.statement, kStatementWords, call.statements.data(), call.about, call.stating);
}

// Behind the present one: none where that was the last, or its error. Every rank finds the same, but for words.
Result<BoundCall*> Communicator::next_step(VaryingCall& call) {
  if (call.step == VaryingCall::Step::moving) return nullptr;
  if (call.step == VaryingCall::Step::telling)
    return Status(Code::invalid_usage, fmt::format("the ranks' counts differ in {}: {}", name_of(call.asked.collective),
                                                   first_difference(call.header, call.all_counts)));
  const Agreed agreed = agreed_by(call.header, call.statements);
  if (agreed.differs) {
    call.step = VaryingCall::Step::telling;
    call.counts = all_counts_of(call.header, rank_, call.table);
    call.all_counts.resize(call.counts.size() * num_ranks_);
    CallDescription again = CallDescription::unpack(call.about);
    again.count = kFurtherStep;
    TUTTI_TRY(bind_telling(call.counts.data(), call.counts.size(), call.all_counts.data(), again.pack(), call.telling));
    return &call.telling;
  }
  if (!call.refusal.ok()) return call.refusal;
  if (agreed.refused < num_ranks_)
    return Status(Code::invalid_usage,
                  fmt::format("rank {} has refused what it was passed for {}, and says why; nothing was done",
                              agreed.refused, name_of(call.asked.collective)),
                  static_cast<int>(agreed.refused));
  call.step = VaryingCall::Step::moving;
  TUTTI_TRY(bind_moving(agreed, call));
  return &call.moving;
}

Status Communicator::run_varying(const Invocation& asked) {
  TUTTI_TRY(bind_varying(asked, varying_));
  if (traces_) [[unlikely]]
    trace_collective(varying_.about, "", asked.input, asked.output, "blocking");
  for (BoundCall* step = &varying_.stating; step != nullptr;) {
    TUTTI_TRY(walk_placed(*step, settings_.walker));
    const Result<BoundCall*> next = next_step(varying_);
    if (!next.ok()) return next.status();
    step = *next;
  }
  return {};
}

// Each rank's words to every rank. The communicator's own call: whatever is forced is for the caller's.
Status Communicator::bind_telling(const void* mine, std::uint64_t words, void* all, std::uint64_t about,
                                  BoundCall& bound) {
  const Invocation asked = {
      .collective = Collective::all_gather, .input = mine, .output = all, .count = words, .type = Type::u64};
  if (bound.count != words) {
    const Result<const Prepared*> entry = prepared(asked);
    if (!entry.ok()) return entry.status();
    const bool is_direct = endpoint_ == nullptr && num_ranks_ <= kMostDirectRanks;
    const Result<Way*> way = portfolio_.find(asked.collective, is_direct ? "direct" : "bruck");
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
  return find_places(bound, asked);
}

Status Communicator::exchange_for_split(const void* mine, std::uint64_t words, void* all) {
  if (is_over()) return failure();
  return guarded("a split", [&]() -> Status {
    BoundCall bound;
    TUTTI_TRY(bind_telling(mine, words, all, own_description(Collective::all_gather, OwnCall::splitting), bound));
    return walk_placed(bound, settings_.walker);
  });
}

Status Communicator::bind_moving(const Agreed& agreed, VaryingCall& call) {
  const Operator& operation = *call.operation;
  const Collective collective = call.asked.collective;
  BoundCall& bound = call.moving;
  bound.buffers = call.table.buffers();
  bound.buffers.message_bytes = agreed.elements * size_of(call.asked.type);
  const Result<Choice> choice = selector_.choose(
      collective, bound.buffers.message_bytes,
      {.in_place = agreed.in_place, .op = operation.op, .commutative = operation.commutative, .root = call.asked.root});
  if (!choice.ok()) return choice.status();
  warn_of_fallback(*choice, bound.buffers);
  const Result<const Plan*> plan = portfolio_.plan(*choice->way, call.asked.root);
  if (!plan.ok()) return plan.status();
  log_choice(*choice, bound.buffers.message_bytes, call.asked.type, Reach::staged);
  const Result<const Prepared*> entry = prepared(call.asked);
  if (!entry.ok()) return entry.status();
  Invocation largest = call.asked;
  largest.count = agreed.largest;
  TUTTI_TRY(make_call(**plan, choice->way->number, Reach::staged, **entry, largest, bound));
  bound.counted = &counts_.row(collective, &choice->way->name, Reach::staged);
  call.table.cut((*plan)->schedule.spaces, bound.call.window);
  bound.call.varying = &call.table;
  if (bound.call.window * bound.call.element >= bound.call.inline_end) bound.call.inline_end = 0;
  bound.is_lowered = settings_.walker != WalkerChoice::generic && lower(bound.call, bound.lowered);
  bound.is_inner = is_inner(bound.call.described);
  return find_places(bound, largest);
}

}  // namespace tutti
