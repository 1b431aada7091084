#include "engine/op_queue.h"

#include <utility>

namespace belay::engine {

OpQueue::~OpQueue() {
  while (head_ != nullptr) {
    Chunk* next = head_->next;
    delete head_;
    head_ = next;
  }
  delete spare_;
}

Op& OpQueue::Append(const Op& op) {
  if (tail_ == nullptr || past_ == kOps) {
    Chunk* chunk = spare_ != nullptr ? spare_ : new Chunk;
    spare_ = nullptr;
    chunk->next = nullptr;
    (tail_ != nullptr ? tail_->next : head_) = chunk;
    if (tail_ == nullptr) first_ = 0;
    tail_ = chunk;
    past_ = 0;
  }
  return tail_->ops[past_++] = op;
}

void OpQueue::Pop() {
  ++first_;
  if (head_ == tail_) {
    if (first_ < past_) return;
    first_ = past_ = 0;  // empty: the chunk starts afresh
    return;
  }
  if (first_ < kOps) return;
  Chunk* done = head_;
  head_ = head_->next;
  first_ = 0;
  delete spare_;
  spare_ = done;
}

std::vector<Op> OpQueue::TakeAll(bool keep_front) {
  std::vector<Op> taken;
  if (empty()) return taken;
  ForEach([&taken](const Op& op) { taken.push_back(op); });
  if (keep_front) taken.erase(taken.begin());
  for (Chunk* chunk = std::exchange(head_->next, nullptr); chunk != nullptr;) {
    delete std::exchange(chunk, chunk->next);
  }
  tail_ = head_;
  if (!keep_front) first_ = 0;
  past_ = keep_front ? first_ + 1 : 0;
  return taken;
}

}  // namespace belay::engine
