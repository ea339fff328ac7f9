#include "api/handle.hpp"

namespace tutti::api {

std::string& last_error() {
  thread_local std::string words;
  return words;
}

namespace {

tuttiResult_t result_of(Code code) {
  switch (code) {
    case Code::ok: return tuttiSuccess;
    case Code::invalid_argument: return tuttiInvalidArgument;
    case Code::invalid_usage: return tuttiInvalidUsage;
    case Code::unsupported: return tuttiUnsupported;
    case Code::rank_lost:
    case Code::aborted: return tuttiRemoteError;
    case Code::timeout: return tuttiTimeout;
    case Code::system: return tuttiSystemError;
    case Code::internal: return tuttiInternalError;
  }
  return tuttiInternalError;
}

}  // namespace

tuttiResult_t report(const Status& status) {
  if (status.ok()) [[likely]]
    return tuttiSuccess;
  last_error() = status.to_string();
  return result_of(status.code());
}

tuttiResult_t refuse(const char* words) { return report({Code::invalid_argument, words}); }

}  // namespace tutti::api
