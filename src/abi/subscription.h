// Streams that report to a thread of the program, seen by who destroys them. SPEC 21 §2
#pragma once

#include "abi/call.h"

namespace belay::abi {

// The binding ends with the stream, which the program should have done first (W-ORDER).
void NoteSubscribed(const Call& call, const runtime::StreamObject& stream);

}  // namespace belay::abi
