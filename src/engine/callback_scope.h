// Which function of the program the calling thread is inside, if any: SPEC 21 §3.1 restricts what such a
// function may call.
//
// Threading: belongs to its thread.
#pragma once

#include <cstdint>

#include "base/site.h"

namespace belay::engine {

class Stream;

class CallbackScope {
 public:
  enum class Kind : uint8_t { kHostFunction, kCallback, kException, kState };

  // `stream` is the one that waits for the function; null when none does.
  CallbackScope(Kind the_kind, Stream* waiting, const char* asked_by, uint32_t asked_in, Site asked_at)
      : kind(the_kind), stream(waiting), api(asked_by), thread(asked_in), site(asked_at), outer_(current_) {
    current_ = this;
  }
  ~CallbackScope() { current_ = outer_; }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  static const CallbackScope* Current() { return current_; }

  const Kind kind;
  Stream* const stream;
  // The call that asked for the function.
  const char* const api;
  const uint32_t thread;
  const Site site;

 private:
  CallbackScope* const outer_;
  static constinit thread_local CallbackScope* current_ __attribute__((tls_model("initial-exec")));
};

}  // namespace belay::engine
