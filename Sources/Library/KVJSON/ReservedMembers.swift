internal import Glibc

/// The members of a format that the scanner notes, ready to be found among the others. Immutable; safe from any thread.
///
/// Flat, so that scanning a record touches no reference counts. `@unchecked Sendable`: what the pointers lead to is
/// written once, before anybody else has them.
final class ReservedMembers: @unchecked Sendable {
  enum Role: BitwiseCopyable {
    /// A part of the id, by its index there.
    case id(Int, RecordFormat.IDMember.Kind)
    case permissions
    case backend(hasVersion: Bool)
  }

  struct Entry: BitwiseCopyable {
    let name: UnsafeBufferPointer<UInt8>
    let role: Role

    /// The name as messages show it.
    var text: String { String(decoding: name, as: UTF8.self) }
  }

  /// The form that the scanner reads; valid as long as the `ReservedMembers`.
  struct Table: @unchecked Sendable {
    let entries: UnsafeBufferPointer<Entry>
    /// The number of members that make up the id.
    let idCount: Int
    /// The names that lead on to the version inside of the backend's member; empty: that is the version.
    let versionPath: UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>
    let versionOrder: VersionOrder
  }

  /// Whether a name may be one of them: a look at its length and its first byte, which most members of a record do not
  /// pass.
  struct Guess: Sendable {
    /// A bit for each first byte, by its last six bits, which is enough to keep most other names out.
    private let firstBytes: UInt64
    private let shortest: Int

    init(_ names: [[UInt8]]) {
      // Any name may be written as escapes.
      let bytes = names.compactMap(\.first) + [UInt8(ascii: "\\")]
      firstBytes = bytes.reduce(0) { $0 | 1 << UInt64($1 & 63) }
      shortest = names.map(\.count).min() ?? .max
    }

    @inline(__always)
    func mayHold(_ name: Range<Int>, _ scanner: ByteScanner) -> Bool {
      guard name.count >= shortest else { return false }
      return firstBytes >> UInt64(scanner.base[name.lowerBound] & 63) & 1 != 0
    }
  }

  /// The reserved names, each once.
  let names: [String]
  let table: Table
  let guess: Guess

  init(
    id: [RecordFormat.IDMember], permissions: String?, backend: [String], version: [String],
    order: VersionOrder
  ) {
    var roles: [Role] = id.enumerated().map { .id($0, $1.kind) }
    if permissions != nil { roles.append(.permissions) }
    roles += backend.map { name in
      .backend(hasVersion: version.first.map { $0.utf8.elementsEqual(name.utf8) } ?? false)
    }
    names = id.map(\.name) + (permissions.map { [$0] } ?? []) + backend
    let entries = zip(names, roles).map { Entry(name: copied(Array($0.utf8)), role: $1) }
    table = Table(
      entries: copied(entries), idCount: id.count,
      versionPath: copied(version.dropFirst().map { copied(Array($0.utf8)) }), versionOrder: order)
    guess = Guess(names.map { Array($0.utf8) })
  }

  deinit {
    table.entries.forEach { $0.name.deallocate() }
    table.entries.deallocate()
    table.versionPath.forEach { $0.deallocate() }
    table.versionPath.deallocate()
  }
}

extension ReservedMembers.Table {
  /// The index of the reserved member with a name; nil: none.
  func index(of name: Range<Int>, in scanner: ByteScanner) -> Int? {
    let start = scanner.base + name.lowerBound
    for (index, entry) in entries.enumerated() where entry.name.count == name.count {
      if let wanted = entry.name.baseAddress, memcmp(start, wanted, name.count) == 0 {
        return index
      }
    }
    guard scanner.hasEscapes(name) else { return nil }
    return entries.firstIndex { scanner.text(name, equals: $0.name) }
  }
}

/// The elements in memory of their own.
private func copied<T: BitwiseCopyable>(_ elements: [T]) -> UnsafeBufferPointer<T> {
  let copy = UnsafeMutableBufferPointer<T>.allocate(capacity: elements.count)
  _ = copy.initialize(from: elements)
  return UnsafeBufferPointer(copy)
}
