// The recent error messages of one thread (SPEC 11 §3): newest first, read once, never blank.
//
// Threading: belongs to its thread. A record is turned into text when it is asked for, because looking up
// source lines takes longer than the failing call.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "belay/facts/functions.h"
#include "check/finding.h"

namespace belay::runtime {

class ErrorLog {
 public:
  struct Record {
    int32_t code = 0;
    int64_t unix_ns = 0;
    check::Finding finding;
  };

  void Add(int32_t code, const check::Finding& finding);

  // The text of everything since the last call, or null. Good until the next call.
  const char* Take(facts::Cann cann);

 private:
  static constexpr size_t kMostRecords = 32;

  std::deque<std::unique_ptr<Record>> records_;  // newest first
  uint64_t dropped_ = 0;
  std::string text_;
};

// "EE1001" and the like (SPEC 11 §3.3).
const char* MessageClass(int32_t code, facts::Cann cann, bool memory_call);

}  // namespace belay::runtime
