internal import KVBase

/// What was made of the texts of paths that came lately: the same few come with every row. Safe from any thread.
final class ParsedPaths<Value: Sendable>: Sendable {
  private struct Entry {
    let text: [UInt8]
    let value: Value
  }

  private static var capacity: Int { 256 }

  private let make: @Sendable (String) -> Value?
  /// At most one text for each checksum: one is looked for at each change of an entity.
  private let known = Monitor<[Int64: Entry]>([:])

  /// `make`: nil for a text that is no array of names.
  init(_ make: @escaping @Sendable (String) -> Value?) { self.make = make }

  /// What a text was made into; nil if it is no array of names.
  func value(of text: UnsafeRawBufferPointer) -> Value? {
    let checksum = Checksum.of(text)
    let found = known.withLock { (known) -> Value? in
      guard let entry = known[checksum],
        entry.text.withUnsafeBytes({ Statement.areEqual($0, text) })
      else { return nil }
      return entry.value
    }
    if let found { return found }
    guard let value = make(String(decoding: text, as: UTF8.self)) else { return nil }
    known.withLock { known in
      if known.count >= Self.capacity { known = [:] }
      known[checksum] = Entry(text: Array(text), value: value)
    }
    return value
  }
}
