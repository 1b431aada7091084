// Two threads, each on a processor and a stream of its own: what one costs the other.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <atomic>
#include <functional>

#include "measure.h"

namespace bench {

class TwoThreads {
 public:
  // `task(thread)` runs on that thread, 0 or 1.
  explicit TwoThreads(std::function<void(int)> task) : task_(std::move(task)) {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    int found = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) cpus_[found++] = cpu;
    }
    possible_ = found == 2;
    if (!possible_) return;
    sem_init(&done_, 0, 0);
    for (int i = 0; i < 2; ++i) {
      workers_[i] = {this, i};
      sem_init(&go_[i], 0, 0);
      pthread_create(&threads_[i], nullptr, &TwoThreads::Run, &workers_[i]);
    }
  }
  ~TwoThreads() {
    if (!possible_) return;
    calls_ = 0;
    for (sem_t& go : go_) sem_post(&go);
    for (pthread_t thread : threads_) pthread_join(thread, nullptr);
  }
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;

  // False on a machine with one processor: two threads then share what one has.
  bool possible() const { return possible_; }

  // Nanoseconds of a task while one thread works, the two in turn, and while both do.
  double Alone(int calls) {
    turn_ = 1 - turn_;
    return Start(calls, {turn_});
  }
  double Both(int calls) { return Start(calls, {0, 1}); }

 private:
  struct Worker {
    TwoThreads* all;
    int index;
  };

  double Start(int calls, std::initializer_list<int> who) {
    calls_ = calls;
    missing_.store(static_cast<int>(who.size()));
    for (int i : who) sem_post(&go_[i]);
    double sum = 0;
    for (size_t i = 0; i < who.size(); ++i) sem_wait(&done_);
    for (int i : who) sum += spent_[i];
    return sum / calls / static_cast<double>(who.size());
  }

  static void* Run(void* worker) {
    auto [all, index] = *static_cast<Worker*>(worker);
    all->Work(index);
    return nullptr;
  }
  void Work(int index) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(cpus_[index], &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    MUST(aclrtSetDevice(0));
    for (;;) {
      while (sem_wait(&go_[index]) != 0) {
      }
      if (calls_ == 0) return;
      // Both are awake and on their processors before either starts.
      missing_.fetch_sub(1);
      while (missing_.load() != 0) {
      }
      double start = Now();
      for (int i = 0; i < calls_; ++i) task_(index);
      spent_[index] = Now() - start;
      sem_post(&done_);
    }
  }

  const std::function<void(int)> task_;
  bool possible_ = false;
  int cpus_[2] = {};
  Worker workers_[2];
  pthread_t threads_[2];
  sem_t go_[2], done_;
  int calls_ = 0;  // written before go_
  int turn_ = 0;
  std::atomic<int> missing_{0};
  double spent_[2] = {};
};

}  // namespace bench
