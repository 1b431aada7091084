// A string with a fixed room, for messages that must not allocate: findings are also made in a signal
// handler.
//
// Text that does not fit is cut and ends in "...". Threading: a value.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace belay {

template <size_t N>
class Text {
 public:
  Text() { data_[0] = '\0'; }

  __attribute__((format(printf, 2, 3))) Text& Format(const char* format, ...) {
    va_list args;
    va_start(args, format);
    VFormat(format, args);
    va_end(args);
    return *this;
  }

  // Appends.
  Text& VFormat(const char* format, va_list args) {
    int wanted = vsnprintf(data_ + size_, N - size_, format, args);
    if (wanted > 0) Grow(static_cast<size_t>(wanted));
    return *this;
  }

  Text& Append(std::string_view text) {
    size_t room = N - 1 - size_;
    size_t taken = text.size() < room ? text.size() : room;
    memcpy(data_ + size_, text.data(), taken);
    data_[size_ + taken] = '\0';
    Grow(text.size());
    return *this;
  }

  void clear() { size_ = 0, data_[0] = '\0'; }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  const char* c_str() const { return data_; }
  std::string_view view() const { return {data_, size_}; }

 private:
  void Grow(size_t wanted) {
    size_ += wanted;
    if (size_ < N) return;
    size_ = N - 1;
    memcpy(data_ + N - 4, "...", 4);
  }

  size_t size_ = 0;
  char data_[N];
};

}  // namespace belay
