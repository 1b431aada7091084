// The application log: what aclAppLog and Belay itself write for people. // SPEC 11 §4
//
//   [ERROR] APP(4711,train):2026-12-01-13:05:59.123.456 [main.cc:12]4711 Load:no such model
//
// Guarantees: one entry is one write; a message has at most 1024 bytes. No file or folder is made before the
// first entry that is written. Threading: any thread, also in a child after fork, which gets a file of its
// own.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/thread_annotations.h"

namespace belay::trace {

class AppLog {
 public:
  enum Level : int32_t { kDebug, kInfo, kWarning, kError, kNone };

  // What the environment says; read at the first entry.
  struct Settings {
    int32_t least = kError;  // kNone: nothing is written
    bool to_stdout = false;
    std::string folder;  // below it: debug/plog
  };
  static Settings FromEnvironment();

  static AppLog& Get();  // leaked, like the runtime
  explicit AppLog(Settings settings) : settings_(std::move(settings)) {}

  struct Origin {
    const char* function = nullptr;
    const char* file = nullptr;
    uint32_t line = 0;
  };
  bool Wants(int32_t level) const { return level >= settings_.least && settings_.least != kNone; }
  // Does nothing when `format` is null; a level outside of 0..3 is an error.
  void Write(const char* module, int32_t level, const Origin& origin, const char* format, va_list args);
  __attribute__((format(printf, 5, 6))) void Write(const char* module, int32_t level, const Origin& origin,
                                                   const char* format, ...);

  // The file of this process; empty before the first entry.
  std::string path();

 private:
  int Target();

  const Settings settings_;
  Mutex mutex_;
  int fd_ BELAY_GUARDED_BY(mutex_) = -1;
  int owner_ BELAY_GUARDED_BY(mutex_) = 0;  // the process whose file it is
  bool failed_ BELAY_GUARDED_BY(mutex_) = false;
  std::string path_ BELAY_GUARDED_BY(mutex_);
};

}  // namespace belay::trace
