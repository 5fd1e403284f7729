/// An entity of an observed result, without its body: no body, so that a result of any size can be followed.
final class ObservedRow: Sendable {
  let id: [UInt8]
  /// The position in the order of storage.
  let number: Int64
  /// What the query's order makes of it; nil: the order of storage.
  let key: [UInt8]?
  /// Tells whether what is shown of it has changed.
  let hash: Int

  init(id: [UInt8], number: Int64, key: [UInt8]?, shown: UnsafeRawBufferPointer) {
    self.id = id
    self.number = number
    self.key = key
    var hasher = Hasher()
    hasher.combine(bytes: shown)
    hash = hasher.finalize()
  }

  var name: String { String(decoding: id, as: UTF8.self) }

  /// Orders rows as SQLite does for the query: by the key and then the id, or by the number.
  func precedes(_ other: ObservedRow) -> Bool {
    guard let key, let otherKey = other.key else { return number < other.number }
    if key == otherKey { return id.lexicographicallyPrecedes(other.id) }
    return key.lexicographicallyPrecedes(otherKey)
  }

  func hasSamePosition(as other: ObservedRow) -> Bool {
    key == other.key && (key != nil || number == other.number)
  }
}

extension [ObservedRow] {
  /// The index of the first row that does not precede this one: its own, or where it belongs.
  func position(of row: ObservedRow) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].precedes(row) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
