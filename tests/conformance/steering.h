#pragma once
// Asynchronous states made certain: a test holds a stream, lands its tasks one at a time, and looks at what
// is left.
//
// Guarantees: a Hold that goes out of scope lets its stream go on, so that no failed assertion leaves a test
// hanging.
// Only Belay has these functions; the suites that need them cannot run on a card.
// Threading: a Hold is used by one thread, with the stream's context current.

#include <belay/control.h>

#include <functional>
#include <future>

#include "support.h"

namespace conformance {

class Hold {
 public:
  explicit Hold(aclrtStream stream) : stream_(stream) { EXPECT_OK(belay_hold_stream(stream)); }
  ~Hold() { Release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  void Release() {
    if (!std::exchange(held_, false)) return;
    EXPECT_OK(belay_release_stream(stream_));
  }
  // The test destroyed the stream.
  void Forget() { held_ = false; }

  // False when nothing is queued or the oldest task waits for something that has not happened.
  bool Land() {
    int landed = -1;
    EXPECT_OK(belay_land_one(stream_, &landed));
    return landed == 1;
  }
  size_t Pending() const {
    size_t count = 999;
    EXPECT_OK(belay_list_pending(stream_, nullptr, 0, &count));
    return count;
  }
  // Lands every task that can land; their number.
  int LandAll() {
    int count = 0;
    while (Land()) ++count;
    return count;
  }

 private:
  aclrtStream stream_;
  bool held_ = true;
};

// A task whose effect shows: every byte of the block becomes the value.
inline aclError FillAsync(const DeviceBlock& block, int value, aclrtStream stream) {
  return aclrtMemsetAsync(block.get(), block.size(), value, block.size(), stream);
}
inline bool Holds(const DeviceBlock& block, int value) {
  return block.Read() == Bytes(block.size(), static_cast<uint8_t>(value));
}

inline void FailNext(aclrtStream stream, aclError code) {
  EXPECT_OK(belay_fail_next_task(stream, code));
}

inline size_t Pending(aclrtStream stream) {
  size_t count = 0;
  EXPECT_OK(belay_list_pending(stream, nullptr, 0, &count));
  return count;
}

inline aclrtStreamStatus StatusOf(aclrtStream stream) {
  auto status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_OK(aclrtStreamQuery(stream, &status));
  return status;
}

// Returns once the stream stands at a task that waits. Somebody has to run the stream as far as that: without
// workers only a thread that waits for it does.
inline void UntilBlocked(aclrtStream stream) {
  for (int i = 0; i < 60'000; ++i) {
    belay_pending_task head{};
    size_t count = 0;
    ASSERT_OK(belay_list_pending(stream, &head, 1, &count));
    ASSERT_GT(count, 0u) << "the wait was passed";
    if (head.waiting != 0) return;
    ASSERT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 1));
  }
  FAIL() << "no task of the stream waits";
}

// The recent message, or "" for none, and the last error.
inline std::string Message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}
inline aclError Peek() {
  return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
}
inline aclError Take() {
  return aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

// A call on a thread of its own, in the context that is current where it is made.
inline std::future<aclError> OnThread(aclrtContext context, std::function<aclError()> call) {
  return std::async(std::launch::async, [context, call = std::move(call)] {
    EXPECT_OK(aclrtSetCurrentContext(context));
    return call();
  });
}

inline aclrtContext CurrentContext() {
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&context));
  return context;
}

// A stream destroyed, and a pointer that never was one.
inline std::vector<aclrtStream> DeadStreams() {
  Stream stream;
  aclrtStream dead = stream.release();
  EXPECT_OK(aclrtDestroyStream(dead));
  return {dead, UntouchedPointer()};
}

// Another context of the same device, current until the end of the scope.
class OtherContext {
 public:
  OtherContext() : before_(CurrentContext()) { EXPECT_OK(aclrtCreateContext(&context_, 0)); }
  ~OtherContext() {
    EXPECT_OK(aclrtDestroyContext(context_));
    EXPECT_OK(aclrtSetCurrentContext(before_));
  }
  OtherContext(const OtherContext&) = delete;
  OtherContext& operator=(const OtherContext&) = delete;
  aclrtContext get() const { return context_; }

 private:
  aclrtContext before_;
  aclrtContext context_ = nullptr;
};

// The body in a context of the same device that is not the one of the streams made before.
template <typename Body>
void InOtherContext(Body body) {
  OtherContext other;
  body();
}

}  // namespace conformance
