#pragma once
// What the tests of asynchronous states share: streams held at a known point, tasks and devices that fail on
// demand, threads known to be inside a call, and threads that run callbacks.
//
// Guarantees: nothing here sleeps to order things. The functions of belay/control.h are looked up at run
// time, so the program still links and runs on a card; what needs them is skipped there.

#include <belay/control.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "support.h"

namespace conformance {

// Null where the library has no such function.
struct Control {
  decltype(&belay_hold_stream) hold_stream;
  decltype(&belay_release_stream) release_stream;
  decltype(&belay_land_one) land_one;
  decltype(&belay_list_pending) list_pending;
  decltype(&belay_fail_next_task) fail_next_task;
  decltype(&belay_fail_device) fail_device;
  bool complete() const;
};
const Control& TheControl();

// Two devices that can be steered; device 0 is current.
class Steered : public OnTwoDevices {
 protected:
  void SetUp() override;
};

// Holds a stream until the end of the scope. The stream's context is current when it is made and released.
class Held {
 public:
  explicit Held(aclrtStream stream);
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  int LandOne();     // 1, or 0 when nothing can land
  size_t Pending();  // number of queued tasks
  void Release();

 private:
  aclrtStream stream_;
  bool held_ = true;
};

void FailNext(aclrtStream stream, aclError code);

// The text, or "" for none.
std::string Message();
aclError Peek();
aclError Take();

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

aclrtContext CurrentContext();
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
