// The functions of belay/control.h, looked up by name: a library without them can be tested too.
#pragma once

#include <belay/control.h>
#include <dlfcn.h>

namespace model {

struct Controls {
  decltype(&belay_hold_stream) hold = nullptr;
  decltype(&belay_release_stream) release = nullptr;
  decltype(&belay_land_one) land = nullptr;
  decltype(&belay_list_pending) list = nullptr;

  bool Complete() const {
    return hold != nullptr && release != nullptr && land != nullptr && list != nullptr;
  }

  static const Controls& Get() {
    static const Controls controls = [] {
      Controls found;
      Find("belay_hold_stream", found.hold);
      Find("belay_release_stream", found.release);
      Find("belay_land_one", found.land);
      Find("belay_list_pending", found.list);
      return found;
    }();
    return controls;
  }

 private:
  template <class F>
  static void Find(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
  }
};

}  // namespace model
