#include "progress.h"

namespace order {

int Progress::NewStream() {
  streams_.emplace_back();
  return static_cast<int>(streams_.size()) - 1;
}

int Progress::NewSignal() {
  signals_.push_back(false);
  return static_cast<int>(signals_.size()) - 1;
}

std::optional<int> Progress::BlockedBy(int stream) const {
  const auto& pending = streams_[stream].pending;
  if (pending.empty() || pending.front().signal < 0) return std::nullopt;
  return pending.front().signal;
}

void Progress::Synchronised(int stream) {
  streams_[stream].known = streams_[stream].over = streams_[stream].done;
}

Mark Progress::Push(int stream, Task task) {
  Stream& target = streams_[stream];
  target.pending.push_back(task);
  Mark mark{stream, target.done + target.pending.size() - 1};
  if (task.kind != Kind::kPlain && task.kind != Kind::kTaskWait && task.kind != Kind::kWait) {
    target.needed = mark.task + 1;
  }
  Advance();
  return mark;
}

void Progress::Abort(int stream) {
  streams_[stream].done += streams_[stream].pending.size();
  streams_[stream].pending.clear();
  Synchronised(stream);
}

void Progress::SetByHost(int signal, bool set) {
  signals_[signal] = set;
  Advance();
}

void Progress::Advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Stream& each : streams_) {
      while (!each.pending.empty() && Run(each.pending.front())) {
        each.pending.pop_front();
        ++each.done;
        moved = true;
      }
    }
  }
}

bool Progress::Run(const Task& task) {
  switch (task.kind) {
    case Kind::kPlain:
    case Kind::kRecord:
      return true;
    case Kind::kTaskWait:
      return Ends(task.task);
    case Kind::kSet:
      signals_[task.signal] = true;
      return true;
    case Kind::kClear:
      signals_[task.signal] = false;
      return true;
    case Kind::kWait:
      return signals_[task.signal];
    case Kind::kWaitAndClear:
      if (!signals_[task.signal]) return false;
      signals_[task.signal] = false;
      return true;
  }
  return false;
}

}  // namespace order
