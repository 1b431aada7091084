// A thread that serves the callbacks of one stream, as long as the object lives.
#pragma once

#include <atomic>
#include <thread>

#include "corpus.h"

class Poller {
 public:
  explicit Poller(aclrtStream stream)
      : stream_(stream), thread_([this] {
          while (!stop_) {
            aclrtProcessReport(10);
            polled_ = true;
          }
        }) {
    while (!polled_) std::this_thread::yield();
    OK(aclrtSubscribeReport(id(), stream_));
  }
  ~Poller() {
    OK(aclrtUnSubscribeReport(id(), stream_));
    stop_ = true;
    thread_.join();
  }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

 private:
  uint64_t id() { return static_cast<uint64_t>(thread_.native_handle()); }

  aclrtStream stream_;
  std::atomic<bool> stop_{false}, polled_{false};
  std::thread thread_;
};
