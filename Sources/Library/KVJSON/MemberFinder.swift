package import CScan

/// Finds members of a validated object by their names, in one pass that ends when all are found. Immutable; safe
/// from any thread.
package final class MemberFinder: Sendable {
  private let wanted: NameTable

  /// `names`: each once.
  package init(_ names: [[UInt8]]) { wanted = NameTable(names) }

  package var names: [[UInt8]] { wanted.names }

  /// Records the ranges of the members of the object at `position`; of repeated ones the first. `found` has an
  /// element for each name, whose `end` is 0 if there is no such member.
  package func find(
    in scanner: ByteScanner, at position: Int, into found: UnsafeMutableBufferPointer<kv_span>
  ) {
    let hasEscapes = kv_find_members(
      scanner.base, position, scanner.end, wanted.table, found.baseAddress)
    if hasEscapes != 0 { findCarefully(in: scanner, at: position, into: found) }
  }

  /// Records the ranges of members whose names may be written with escapes.
  private func findCarefully(
    in scanner: ByteScanner, at position: Int, into found: UnsafeMutableBufferPointer<kv_span>
  ) {
    for index in found.indices { found[index] = kv_span() }
    var members = TrustedMembers(scanner, at: position)
    while let member = members.next() {
      guard let index = wanted.index(of: member.name, in: scanner), found[index].end == 0 else {
        continue
      }
      found[index] = kv_span(start: member.value.lowerBound, end: member.value.upperBound)
    }
  }
}
