#pragma once
// How far the streams of a program are certain to come, in whatever order their tasks run.
//
// A program may block the host only where this says that the stream comes to its end. It holds because of
// what the generator keeps to: a signal gets no second task that could take away what a wait of another
// stream needs.
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace order {

// A task: a stream, and its place in it.
struct Mark {
  int stream = -1;
  size_t task = 0;
};

class Progress {
 public:
  int NewStream();
  int NewSignal();

  // Each adds a task to a stream.
  Mark Add(int stream) { return Push(stream, {}); }
  Mark Record(int stream) { return Push(stream, {Kind::kRecord, -1, {}}); }
  Mark WaitForTask(int stream, Mark task) { return Push(stream, {Kind::kTaskWait, -1, task}); }
  Mark Set(int stream, int signal) { return Push(stream, {Kind::kSet, signal, {}}); }
  Mark Clear(int stream, int signal) { return Push(stream, {Kind::kClear, signal, {}}); }
  Mark Wait(int stream, int signal) { return Push(stream, {Kind::kWait, signal, {}}); }
  Mark WaitAndClear(int stream, int signal) { return Push(stream, {Kind::kWaitAndClear, signal, {}}); }
  // The queued tasks are dropped, and which these are nobody knows: only where no other stream needs them.
  bool MayAbort(int stream) const { return streams_[stream].needed <= streams_[stream].known; }
  void Abort(int stream);
  // The host's own doing.
  void SetByHost(int signal, bool set);

  bool Ends(int stream) const { return streams_[stream].pending.empty(); }
  bool Ends(Mark task) const { return task.task < streams_[task.stream].done; }
  // The signal that the stream's head waits for.
  std::optional<int> BlockedBy(int stream) const;

  // The host waited for the stream, so it knows of every task until here.
  void Synchronised(int stream);
  bool Known(Mark task) const { return task.task < streams_[task.stream].known; }
  // A call did, though it does not promise to.
  void Waited(int stream) { streams_[stream].over = streams_[stream].done; }
  bool Over(Mark task) const { return task.task < streams_[task.stream].over; }

 private:
  enum class Kind { kPlain, kRecord, kTaskWait, kSet, kClear, kWait, kWaitAndClear };
  struct Task {
    Kind kind = Kind::kPlain;
    int signal = -1;
    Mark task;
  };
  struct Stream {
    std::deque<Task> pending;
    size_t done = 0;
    size_t known = 0;
    size_t over = 0;    // certainly complete, known or not
    size_t needed = 0;  // tasks until the last one that other streams may need, or miss
  };

  Mark Push(int stream, Task task);
  void Advance();
  bool Run(const Task& task);

  std::vector<Stream> streams_;
  std::vector<bool> signals_;
};

}  // namespace order
