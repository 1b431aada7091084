#pragma once
// Threads and callback bodies that meet at a known point: bodies that stay inside until the test says so,
// threads known to be blocked in a call, threads that run callbacks.
//
// Guarantees: nothing here sleeps to order things; what waits for an answer asks again and gives up after ten
// seconds.

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "steering.h"

namespace conformance {

// A promise between threads that is kept once.
class Flag {
 public:
  void Set();
  void Wait();
  bool is_set();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;  // woken by Set
  bool set_ = false;
};

// A callback body that stays inside until `go`. Declare it before the streams that run it, and an Opener
// after them: a test that ends early then lets the body return.
struct Gate {
  Flag entered, go;
  std::atomic<int> passed{0};
  static void Body(void* gate);
};
struct Opener {
  Gate& gate;
  ~Opener() { gate.go.Set(); }
};

// A callback body that counts.
void CountUp(void* atomic_int);
using Counter = std::atomic<int>;

// Asks until the answer is yes or ten seconds have passed.
bool Eventually(const std::function<bool()>& answer);

// Lets the stream run, also where only threads that call run tasks, until `flag` is set. A failure of the
// stream would be reported here.
bool RunUntil(aclrtStream stream, Flag& flag);

// A thread that makes one call in a context; the constructor returns when the thread is blocked in it or came
// back.
class BlockedCall {
 public:
  BlockedCall(aclrtContext context, std::function<aclError()> call);
  ~BlockedCall();
  aclError Join();
  bool returned() const { return returned_; }

 private:
  std::atomic<bool> calling_{false}, returned_{false};
  std::atomic<int> tid_{0};
  aclError code_ = -1;
  std::thread thread_;
};

uint32_t ThreadNumber();  // kernel id of this thread
uint64_t ReportId();      // of this thread, as aclrtSubscribeReport takes it

// A thread that runs callbacks until the end of the scope.
class Poller {
 public:
  explicit Poller(std::function<void()> first = {});
  ~Poller();
  uint64_t id();
  std::thread::id thread() const { return thread_.get_id(); }
  void Stop();

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace conformance
