#include "check/host_knowledge.h"

#include <algorithm>

namespace belay::check {

// Points of streams that are still to be looked at, each stream with its latest one.
class HostKnowledge::Search {
 public:
  explicit Search(HostKnowledge& knowledge) : knowledge_(knowledge), number_(++knowledge.searches_) {}

  void Add(Point point) {
    PerStream* stream = knowledge_.At(point.stream);
    if (stream == nullptr) return;
    if (stream->search != number_) {
      stream->search = number_;
      stream->reached = 0;
      stream->listed = false;
    }
    if (point.sequence <= stream->reached) return;
    stream->reached = point.sequence;
    if (stream->listed) return;
    stream->listed = true;
    stream->next = first_;
    first_ = stream;
  }

  // What a wait that was passed leads to.
  void Follow(const Wait& wait) {
    if (wait.signal == nullptr) return Add(wait.awaited);
    const PerSignal* signal = knowledge_.signals_.Find(reinterpret_cast<uintptr_t>(wait.signal));
    for (const Change* change = signal != nullptr ? signal->first : nullptr; change != nullptr;
         change = change->next) {
      Add(change->point);
    }
  }

  // Null: everything was looked at.
  PerStream* Take() {
    PerStream* stream = first_;
    if (stream == nullptr) return nullptr;
    first_ = stream->next;
    stream->listed = false;
    return stream;
  }

 private:
  HostKnowledge& knowledge_;
  const uint64_t number_;
  PerStream* first_ = nullptr;
};

HostKnowledge::PerStream* HostKnowledge::Find(Stream stream) {
  PerStream** found = streams_.Find(reinterpret_cast<uintptr_t>(stream));
  return found != nullptr ? *found : nullptr;
}

HostKnowledge::PerStream* HostKnowledge::At(Stream stream) {
  PerStream** place = streams_.At(reinterpret_cast<uintptr_t>(stream));
  if (place == nullptr) return nullptr;
  if (*place == nullptr && (*place = stream_pool_.Take()) != nullptr) (*place)->stream = stream;
  return *place;
}

void HostKnowledge::Append(PerStream& stream, const Wait& wait) {
  if (stream.waits >= kMostWaits && wait.signal == nullptr) {
    constexpr int kLooks = 64;
    Wait* old = stream.first;
    for (int look = 0; look < kLooks; ++look, old = old->next) {
      if (old->signal != nullptr || old->awaited.stream != wait.awaited.stream) continue;
      old->awaited.sequence = std::max(old->awaited.sequence, wait.awaited.sequence);
      return;
    }
  }
  Wait* fresh = waits_.Take();
  if (fresh == nullptr) return;
  *fresh = wait;
  (stream.first != nullptr ? stream.last->next : stream.first) = fresh;
  stream.last = fresh;
  ++stream.waits;
}

void HostKnowledge::AddWait(Point waiting, Point awaited) {
  os::ExclusiveHold hold(lock_);
  const PerStream* before = Find(awaited.stream);
  if (waiting.stream == awaited.stream || (before != nullptr && before->known >= awaited.sequence)) return;
  if (PerStream* stream = At(waiting.stream); stream != nullptr) {
    Append(*stream, {waiting.sequence, awaited, nullptr, nullptr});
  }
}

void HostKnowledge::AddAwait(Point waiting, const void* signal) {
  os::ExclusiveHold hold(lock_);
  if (PerStream* stream = At(waiting.stream); stream != nullptr) {
    Append(*stream, {waiting.sequence, {}, signal, nullptr});
  }
}

void HostKnowledge::AddChange(Point changing, const void* signal) {
  os::ExclusiveHold hold(lock_);
  PerSignal* its = signals_.At(reinterpret_cast<uintptr_t>(signal));
  if (its == nullptr) return;
  for (Change* change = its->first; change != nullptr; change = change->next) {
    if (change->point.stream != changing.stream) continue;
    change->point.sequence = changing.sequence;
    return;
  }
  Change* fresh = changes_.Take();
  if (fresh == nullptr) return;
  *fresh = {changing, its->first};
  its->first = fresh;
}

void HostKnowledge::Learn(Point point, Callback known, void* context) {
  os::ExclusiveHold hold(lock_);
  Search search(*this);
  search.Add(point);
  while (PerStream* stream = search.Take()) {
    if (stream->reached <= stream->known) continue;
    stream->known = stream->reached;
    while (stream->first != nullptr && stream->first->at <= stream->known) {
      Wait* wait = stream->first;
      stream->first = wait->next;
      --stream->waits;
      search.Follow(*wait);
      waits_.Return(wait);
    }
    known(context, {stream->stream, stream->known});
  }
}

bool HostKnowledge::Knows(Point point) {
  os::ExclusiveHold hold(lock_);
  const PerStream* stream = Find(point.stream);
  return stream != nullptr && stream->known >= point.sequence;
}

bool HostKnowledge::Before(Point early, Point late) {
  if (early.stream == late.stream) return early.sequence < late.sequence;
  os::ExclusiveHold hold(lock_);
  Search search(*this);
  search.Add(late);
  while (const PerStream* stream = search.Take()) {
    if (stream->stream == early.stream && stream->reached >= early.sequence) return true;
    for (const Wait* wait = stream->first; wait != nullptr && wait->at <= stream->reached;
         wait = wait->next) {
      search.Follow(*wait);
    }
  }
  return false;
}

}  // namespace belay::check
