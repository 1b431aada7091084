// While one exists, streams that become runnable on this thread are collected and run at its end
// (Policy::Delivery::kCaller, and urgent work where there is no worker).
//
// Threading: belongs to its thread; only the outermost one collects.
#pragma once

#include <vector>

#include "engine/engine.h"

namespace belay::engine {

class Engine::Landing {
 public:
  explicit Landing(Engine& engine) : engine_(engine), outermost_(!engine.pooled_ && current_ == nullptr) {
    if (outermost_) current_ = this;
  }
  ~Landing() {
    if (!outermost_) return;
    while (!ready_.empty()) {
      Stream* stream = ready_.back();
      ready_.pop_back();
      engine_.RunFromPool(*stream);
    }
    current_ = nullptr;
  }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  static void Add(Stream& stream) { current_->ready_.push_back(&stream); }

 private:
  static thread_local Landing* current_ __attribute__((tls_model("initial-exec")));
  Engine& engine_;
  const bool outermost_;
  std::vector<Stream*> ready_;
};

}  // namespace belay::engine
