// The tasks of one stream in order, in chunks of a page: submitting takes no allocation but one chunk in
// thirty-one.
//
// Threading: the owner locks. An op keeps its place until it is popped, so the front one may run unlocked.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/op.h"

namespace belay::engine {

class OpQueue {
 public:
  OpQueue() = default;
  ~OpQueue();
  OpQueue(const OpQueue&) = delete;
  OpQueue& operator=(const OpQueue&) = delete;

  bool empty() const { return head_ == nullptr || (head_ == tail_ && first_ == past_); }
  Op& Front() { return head_->ops[first_]; }
  Op& Append(const Op& op);
  void Pop();
  // Takes everything away, or everything but the front, which keeps its place.
  std::vector<Op> TakeAll(bool keep_front);

  template <class Visitor>
  void ForEach(Visitor&& visit) const {
    for (const Chunk* chunk = head_; chunk != nullptr; chunk = chunk->next) {
      size_t from = chunk == head_ ? first_ : 0;
      size_t to = chunk == tail_ ? past_ : kOps;
      for (size_t i = from; i < to; ++i) visit(chunk->ops[i]);
    }
  }

 private:
  static constexpr size_t kOps = 31;
  struct Chunk {
    Chunk* next = nullptr;
    Op ops[kOps];
  };
  static_assert(sizeof(Chunk) <= 4096);

  Chunk* head_ = nullptr;
  Chunk* tail_ = nullptr;
  Chunk* spare_ = nullptr;  // the last emptied one
  size_t first_ = 0;        // in head_
  size_t past_ = 0;         // in tail_
};

}  // namespace belay::engine
