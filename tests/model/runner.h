// Runs programs through the library and compares every call with what the interpreter expects.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpreter.h"
#include "program.h"

namespace model {

struct Failure {
  int call = -1;  // -1: before or after the calls
  std::string text;
};

// The call that each thread is in, for a watchdog; -1 outside of calls.
struct Progress {
  std::atomic<uint64_t> programs{0};
  std::array<std::atomic<int>, kMostThreads> at{-1, -1, -1};
};

// One for the process: initialises the runtime, and has the threads that programs use.
class Runner {
 public:
  explicit Runner(Progress& progress);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Not empty: the machine could not be set up.
  const std::string& problem() const { return problem_; }
  // `expected` has one entry a call.
  std::optional<Failure> Run(const Program& program, const std::vector<Expectation>& expected);

 private:
  friend class Execution;
  class HostThread;
  class CallbackThread;
  struct Books {
    uint32_t streams = 0, events = 0;
    size_t memory = 0;
  };

  Books ReadBooks(int device) const;
  uint64_t CallbackThreadOf(int64_t device);

  Progress& progress_;
  std::string problem_;
  std::array<void*, kMostDevices> contexts_{};
  std::array<Books, kMostDevices> start_{};
  std::array<std::unique_ptr<HostThread>, kMostThreads> threads_;
  std::array<std::unique_ptr<CallbackThread>, kMostDevices> callback_threads_;
  std::atomic_flag callback_lock_;
};

}  // namespace model
