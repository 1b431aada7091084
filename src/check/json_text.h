// JSON written piece by piece, into a fixed buffer (findings, also in a signal handler) or into a string
// (reports).
//
// Guarantees: output is valid UTF-8 whatever the input bytes are; into a buffer nothing allocates, and what
// does not fit sets overflowed() and is dropped. Threading: one user.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace belay::check {

class BufferSink {
 public:
  BufferSink(char* data, size_t capacity) : data_(data), capacity_(capacity) {}

  void Put(std::string_view text) {
    if (overflowed_ || text.size() > capacity_ - size_) {
      overflowed_ = true;
      return;
    }
    memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
  }

  size_t size() const { return size_; }
  bool overflowed() const { return overflowed_; }

 private:
  char* data_;
  size_t capacity_;
  size_t size_ = 0;
  bool overflowed_ = false;
};

class StringSink {
 public:
  void Put(std::string_view text) { text_.append(text); }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

// The number of bytes of the UTF-8 character that `text` starts with; 0 when there is none.
inline size_t Utf8Length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    bool overlong = first == 0xe0 && byte(1) < 0xa0;
    bool surrogate = first == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    bool out_of_range = (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
    return out_of_range ? 0 : 4;
  }
  return 0;
}

template <class Sink>
void PutJsonString(Sink& sink, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  sink.Put("\"");
  while (!text.empty()) {
    char c = text[0];
    size_t length = Utf8Length(text);
    if (c == '"' || c == '\\') {
      char escaped[2] = {'\\', c};
      sink.Put({escaped, 2});
    } else if (c == '\n') {
      sink.Put("\\n");
    } else if (c == '\t') {
      sink.Put("\\t");
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escaped[6] = {'\\', 'u', '0', '0', kHex[(c >> 4) & 15], kHex[c & 15]};
      sink.Put({escaped, 6});
    } else if (length == 0) {
      sink.Put("\\ufffd");
    } else {
      sink.Put(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  sink.Put("\"");
}

template <class Sink>
void PutJsonStringOrNull(Sink& sink, std::string_view text) {
  if (text.empty()) {
    sink.Put("null");
  } else {
    PutJsonString(sink, text);
  }
}

template <class Sink>
void PutJsonNumber(Sink& sink, int64_t number) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  sink.Put({digits, static_cast<size_t>(end - digits)});
}

}  // namespace belay::check
