package import CScan

/// Names of members, to be looked up by their bytes: a few by comparing, many by their hash. Immutable; safe from any
/// thread.
///
/// `@unchecked Sendable`: what the pointers lead to is written once, before anybody else has them.
package final class NameTable: @unchecked Sendable {
  /// Up to so many names are compared one by one.
  private static let few = 8
  private static let seed = UInt64.random(in: .min ... .max)

  package let names: [[UInt8]]
  /// The names in the form that the scanner in C reads.
  let table: UnsafeMutablePointer<kv_names>

  /// `names`: each once.
  package init(_ names: [[UInt8]]) {
    self.names = names
    let entries = UnsafeMutableBufferPointer<kv_member_name>.allocate(capacity: names.count)
    for (index, name) in names.enumerated() {
      // At least one byte, so that there is an address.
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, name.count))
      _ = copy.initialize(from: name.isEmpty ? [0] : name)
      let start = UnsafePointer(copy.baseAddress)
      entries.initializeElement(at: index, to: kv_member_name(bytes: start, length: name.count))
    }
    table = .allocate(capacity: 1)
    table.initialize(
      to: kv_names(
        names: UnsafePointer(entries.baseAddress), count: names.count, slots: nil, mask: 0,
        seed: Self.seed))
    if names.count > Self.few { hash() }
  }

  deinit {
    for index in names.indices { table.pointee.names[index].bytes.deallocate() }
    table.pointee.names?.deallocate()
    table.pointee.slots?.deallocate()
    table.deallocate()
  }

  private func hash() {
    var size = 32
    while size < 2 * names.count { size *= 2 }
    let slots = UnsafeMutablePointer<UInt32>.allocate(capacity: size)
    slots.initialize(repeating: 0, count: size)
    table.pointee.mask = size - 1
    for index in names.indices {
      let name = table.pointee.names[index]
      var slot = kv_hash_name(table, name.bytes, name.length)
      while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = UInt32(truncatingIfNeeded: index + 1)
    }
    table.pointee.slots = UnsafePointer(slots)
  }

  /// The names in their order, as long as this lives.
  package var first: UnsafePointer<kv_member_name>? { table.pointee.names }

  /// The number of the name that is at `range` in a text, between its quotes; nil if it is not in the table.
  package func index(of range: Range<Int>, in scanner: ByteScanner) -> Int? {
    guard scanner.hasEscapes(range) else {
      return index(scanner.base + range.lowerBound, range.count)
    }
    return scanner.unescaped(range).withUnsafeBufferPointer { name in
      name.baseAddress.flatMap { index($0, name.count) } ?? names.firstIndex(of: [])
    }
  }

  private func index(_ start: UnsafePointer<UInt8>, _ length: Int) -> Int? {
    let index = kv_find_name(table, start, length)
    return index < names.count ? index : nil
  }
}
