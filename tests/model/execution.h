// One run of one program: its streams, events and memory, and the comparison of each call.
#pragma once

#include <acl/acl.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runner.h"

namespace model {

class Execution {
 public:
  Execution(Runner& runner, const Program& program, const std::vector<Expectation>& expected);

  void SetUp();
  void TearDown();
  // Makes call `i` on this thread, with its device current, and compares.
  void Make(size_t i);
  void Fail(int call, std::string text);
  const std::optional<Failure>& failure() const { return failure_; }

  // A thread may have several sections, each from a fork to a join.
  void StartSection(int64_t thread) { ++running_[static_cast<size_t>(thread)]; }
  bool InSection(size_t call, int64_t thread) const {
    return program_.calls[call].thread == thread && sections_[call] == running_[static_cast<size_t>(thread)];
  }

 private:
  struct Body {
    uint8_t* dst;
    const uint8_t* src;
    int64_t width;
    uint8_t add;
  };

  static void RunBody(void* body);
  uint8_t* Bytes(int64_t buffer) const { return static_cast<uint8_t*>(blocks_[static_cast<size_t>(buffer)]); }
  aclError Issue(const Call& call, size_t i, int64_t& output);
  aclError IssueStream(const Call& call, int64_t& output);
  aclError IssueBytes(const Call& call);
  aclError IssueEvent(const Call& call, int64_t& output);
  aclError IssueHost(const Call& call, size_t i);
  aclError IssueBooks(const Call& call, int64_t& output);
  aclError IssueControl(const Call& call, int64_t& output);
  void NewBuffer(size_t buffer);
  aclError NewEvent(size_t event);
  void Check(aclError code, const char* what);
  aclrtStream Stream(const Call& call) const { return streams_[static_cast<size_t>(call.stream)]; }
  aclrtEvent EventOf(const Call& call) const { return events_[static_cast<size_t>(call.object)]; }

  Runner& runner_;
  const Program& program_;
  const std::vector<Expectation>& expected_;
  std::vector<aclrtStream> streams_;
  std::vector<aclrtEvent> events_;
  std::vector<aclrtNotify> notifies_;
  std::vector<void*> blocks_;
  std::vector<uint8_t> stream_lives_, event_lives_, block_lives_;
  std::vector<std::atomic<bool>> signals_;
  std::vector<Body> bodies_;                // by call
  std::vector<std::vector<uint8_t>> read_;  // by thread
  std::vector<int> sections_;               // by call: how often its thread was forked before
  std::array<int, kMostThreads> running_{};
  std::mutex mutex_;
  std::optional<Failure> failure_;  // the first
};

}  // namespace model
