// A condition that a function of a stream sets and a host thread waits for.
#pragma once

#include <condition_variable>
#include <mutex>

class Signal {
 public:
  // With the signature of host functions and callbacks.
  static void Set(void* signal) {
    Signal& self = *static_cast<Signal*>(signal);
    const std::lock_guard lock(self.mutex_);
    self.set_ = true;
    self.changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};
