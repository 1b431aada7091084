#pragma once
// Where each thread is, and which codes each function returned.
//
// Threading: a Journal belongs to one thread; the watchdog reads `at` and `calls`.

#include <acl/acl.h>

#include <atomic>
#include <map>
#include <string>
#include <utility>

namespace stress {

using Codes = std::map<std::pair<std::string, aclError>, uint64_t>;

class Journal {
 public:
  explicit Journal(const char* name) : name_(name) {}

  // The text of a call; a literal.
  void Enter(const char* text) {
    at_.store(text, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_relaxed);
  }
  aclError Leave(const char* text, aclError code) {
    at_.store(nullptr, std::memory_order_relaxed);
    ++counts_[{text, code}];
    return code;
  }
  void AddTo(Codes& codes) const {
    for (const auto& [key, count] : counts_) {
      const std::string text = key.first;
      codes[{text.substr(0, text.find('(')), key.second}] += count;
    }
  }

  const char* name() const { return name_; }
  const char* at() const { return at_.load(std::memory_order_relaxed); }
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  const char* const name_;
  std::atomic<const char*> at_{nullptr};
  std::atomic<uint64_t> calls_{0};
  std::map<std::pair<const char*, aclError>, uint64_t> counts_;
};

// Makes a call and writes it down.
#define CALL(journal, call) ((journal).Enter(#call), (journal).Leave(#call, (call)))

}  // namespace stress
