// Streams that become runnable while this thread is inside the engine, and that it keeps instead of handing
// them to the pool.
//
//   no pool (Policy::Delivery::kCaller, and urgent work without workers): all of them; they run at its end.
//   pool, while this thread runs streams anyway: one. Passing a stream to another thread costs more than the
//   few small tasks between two events, so streams that wait for each other in turn stay on one thread.
//
// Threading: belongs to its thread; only the outermost one keeps anything.
#pragma once

#include <utility>
#include <vector>

#include "engine/engine.h"

namespace belay::engine {

class Engine::Landing {
 public:
  enum class Pooled : uint8_t { kKeepsNone, kKeepsOne };

  explicit Landing(Engine& engine, Pooled pooled = Pooled::kKeepsNone)
      : engine_(engine), outermost_(current_ == nullptr && (!engine.pooled_ || pooled == Pooled::kKeepsOne)) {
    if (outermost_) current_ = this;
  }
  ~Landing() {
    if (!outermost_) return;
    RunAll();
    HandOn();
    current_ = nullptr;
  }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  // Without a pool: also before this thread sleeps, because what it waits for may depend on them.
  static void RunAll() {
    while (current_ != nullptr && !current_->ready_.empty()) {
      Stream* stream = current_->ready_.back();
      current_->ready_.pop_back();
      current_->engine_.RunFromPool(*stream);
    }
  }
  static void Add(Stream& stream) { current_->ready_.push_back(&stream); }

  // With a pool. False when this thread keeps one already, or none.
  static bool Keep(Stream& stream) {
    if (current_ == nullptr || current_->kept_ != nullptr) return false;
    current_->kept_ = &stream;
    return true;
  }
  static Stream* Take() { return current_ != nullptr ? std::exchange(current_->kept_, nullptr) : nullptr; }
  // Before this thread does something that takes long, or sleeps.
  static void HandOn() {
    if (Stream* stream = Take(); stream != nullptr) current_->engine_.Post(*stream);
  }

 private:
  static constinit thread_local Landing* current_ __attribute__((tls_model("initial-exec")));
  Engine& engine_;
  const bool outermost_;
  std::vector<Stream*> ready_;
  Stream* kept_ = nullptr;
};

}  // namespace belay::engine
