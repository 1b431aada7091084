// The API log: one JSON object a line for every call, appended to the file that the option `log` names.
//
//   {"api":"aclrtMemcpy","code":107000,"thread":41,"ns":812,"dur":95,"args":{"dst":"0x7e80","destMax":64}}
//   {"api":"aclrtGetDevice","code":0,"thread":41,"ns":991,"dur":3,"args":{"deviceId":"0x7ffd"},"out":{"deviceId":1}}
//
// Guarantees: every line is valid JSON and reaches the file by one append, so threads and processes may share
// it. Threading: any thread; no lock. Cost: one write(2) a call, no allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>

#include "base/text.h"

namespace belay::trace {

// A pointer to one number, enum value, handle or address; characters are a buffer.
template <class T>
inline constexpr bool kPointsToValue = std::is_pointer_v<T>&& std::is_scalar_v<std::remove_pointer_t<T>> &&
                                       !std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, char>;

// Collects the arguments of one call as the inside of a JSON object. What does not fit is left out and said
// so.
class ArgWriter {
 public:
  // Pointers become "0x…", numbers and enums numbers, text a string, everything else "?".
  template <class T>
  void Add(const char* name, const T& value) {
    using V = std::decay_t<T>;
    if constexpr (std::is_null_pointer_v<V>) {
      AddPointer(name, nullptr);
    } else if constexpr (std::is_same_v<V, const char*>) {
      AddText(name, value);
    } else if constexpr (std::is_pointer_v<V>) {
      AddPointer(name, reinterpret_cast<const void*>(value));
    } else if constexpr (std::is_enum_v<V>) {
      Add(name, static_cast<std::underlying_type_t<V>>(value));
    } else if constexpr (std::is_integral_v<V> && std::is_signed_v<V>) {
      AddSigned(name, value);
    } else if constexpr (std::is_integral_v<V>) {
      AddUnsigned(name, value);
    } else if constexpr (std::is_floating_point_v<V>) {
      AddReal(name, static_cast<double>(value));
    } else {
      AddRaw(name, "\"?\"");
    }
  }

  std::string_view view() const { return text_.view(); }

  static constexpr size_t kRoom = 2048;

 private:
  void AddPointer(const char* name, const void* pointer);
  void AddSigned(const char* name, int64_t value);
  void AddUnsigned(const char* name, uint64_t value);
  void AddReal(const char* name, double value);
  void AddText(const char* name, const char* text);
  void AddRaw(const char* name, std::string_view json);

  Text<kRoom> text_;
  bool cut_ = false;
};

class ApiLog {
 public:
  // Appends to the file, creating it if need be. The error is a sentence with the path and the reason.
  static tl::expected<std::unique_ptr<ApiLog>, std::string> Open(const std::string& path);
  ~ApiLog();
  ApiLog(const ApiLog&) = delete;
  ApiLog& operator=(const ApiLog&) = delete;

  // False after a write failed: the log then ends, the program goes on.
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }

  // `start_ns` and `duration_ns` come from Now(). `outs`: what the call left behind its pointers. `order`:
  // its place among what the order checker was told; 0: none.
  void Record(const char* api, int32_t code, uint64_t start_ns, uint64_t duration_ns, const ArgWriter& args,
              const ArgWriter& outs, uint64_t order = 0);

  // A whole line, which ends with \n, about something else than a call.
  void Append(std::string_view line);

  static uint64_t Now();

 private:
  ApiLog(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  const int fd_;
  const std::string path_;
  std::atomic<bool> enabled_{true};
};

}  // namespace belay::trace
