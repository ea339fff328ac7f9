// SPDX-License-Identifier: Apache-2.0
#include "bench/store/database.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace tutti::harness {

namespace {

struct Trouble {
  int code;  // SQLite's; where it is a primary one also for all extended ones that are not here
  Code ours;
  std::string_view what;
  std::string_view remedy;
};

constexpr std::array kTroubles = {
    Trouble{SQLITE_FULL, Code::system, "the disk is full", "make room there, or name a file elsewhere"},
    Trouble{SQLITE_BUSY, Code::system, "another process has kept it locked for too long",
            "let that one end, or name another file"},
    Trouble{SQLITE_LOCKED, Code::system, "it is locked", "let whoever reads it end, or name another file"},
    Trouble{SQLITE_READONLY_DIRECTORY, Code::system, "SQLite may make no files beside it",
            "allow writing to its folder, or name a file elsewhere"},
    Trouble{SQLITE_READONLY, Code::system, "it may not be written", "allow it (chmod u+w), or name another file"},
    Trouble{SQLITE_CANTOPEN, Code::system, "it cannot be opened, or the files that SQLite keeps beside it cannot",
            "allow writing to it and to its folder, or name a file elsewhere"},
    Trouble{SQLITE_PERM, Code::system, "access is denied", "allow it, or name another file"},
    Trouble{SQLITE_IOERR, Code::system, "the file system refused", "look after it, or name a file elsewhere"},
    Trouble{SQLITE_CORRUPT, Code::invalid_argument, "it is damaged",
            "save what can be saved with sqlite3's .recover, and name another file"},
    Trouble{SQLITE_NOTADB, Code::invalid_argument, "it is no SQLite database", "name another file"},
    Trouble{SQLITE_TOOBIG, Code::invalid_argument, "a value is larger than SQLite takes (1 GB)", "keep fewer samples"},
    Trouble{SQLITE_NOMEM, Code::system, "there is no memory left", "end other programs"},
};

// Who may only read comes upon a write-ahead log whose head is just being written, and cannot tell it from one that is
// broken: what begins to read is asked again for a while.
template <typename Call>
int once_head_is_whole(const Call& call) {
  constexpr std::chrono::seconds kUntilBroken{1};
  const auto until = std::chrono::steady_clock::now() + kUntilBroken;
  while (true) {
    errno = 0;
    const int code = call();
    if (code != SQLITE_READONLY_RECOVERY || std::chrono::steady_clock::now() > until) return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The header of every database file: https://www.sqlite.org/fileformat2.html, section 1.3.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kVersionOffset = 60;
constexpr std::size_t kApplicationOffset = 68;

std::int32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char each : bytes.substr(0, 4)) value = value << 8U | static_cast<unsigned char>(each);
  return static_cast<std::int32_t>(value);
}

// A write-ahead log has an index in shared memory, which hosts do not share. Numbers of file systems as statfs(2) and
// their own sources give them.
bool is_shared_between_hosts(const std::string& path) {
  constexpr std::array<std::uint32_t, 15> kShared = {
      0x6969,      // NFS
      0x517B,      // SMB
      0xFE534D42,  // SMB 2
      0xFF534D42,  // CIFS
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x00C36400,  // Ceph
      0x5346414F,  // AFS
      0x6B414653,  // the kernel's AFS
      0x01021997,  // 9P
      0xAAD7AAEA,  // PanFS
      0x7461636F,  // OCFS2
      0x01161970,  // GFS2
      0x65735546,  // FUSE: sshfs and many others
  };
  struct statfs about {};
  if (::statfs(path.c_str(), &about) != 0) return false;
  return std::find(kShared.begin(), kShared.end(), static_cast<std::uint32_t>(about.f_type)) != kShared.end();
}

// SQLite takes ":memory:", "file:..." and "" for other things than files of that name.
std::string as_plain_path(const std::string& path) { return path.starts_with('/') ? path : "./" + path; }

// The file as it lies there, without locks and without the files beside it.
std::string as_unchanging(const std::string& path) {
  std::string uri = "file:";
  for (const char each : as_plain_path(path)) {
    if (each == '%' || each == '?' || each == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(each));
    } else {
      uri += each;
    }
  }
  return uri + "?immutable=1";
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

// --- statements

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_),
      read_(other.read_),
      refused_(other.refused_) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  ::sqlite3_reset(statement_);
  ::sqlite3_clear_bindings(statement_);
}

void Statement::note(int code) {
  if (refused_ == SQLITE_OK) refused_ = code;
}

// Without a destructor SQLite neither copies nor frees.
Statement& Statement::bind(std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  note(::sqlite3_bind_text64(statement_, ++bound_, data, text.size(), nullptr, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(std::span<const std::byte> blob) {
  ++bound_;
  note(blob.empty() ? ::sqlite3_bind_zeroblob(statement_, bound_, 0)
                    : ::sqlite3_bind_blob64(statement_, bound_, blob.data(), blob.size(), nullptr));
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  note(::sqlite3_bind_int64(statement_, ++bound_, number));
  return *this;
}

Statement& Statement::bind(double number) {
  note(::sqlite3_bind_double(statement_, ++bound_, number));
  return *this;
}

Statement& Statement::bind(std::nullopt_t /*null*/) {
  note(::sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

Result<bool> Statement::step() {
  if (refused_ != SQLITE_OK) return database_->error(refused_);
  read_ = 0;
  const int code = once_head_is_whole([&] { return ::sqlite3_step(statement_); });
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->error(code);
}

Status Statement::run() {
  while (true) {
    const Result<bool> row = step();
    if (!row.ok()) return row.status();
    if (!*row) break;
  }
  ::sqlite3_reset(statement_);
  bound_ = 0;
  return {};
}

Statement::Type Statement::next_type() const {
  switch (::sqlite3_column_type(statement_, read_)) {
    case SQLITE_INTEGER: return Type::integer;
    case SQLITE_FLOAT: return Type::number;
    case SQLITE_TEXT: return Type::text;
    case SQLITE_BLOB: return Type::blob;
    default: return Type::null;
  }
}

std::int64_t Statement::next_integer() { return ::sqlite3_column_int64(statement_, read_++); }
double Statement::next_number() { return ::sqlite3_column_double(statement_, read_++); }

std::string Statement::next_text() {
  const std::span<const std::byte> bytes = next_blob();
  std::string text(bytes.size(), '\0');
  std::transform(bytes.begin(), bytes.end(), text.begin(), [](std::byte each) { return static_cast<char>(each); });
  return text;
}

std::optional<double> Statement::next_number_if_there() {
  const bool is_there = next_type() != Type::null;
  const double number = next_number();
  return is_there ? std::optional(number) : std::nullopt;
}

std::optional<std::string> Statement::next_text_if_there() {
  const bool is_there = next_type() != Type::null;
  std::string text = next_text();
  return is_there ? std::optional(std::move(text)) : std::nullopt;
}

// The pointer first: it may convert the value, and the size is that of what it is converted to.
std::span<const std::byte> Statement::next_blob() {
  const void* data = ::sqlite3_column_blob(statement_, read_);
  const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(statement_, read_));
  ++read_;
  return {static_cast<const std::byte*>(data), data == nullptr ? 0 : size};
}

// --- opening

Database::Database(std::string path, Access access, DatabaseKind kind)
    : path_(std::move(path)), access_(access), kind_(std::move(kind)), version_(kind_.version) {}

Database::~Database() { disconnect(); }

void Database::disconnect() {
  for (const auto& [sql, statement] : statements_) ::sqlite3_finalize(statement);
  statements_.clear();
  ::sqlite3_close(connection_);
  connection_ = nullptr;
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Access access, const DatabaseKind& kind,
                                                 std::chrono::milliseconds patience) {
  std::unique_ptr<Database> database(new Database(path, access, kind));
  TUTTI_TRY(database->look_at_place());
  // Readers, too: who finds what a killed process left must be able to tidy it up. Where the file may not be written
  // SQLite opens it for reading.
  const int create = access == Access::write ? SQLITE_OPEN_CREATE : 0;
  TUTTI_TRY(database->connect(as_plain_path(path), SQLITE_OPEN_READWRITE | create, patience));
  TUTTI_TRY(database->look_at_header());
  TUTTI_TRY(access == Access::write ? database->prepare_to_write() : database->prepare_to_read(patience));
  return database;
}

// What SQLite would tell less well, or would write to: a pipe, a device.
Status Database::look_at_place() const {
  if (path_.empty()) return {Code::invalid_argument, fmt::format("the file for {} has no name; name one", kind_.holds)};
  struct stat about {};
  if (::stat(path_.c_str(), &about) == 0) {
    if (S_ISDIR(about.st_mode)) return refusal(Code::invalid_argument, "it is a folder", "name a file in it");
    if (!S_ISREG(about.st_mode))
      return refusal(Code::invalid_argument, "it is not a regular file", "name another file");
    return {};
  }
  if (errno != ENOENT) return refusal(Code::system, std::strerror(errno), "name another file");
  if (access_ == Access::read) return refusal(Code::system, "there is no such file", "name another file");
  const std::string folder = folder_of(path_);
  if (::stat(folder.c_str(), &about) != 0) {
    return refusal(Code::system, fmt::format("there is no folder {}", in_quotes(folder)),
                   "make it (mkdir -p), or name a file elsewhere");
  }
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return refusal(Code::system,
                   fmt::format("the folder {} may not be written ({})", in_quotes(folder), std::strerror(errno)),
                   "allow it, or name a file elsewhere");
  }
  return {};
}

Status Database::connect(const std::string& name, int flags, std::chrono::milliseconds patience) {
  disconnect();
  errno = 0;
  const int code = ::sqlite3_open_v2(name.c_str(), &connection_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return error(code);
  ::sqlite3_extended_result_codes(connection_, 1);
  ::sqlite3_busy_timeout(connection_, static_cast<int>(patience.count()));
  // A file may come from anywhere: nothing in it is to be run, or believed without a look.
  ::sqlite3_db_config(connection_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  ::sqlite3_db_config(connection_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return {};
}

// Before SQLite takes a lock, or rolls back what a killed process left, which would write to a file that is not ours.
// Through SQLite's own descriptor: closing another one would drop the locks that this process has on the file.
Status Database::look_at_header() {
  sqlite3_file* file = nullptr;
  sqlite3_int64 size = 0;
  errno = 0;
  int code = ::sqlite3_file_control(connection_, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code == SQLITE_OK) code = file->pMethods->xFileSize(file, &size);
  if (code != SQLITE_OK) return error(code);
  if (size == 0) {
    if (access_ == Access::write) return {};
    return refusal(Code::invalid_argument, "it is empty", "name another file");
  }
  std::array<char, kHeaderBytes> bytes{};
  code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return error(code);
  const std::string_view header(bytes.data(), bytes.size());
  if (size < static_cast<sqlite3_int64>(kHeaderBytes) || !header.starts_with(kMagic)) return error(SQLITE_NOTADB);
  if (big_endian(header.substr(kApplicationOffset)) != kind_.application_id) {
    return refusal(Code::invalid_argument, "it is another program's SQLite database", "name another file");
  }
  return check_version(big_endian(header.substr(kVersionOffset)));
}

Status Database::check_version(std::int64_t version) {
  if (version > kind_.version) {
    return refusal(Code::unsupported,
                   fmt::format("it has version {} of the form, and this Tutti knows {}", version, kind_.version),
                   "use the Tutti that wrote it, or name another file");
  }
  if (version < 1) return damaged(fmt::format("it has version {}", version));
  const bool is_known = version == kind_.version || std::any_of(kind_.upgrades.begin(), kind_.upgrades.end(),
                                                                [&](const auto& each) { return each.from == version; });
  if (!is_known) {
    return refusal(Code::unsupported,
                   fmt::format("it has version {} of the form, from before the first release, and this Tutti knows {}",
                               version, kind_.version),
                   "name another file");
  }
  version_ = static_cast<int>(version);
  return {};
}

Status Database::prepare_to_write() {
  if (::sqlite3_db_readonly(connection_, "main") == 1) return error(SQLITE_READONLY);
  // NORMAL: what is committed survives the end of any process, however it comes; a loss of power may take the last rows
  // and never breaks the file. Waiting for the disk at each row takes longer than measuring a small case.
  TUTTI_TRY(execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON"));
  const Result<std::int64_t> id = number("PRAGMA application_id");
  if (!id.ok()) return id.status();
  // Also where the process that made it was killed, which looking at it has undone.
  if (*id == 0) TUTTI_TRY(make_tables());
  if (version_ != kind_.version) TUTTI_TRY(upgrade());
  return choose_journal();
}

// Another process may have done it meanwhile.
Status Database::upgrade() {
  Result<Transaction> transaction = Transaction::begin(*this, Transaction::For::writing);
  if (!transaction.ok()) return transaction.status();
  const Result<std::int64_t> version = number("PRAGMA user_version");
  if (!version.ok()) return version.status();
  TUTTI_TRY(check_version(*version));
  for (const DatabaseKind::Upgrade& each : kind_.upgrades)
    if (each.from >= *version) TUTTI_TRY(execute(each.statements));
  TUTTI_TRY(execute(fmt::format("PRAGMA user_version = {}", kind_.version)));
  TUTTI_TRY(transaction->commit());
  version_ = kind_.version;
  return {};
}

Status Database::make_tables() {
  Result<Transaction> transaction = Transaction::begin(*this, Transaction::For::writing);
  if (!transaction.ok()) return transaction.status();
  // Another process may have come first, and not with our kind of file.
  const Result<std::int64_t> id = number("PRAGMA application_id");
  if (!id.ok()) return id.status();
  if (*id == kind_.application_id) return {};
  const Result<std::int64_t> tables = number("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  if (*id != 0 || *tables != 0) {
    return refusal(Code::invalid_argument, "it is another program's SQLite database", "name another file");
  }
  TUTTI_TRY(execute(kind_.schema));
  TUTTI_TRY(execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kind_.application_id, kind_.version)));
  return transaction->commit();
}

// A write-ahead log: one synchronisation a commit, and nobody who reads keeps a row from being written. Where hosts
// share the file, a journal that is rolled back.
Status Database::choose_journal() {
  const bool is_shared = is_shared_between_hosts(path_);
  const Status status = execute(is_shared ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
  // Others have the file open with the other one, which is as safe.
  const int code = ::sqlite3_errcode(connection_) & 0xFF;
  return code == SQLITE_BUSY || code == SQLITE_LOCKED ? Status() : status;
}

Status Database::prepare_to_read(std::chrono::milliseconds patience) {
  TUTTI_TRY(execute("PRAGMA query_only = ON"));
  Result<std::int64_t> tables = number("SELECT count(*) FROM sqlite_schema");
  const int code = ::sqlite3_errcode(connection_) & 0xFF;
  if (!tables.ok() && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY)) {
    // A write-ahead log needs files beside its own even for reading, for which there may be no permission. Without a
    // log everything is in the file itself, and nobody writes to it.
    if (::access((path_ + "-wal").c_str(), F_OK) == 0) return tables.status();
    TUTTI_TRY(connect(as_unchanging(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, patience));
    is_fixed_ = true;
    tables = number("SELECT count(*) FROM sqlite_schema");
  }
  if (!tables.ok()) return tables.status();
  if (*tables == 0) return refusal(Code::invalid_argument, "it is empty", "name another file");
  // The header may be older than the log.
  const Result<std::int64_t> version = number("PRAGMA user_version");
  return version.ok() ? check_version(*version) : version.status();
}

// --- using

Result<Statement> Database::prepare(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt* statement = nullptr;
    const int code = once_head_is_whole([&] {
      return ::sqlite3_prepare_v3(connection_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                  &statement, nullptr);
    });
    if (code != SQLITE_OK) return error(code);
    found = statements_.emplace(sql, statement).first;
  }
  TUTTI_ASSERT(::sqlite3_stmt_busy(found->second) == 0, "a statement is used once at a time");
  return Statement(*this, found->second);
}

Status Database::execute(const std::string& sql) {
  errno = 0;
  const int code = ::sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : error(code);
}

Result<std::int64_t> Database::number(std::string_view sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement.ok()) return statement.status();
  const Result<bool> row = statement->step();
  if (!row.ok()) return row.status();
  return *row ? statement->next_integer() : 0;
}

std::int64_t Database::last_id() const { return ::sqlite3_last_insert_rowid(connection_); }
std::int64_t Database::num_changed() const { return ::sqlite3_changes64(connection_); }
bool Database::in_transaction() const { return ::sqlite3_get_autocommit(connection_) == 0; }

Status Database::refusal(Code code, std::string_view what, std::string_view remedy) const {
  return {code, fmt::format("cannot {} {} {}: {}; {}", access_ == Access::write ? "keep" : "read", kind_.holds,
                            (access_ == Access::write ? "in " : "from ") + in_quotes(path_), what, remedy)};
}

Status Database::damaged(std::string_view what) const {
  return refusal(Code::invalid_argument, fmt::format("it is damaged ({})", what), "name another file");
}

// Right behind the call that gave the code: SQLite itself keeps no errno where a commit fails. Before each call errno
// is set to zero. What cannot be opened SQLite tries once more for reading, so that the first reason is lost and there
// remains that there is no such file.
Status Database::error(int code) const {
  const int number = errno;
  const int primary = code & 0xFF;
  const bool says_why = primary == SQLITE_IOERR || (primary == SQLITE_CANTOPEN && number != ENOENT);
  const std::string why =
      says_why && number != 0 ? fmt::format(" ({}){}", std::strerror(number), limit_behind(number)) : "";
  for (const int wanted : {code, primary})
    for (const Trouble& trouble : kTroubles)
      if (trouble.code == wanted) return refusal(trouble.ours, fmt::format("{}{}", trouble.what, why), trouble.remedy);
  return refusal(Code::internal, fmt::format("SQLite says: {}", ::sqlite3_errmsg(connection_)),
                 "this is a bug in Tutti or a damaged file");
}

// --- transactions

Result<Transaction> Transaction::begin(Database& database, For purpose) {
  // One that first reads and then wants to write could find that another has written meanwhile.
  TUTTI_TRY(database.execute(purpose == For::writing ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

// SQLite has rolled back by itself after some errors.
Transaction::~Transaction() {
  if (database_ == nullptr || !database_->in_transaction()) return;
  [[maybe_unused]] const Status ignored = database_->execute("ROLLBACK");
}

Status Transaction::commit() { return database_->execute("COMMIT"); }

}  // namespace tutti::harness
