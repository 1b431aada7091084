#include "engine/pool.h"

#include "engine/engine.h"
#include "engine/stream.h"
#include "os/futex.h"
#include "os/thread.h"

namespace belay::engine {
namespace {
constexpr int kSpins = 60;  // about a microsecond and a half
}

Pool::~Pool() {
  std::vector<pthread_t> threads;
  {
    MutexLock lock(mutex_);
    stop_ = true;
    threads.swap(threads_);
  }
  wake_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeAll(wake_);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

void Pool::Start() {
  while (static_cast<int>(threads_.size()) < workers_) {
    pthread_t thread;
    // One is enough; without any, each stream is run by whoever makes it ready.
    if (!os::StartThread("belay-worker", &Pool::Run, this, &thread)) return;
    threads_.push_back(thread);
  }
}

bool Pool::Post(Stream& stream) {
  {
    MutexLock lock(mutex_);
    if (stream.posted_) return true;
    if (threads_.empty()) Start();
    if (threads_.empty()) return false;
    stream.posted_ = true;
    stream.next_ready_ = nullptr;
    stream.prev_ready_ = last_;
    (last_ != nullptr ? last_->next_ready_ : first_) = &stream;
    last_ = &stream;
    waiting_.fetch_add(1, std::memory_order_seq_cst);
  }
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return true;
  wake_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeOne(wake_);
  return true;
}

void Pool::Unlink(Stream& stream) {
  (stream.prev_ready_ != nullptr ? stream.prev_ready_->next_ready_ : first_) = stream.next_ready_;
  (stream.next_ready_ != nullptr ? stream.next_ready_->prev_ready_ : last_) = stream.prev_ready_;
  stream.posted_ = false;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

void Pool::Forget(Stream& stream) {
  MutexLock lock(mutex_);
  if (stream.posted_) Unlink(stream);
}

Stream* Pool::Take() {
  MutexLock lock(mutex_);
  Stream* stream = first_;
  if (stream != nullptr) Unlink(*stream);
  return stream;
}

void Pool::Run(void* pool) {
  static_cast<Pool*>(pool)->RunWorker();
}

void Pool::RunWorker() {
  for (;;) {
    if (Stream* stream = Take(); stream != nullptr) {
      engine_.RunOnWorker(*stream);
      continue;
    }
    for (int spin = 0; spin < kSpins && waiting_.load(std::memory_order_relaxed) == 0; ++spin) os::Pause();
    if (waiting_.load(std::memory_order_relaxed) != 0) continue;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    uint32_t seen = wake_.load(std::memory_order_seq_cst);
    bool stop;
    {
      MutexLock lock(mutex_);
      stop = stop_;
    }
    if (!stop && waiting_.load(std::memory_order_seq_cst) == 0) os::FutexWait(wake_, seen);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    if (stop) return;
  }
}

}  // namespace belay::engine
