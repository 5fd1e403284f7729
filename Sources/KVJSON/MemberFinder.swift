package import CScan

/// Finds members of a validated object by their names, in one pass that ends when all are found. Immutable; safe
/// from any thread.
///
/// `@unchecked Sendable`: what the pointer leads to is written once, before anybody else has it.
package final class MemberFinder: @unchecked Sendable {
  package let names: [[UInt8]]
  private let wanted: UnsafeMutableBufferPointer<kv_member_name>

  package init(_ names: [[UInt8]]) {
    self.names = names
    wanted = .allocate(capacity: names.count)
    for (place, name) in names.enumerated() {
      // At least one byte, so that there is an address.
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, name.count))
      _ = copy.initialize(from: name.isEmpty ? [0] : name)
      let start = UnsafePointer(copy.baseAddress)
      wanted.initializeElement(at: place, to: kv_member_name(bytes: start, length: name.count))
    }
  }

  deinit {
    for name in wanted { name.bytes.deallocate() }
    wanted.deallocate()
  }

  /// Notes where the members of the object at `position` are; of repeated ones the first. `found` has a place for
  /// each name, whose `end` is 0 if there is no such member.
  package func find(
    in scanner: ByteScanner, at position: Int, into found: UnsafeMutableBufferPointer<kv_span>
  ) {
    let hasEscapes = kv_find_members(
      scanner.base, position, scanner.end, wanted.baseAddress, wanted.count, found.baseAddress)
    if hasEscapes != 0 { findCarefully(in: scanner, at: position, into: found) }
  }

  /// The same for names that may be written with escapes.
  private func findCarefully(
    in scanner: ByteScanner, at position: Int, into found: UnsafeMutableBufferPointer<kv_span>
  ) {
    for place in found.indices { found[place] = kv_span() }
    var members = TrustedMembers(scanner, at: position)
    while let member = members.next() {
      for place in names.indices where found[place].end == 0 {
        let isSame = names[place].withUnsafeBufferPointer {
          scanner.text(member.name, equals: $0)
        }
        guard isSame else { continue }
        found[place] = kv_span(start: member.value.lowerBound, end: member.value.upperBound)
        break
      }
    }
  }
}
