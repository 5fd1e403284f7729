// Updates: the input is an update, a line feed, and an entity. What is accepted is applied to any entity without
// a crash, gives JSON with the same _id, and, where it only sets, does not change anything the second time.

import KVBase
import KVJSON
import KVQuery

func fuzzUpdate(_ bytes: UnsafeBufferPointer<UInt8>) {
  let cut = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
  guard let update = try? EntityUpdate(String(decoding: bytes[..<cut], as: UTF8.self)) else {
    return
  }
  let entity = Array(bytes[min(cut + 1, bytes.count)...])
  guard let id = (try? EntityScanner.outline(of: entity))?.id else { return }
  guard let changed = try? update.apply(to: entity, now: Timestamp(milliseconds: 0)) else { return }
  guard let outline = try? EntityScanner.outline(of: changed) else { return }
  check(outline.id == id, "an update changes the _id")
}
