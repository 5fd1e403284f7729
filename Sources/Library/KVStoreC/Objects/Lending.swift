internal import Glibc
internal import KVSync

/// A text lent to the host, with a NUL after it; NULL for none.
typealias LentText = (start: UnsafePointer<CChar>?, length: Int)

/// Lends a copy of a text for as long as `body` runs. Throws `.storage` if there is no memory for it.
func lend<R>(_ text: [UInt8]?, _ body: (LentText) throws(StoreError) -> R) throws(StoreError) -> R {
  guard let text else { return try body((nil, 0)) }
  guard let copy = malloc(text.count + 1)?.assumingMemoryBound(to: CChar.self) else {
    throw StoreError.noMemory
  }
  defer { free(copy) }
  text.withUnsafeBytes { if let start = $0.baseAddress { memcpy(copy, start, $0.count) } }
  copy[text.count] = 0
  return try body((UnsafePointer(copy), text.count))
}

/// Lends an error for as long as `body` runs; NULL if no handle can be had for it.
func lend<R>(_ error: StoreError, _ body: (OpaquePointer?) -> R) -> R {
  lend(ErrorObject(error), as: .error, body)
}

/// Lends an object for as long as `body` runs, by a handle; NULL if none can be had.
func lend<R>(_ object: AnyObject, as kind: HandleKind, _ body: (OpaquePointer?) -> R) -> R {
  let handle = HandleTable.open(object, as: kind)
  defer { if let handle { HandleTable.discard(handle) } }
  return body(handle?.pointer)
}
