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

  // Nanoseconds of a task while one thread works, the two in turn, and while both do; medians of slices of
  // `calls`. Both begin a slice together, and one in which the other did less than half does not count: its
  // processor was somebody else's. Negative if none counts.
  static constexpr int kSlices = 20;
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
  struct alignas(128) Progress {
    std::atomic<int64_t> tasks{0};
    std::vector<double> times;
  };

  double Start(int calls, std::initializer_list<int> who) {
    calls_ = calls;
    both_ = who.size() == 2;
    arrived_.store(0);
    for (Progress& one : progress_) one.times.clear();
    for (int i : who) sem_post(&go_[i]);
    for (size_t i = 0; i < who.size(); ++i) sem_wait(&done_);
    std::vector<double> times;
    for (const Progress& one : progress_) times.insert(times.end(), one.times.begin(), one.times.end());
    return times.empty() ? -1 : Median(times);
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
      for (int slice = 1; slice <= kSlices; ++slice) Slice(index, slice);
      sem_post(&done_);
    }
  }

  void Slice(int index, int slice) {
    Progress& mine = progress_[index];
    Progress& other = progress_[1 - index];
    int64_t done = mine.tasks.load(std::memory_order_relaxed);
    if (both_) {
      arrived_.fetch_add(1);
      while (arrived_.load() < 2 * slice) {
      }
    }
    int64_t seen = other.tasks.load(std::memory_order_relaxed);
    double start = Now();
    for (int i = 0; i < calls_; ++i) {
      task_(index);
      mine.tasks.store(++done, std::memory_order_relaxed);
    }
    double spent = Now() - start;
    bool together = other.tasks.load(std::memory_order_relaxed) - seen >= calls_ / 2;
    if (together || !both_) mine.times.push_back(spent / calls_);
  }

  const std::function<void(int)> task_;
  bool possible_ = false;
  int cpus_[2] = {};
  Worker workers_[2];
  pthread_t threads_[2];
  sem_t go_[2], done_;
  int calls_ = 0;  // written before go_
  bool both_ = false;
  int turn_ = 0;
  std::atomic<int> arrived_{0};
  Progress progress_[2];
};

}  // namespace bench
