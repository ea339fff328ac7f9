// SPDX-License-Identifier: Apache-2.0
// PMIx: Open MPI's mpirun, srun with --mpi=pmix. Rank 0 puts the id into the launcher's store, the others ask for it
// until it is there: so no rank waits inside a call of the library, where no deadline of ours would reach it.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/system/dynamic_library.hpp"
#include "base/system/take_fd.hpp"
#include "base/text.hpp"
#include "runtime/bootstrap/start/numbers.hpp"
#include "runtime/bootstrap/start/patience.hpp"
#include "runtime/bootstrap/start/pmix_library.hpp"
#include "runtime/bootstrap/start/way.hpp"

namespace tutti::start {

namespace pmix {

Result<Library> Library::open() {
  constexpr std::string_view kNames[] = {"libpmix.so.2"};
  TUTTI_TRY_ASSIGN(const DynamicLibrary file, DynamicLibrary::open(kNames));
  Library library;
  TUTTI_TRY(file.find("PMIx_Init", library.init));
  TUTTI_TRY(file.find("PMIx_Finalize", library.finalize));
  TUTTI_TRY(file.find("PMIx_Put", library.put));
  TUTTI_TRY(file.find("PMIx_Commit", library.commit));
  TUTTI_TRY(file.find("PMIx_Get", library.get));
  TUTTI_TRY(file.find("PMIx_Get_nb", library.get_later));
  TUTTI_TRY(file.find("PMIx_Error_string", library.error_string));
  return library;
}

}  // namespace pmix

namespace {

constexpr std::string_view kPmix = "PMIx";
constexpr char kKeyOfId[] = "tutti.id";

// A question that the library answers later, from a thread of its own. It must live until then.
class Question {
 public:
  static Result<std::unique_ptr<Question>> make() {
    std::unique_ptr<Question> question(new Question);
    question->bell_ = take_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!question->bell_.valid()) return Status::from_errno("cannot make an event", errno);
    return question;
  }
  // To be read once the answer is there.
  [[nodiscard]] int bell() const { return bell_.get(); }
  [[nodiscard]] int code() const {
    const std::scoped_lock lock(mutex_);
    return code_;
  }
  [[nodiscard]] std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }
  static void answer(int code, pmix::Value* value, void* asked) {
    auto& question = *static_cast<Question*>(asked);
    const std::scoped_lock lock(question.mutex_);
    question.code_ = code;
    if (code == pmix::kSuccess && value != nullptr && value->type == pmix::kString) question.text_ = value->data.string;
    static_cast<void>(eventfd_write(question.bell_.get(), 1));
  }

 private:
  Question() = default;
  UniqueFd bell_;
  mutable std::mutex mutex_;
  int code_ = pmix::kSuccess;
  std::string text_;
};

// The library counts who has initialised it, MPI_Init too, and begins to speak to the launcher with the first; but
// after the last finalize it cannot begin again, and MPI_Init may be still to come. So it is finalised at the very end.
class Session final : public Kept {
 public:
  explicit Session(const pmix::Library& library) : library_(library), process_(getpid()) {}
  ~Session() override {
    if (begun_ && getpid() == process_) library_.finalize(nullptr, 0);
  }

  Status begin() {
    const int code = library_.init(&self_, nullptr, 0);
    begun_ = code == pmix::kSuccess;
    return outcome("PMIx_Init", code);
  }
  [[nodiscard]] std::int64_t rank() const { return self_.rank; }

  // A number that the launcher tells of the whole job; nothing where it does not.
  [[nodiscard]] std::optional<std::int64_t> job_number(const char* key) const {
    pmix::Proc job = self_;
    job.rank = pmix::kAllRanks;
    pmix::Value* value = nullptr;
    if (library_.get(&job, key, nullptr, 0, &value) != pmix::kSuccess || value == nullptr) return std::nullopt;
    std::optional<std::int64_t> number;
    if (value->type == pmix::kUint32) number = value->data.uint32;
    std::free(value);
    return number;
  }

  Status put(std::string text) {
    pmix::Value value;
    value.type = pmix::kString;
    value.data.string = text.data();
    TUTTI_TRY(outcome("PMIx_Put", library_.put(pmix::kGlobal, kKeyOfId, &value)));
    return outcome("PMIx_Commit", library_.commit());
  }

  // What rank 0 has put; empty where it has not yet. Only on its host.
  Result<std::string> get() const {
    const pmix::Proc first = rank_0();
    pmix::Info immediately;
    std::memcpy(immediately.key.data(), pmix::kImmediate, sizeof pmix::kImmediate);
    immediately.value.type = pmix::kBool;
    immediately.value.data.flag = true;
    pmix::Value* value = nullptr;
    const int code = library_.get(&first, kKeyOfId, &immediately, 1, &value);
    if (code == pmix::kNotFound || code == pmix::kTimeout) return std::string();
    TUTTI_TRY(outcome("PMIx_Get", code));
    std::string text;
    if (value != nullptr && value->type == pmix::kString) {
      text = value->data.string;
      std::free(value->data.string);
    }
    std::free(value);
    return text;
  }

  // The same on any host. The launcher may answer only once rank 0 has put something.
  Result<std::string> get_from_afar(Patience& patience, std::string_view what) {
    const pmix::Proc first = rank_0();
    TUTTI_TRY_ASSIGN(std::unique_ptr<Question> made, Question::make());
    Question& question = *made;
    questions_.push_back(std::move(made));
    const int code = library_.get_later(&first, kKeyOfId, nullptr, 0, Question::answer, &question);
    if (code != pmix::kSuccess) questions_.pop_back();  // nobody will answer
    if (code == pmix::kNotFound) return std::string();
    TUTTI_TRY(outcome("PMIx_Get_nb", code));
    TUTTI_TRY(patience.until_readable(question.bell(), what));
    const bool is_early = question.code() == pmix::kNotFound || question.code() == pmix::kTimeout;
    if (!is_early) TUTTI_TRY(outcome("PMIx_Get_nb", question.code()));
    std::string text = question.text();
    questions_.pop_back();
    return text;
  }

 private:
  [[nodiscard]] pmix::Proc rank_0() const {
    pmix::Proc first = self_;
    first.rank = 0;
    return first;
  }
  [[nodiscard]] Status outcome(std::string_view call, int code) const {
    if (code == pmix::kSuccess) return {};
    return {Code::system, fmt::format("{} of {} failed: {} ({})", call, in_quotes(self_.nspace.data()),
                                      library_.error_string(code), code)};
  }

  const pmix::Library library_;
  const pid_t process_;
  bool begun_ = false;
  pmix::Proc self_;
  std::vector<std::unique_ptr<Question>> questions_;  // until they are answered, or the session has ended
};

Result<UniqueId> exchange(Process& process, Session& session, const Ranks& ranks) {
  if (ranks.rank == 0) {
    Result<UniqueId> id = process.make_id({.spans_hosts = ranks.span_hosts});
    if (!id.ok()) return id;
    TUTTI_TRY(session.put(id->to_text()));
    return id;
  }
  Patience patience(process.options);
  const std::string what = fmt::format("rank {} of {} waits for rank 0", ranks.rank, ranks.num_ranks);
  for (;;) {
    TUTTI_TRY_ASSIGN(const std::string text, ranks.span_hosts ? session.get_from_afar(patience, what) : session.get());
    if (!text.empty()) return UniqueId::from_text(text);
    TUTTI_TRY(patience.pause(what));
  }
}

}  // namespace

Found by_pmix(Process& process) {
  const Environment& environment = process.environment;
  if (!environment.lookup("PMIX_NAMESPACE") || !environment.lookup("PMIX_RANK")) return nothing();
  TUTTI_TRY(number_in(environment, "PMIX_RANK", {0, kMostRanks}).status());
  const Result<pmix::Library> library = pmix::Library::open();
  if (!library.ok()) {
    process.remarks.push_back(fmt::format("PMIX_RANK is set, but {}", library.status().to_string()));
    return nothing();
  }
  process.kept.push_back(std::make_unique<Session>(*library));
  auto& session = static_cast<Session&>(*process.kept.back());
  const Status begun = session.begin();
  if (!begun.ok()) return begun.with_context("PMIX_NAMESPACE and PMIX_RANK are set, but their launcher is not reached");
  const std::optional<std::int64_t> num_ranks = session.job_number(pmix::kJobSize);
  if (!num_ranks || session.rank() >= *num_ranks)
    return Status(Code::system, fmt::format("PMIx: the launcher says that this is rank {} of {}", session.rank(),
                                            num_ranks ? fmt::format("{}", *num_ranks) : "a number it does not tell"));
  const std::int64_t num_here = session.job_number(pmix::kLocalSize).value_or(*num_ranks);
  TUTTI_TRY(check_number(*num_ranks, num_here < *num_ranks));
  const Ranks ranks{static_cast<int>(session.rank()), static_cast<int>(*num_ranks), num_here < *num_ranks};
  const Result<UniqueId> id = exchange(process, session, ranks);
  if (!id.ok()) return id.status().with_context(std::string(kPmix));
  return std::optional(Started{ranks.rank, ranks.num_ranks, *id, kPmix});
}

}  // namespace tutti::start
