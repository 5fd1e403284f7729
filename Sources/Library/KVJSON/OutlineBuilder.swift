internal import KVBase

/// Builds a record's outline from its members, one by one. It must not outlive the format.
struct OutlineBuilder: ~Copyable {
  private let reserved: ReservedMembers.Table
  private(set) var outline: EntityOutline
  /// A bit for each reserved member that has come.
  private var seen: UInt64 = 0
  /// The values of an id of several members as JSON, by their indexes; nil before the first one.
  private var parts: [[UInt8]?]?

  init(_ reserved: ReservedMembers.Table, at position: Int) {
    self.reserved = reserved
    outline = EntityOutline(range: position..<position, id: nil)
  }

  /// Adds a member, if it is a reserved one.
  mutating func add(
    _ member: MemberCursor.Member, in scanner: ByteScanner
  ) throws(JSONError) {
    guard let index = reserved.index(of: member.name, in: scanner) else { return }
    let bit: UInt64 = 1 << UInt64(index)
    guard seen & bit == 0 else {
      throw JSONError(
        .notAnEntity("\(reserved.entries[index].text) occurs twice"), at: member.name.lowerBound)
    }
    seen |= bit
    switch reserved.entries[index].role {
    case .id(let part, let kind):
      try addID(part: part, kind: kind, member.value, at: index, in: scanner)
    case .permissions: outline.permissions = try object(member.value, at: index, in: scanner)
    case .backend(hasVersion: false): break
    case .backend(hasVersion: true):
      if !reserved.versionPath.isEmpty { _ = try object(member.value, at: index, in: scanner) }
      outline.version = version(member.value, path: reserved.versionPath[...], in: scanner)
    }
  }

  /// The outline of a record that ends at `end`.
  consuming func finish(at end: Int) throws(JSONError) -> EntityOutline {
    outline.range = outline.range.lowerBound..<end
    guard let parts else { return outline }
    let known = parts.compactMap { $0 }
    guard known.count == parts.count else {
      let missing = parts.firstIndex(of: nil) ?? 0
      throw JSONError(
        .notAnEntity("\(reserved.entries[missing].text) is missing, and is a part of the id"),
        at: outline.range.lowerBound)
    }
    outline.id = String(decoding: known.jsonArray, as: UTF8.self)
    return outline
  }

  // MARK: Values

  private mutating func addID(
    part: Int, kind: RecordFormat.IDMember.Kind, _ value: Range<Int>, at index: Int,
    in scanner: ByteScanner
  ) throws(JSONError) {
    let text =
      kind == .text
      ? try self.text(value, at: index, in: scanner) : try integer(value, at: index, in: scanner)
    guard reserved.idCount > 1 else {
      outline.id = text
      return
    }
    if parts == nil { parts = Array(repeating: nil, count: reserved.idCount) }
    parts?[part] = kind == .text ? JSONValue.string(text).bytes : Array(text.utf8)
  }

  private func text(
    _ value: Range<Int>, at index: Int, in scanner: ByteScanner
  ) throws(JSONError) -> String {
    guard scanner.base[value.lowerBound] == UInt8(ascii: "\""), value.count > 2 else {
      throw refused(index, "must be a string that is not empty", at: value)
    }
    let text = scanner.text(value.lowerBound &+ 1..<value.upperBound &- 1)
    // A NUL can only be written as an escape, so most ids need no look.
    guard text.utf8.count == value.count - 2 || !text.utf8.contains(0) else {
      throw refused(index, "must not contain NUL", at: value)
    }
    return text
  }

  private func integer(
    _ value: Range<Int>, at index: Int, in scanner: ByteScanner
  ) throws(JSONError) -> String {
    guard let number = Int64(scanner.raw(value)) else {
      throw refused(index, "must be a 64-bit integer", at: value)
    }
    return String(number)
  }

  private func object(
    _ value: Range<Int>, at index: Int, in scanner: ByteScanner
  ) throws(JSONError) -> Range<Int> {
    guard scanner.base[value.lowerBound] == UInt8(ascii: "{") else {
      throw refused(index, "must be an object", at: value)
    }
    return value
  }

  /// The value at a path inside a value that has been validated; nil if there is none, or none of the type that
  /// versions have.
  private func version(
    _ value: Range<Int>, path: Slice<UnsafeBufferPointer<UnsafeBufferPointer<UInt8>>>,
    in scanner: ByteScanner
  ) -> Range<Int>? {
    guard let name = path.first else { return version(value, in: scanner) }
    guard scanner.base[value.lowerBound] == UInt8(ascii: "{") else { return nil }
    var members = TrustedMembers(scanner, at: value.lowerBound)
    var found: Range<Int>?
    while let member = members.next() {
      guard scanner.text(member.name, equals: name) else { continue }
      found = version(member.value, path: path.dropFirst(), in: scanner)
    }
    return found
  }

  private func version(_ value: Range<Int>, in scanner: ByteScanner) -> Range<Int>? {
    if scanner.base[value.lowerBound] == UInt8(ascii: "\"") {
      let text = value.lowerBound &+ 1..<value.upperBound &- 1
      return reserved.versionOrder == .integer ? nil : text
    }
    guard reserved.versionOrder != .text else { return nil }
    var digits = scanner.raw(value)[...]
    if digits.utf8.first == UInt8(ascii: "-") { digits = digits.dropFirst() }
    return digits.utf8.allSatisfy { $0 &- 0x30 <= 9 } ? value : nil
  }

  private func refused(_ index: Int, _ what: String, at value: Range<Int>) -> JSONError {
    JSONError(.notAnEntity("\(reserved.entries[index].text) \(what)"), at: value.lowerBound)
  }
}

extension ByteScanner {
  /// A valid text as it is written.
  fileprivate func raw(_ range: Range<Int>) -> String {
    String(
      decoding: UnsafeBufferPointer(start: base + range.lowerBound, count: range.count),
      as: UTF8.self)
  }
}
