/// The members of a format that the scanner notes, ready to be found among the others.
///
/// Most members of a record are none of them: these are told by the first byte of their names, before anything is
/// compared. Immutable; safe from any thread.
final class ReservedMembers: Sendable {
  enum Role: Sendable {
    /// A part of the id, by its place there.
    case id(Int, RecordFormat.IDMember.Kind)
    case permissions
    case backend(hasVersion: Bool)
  }

  /// Whether a name may be one of them: a look at its length and its first byte.
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

  /// Each once.
  let names: [String]
  let roles: [Role]
  let guess: Guess
  private let table: NameTable
  /// How many members make up the id.
  let idCount: Int
  /// The names that lead on to the version inside of the backend's member; empty: that is the version.
  let versionPath: [[UInt8]]
  let versionOrder: VersionOrder

  init(
    _ id: [RecordFormat.IDMember], _ permissions: String?, _ backend: [String], _ version: [String],
    _ order: VersionOrder
  ) {
    var roles: [Role] = id.enumerated().map { .id($0, $1.kind) }
    if permissions != nil { roles.append(.permissions) }
    roles += backend.map { name in
      .backend(hasVersion: version.first.map { $0.utf8.elementsEqual(name.utf8) } ?? false)
    }
    names = id.map(\.name) + (permissions.map { [$0] } ?? []) + backend
    self.roles = roles
    let bytes = names.map { Array($0.utf8) }
    guess = Guess(bytes)
    table = NameTable(bytes)
    idCount = id.count
    versionPath = version.dropFirst().map { Array($0.utf8) }
    versionOrder = order
  }

  /// Which of them is called so; nil: none.
  func place(of name: Range<Int>, in scanner: ByteScanner) -> Int? {
    table.place(of: name, in: scanner)
  }
}
