internal import KVSync

/// A text lent to the host, with a NUL behind it; NULL for none.
typealias LentText = (start: UnsafePointer<CChar>?, length: Int)

/// Lends a text for as long as `body` runs.
func lend<R>(_ text: [UInt8]?, _ body: (LentText) -> R) -> R {
  guard var text else { return body((nil, 0)) }
  text.append(0)
  return text.withUnsafeBytes {
    body(($0.baseAddress?.assumingMemoryBound(to: CChar.self), text.count - 1))
  }
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
