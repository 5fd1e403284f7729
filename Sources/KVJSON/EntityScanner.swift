/// Proves that bytes are one entity, or an array of them, and finds the reserved members.
///
/// An entity is a JSON object. If it has an `_id`, that is a non-empty string without NUL; `_acl` and
/// `_kmd`, if there, are objects; none of the three may come twice. Null is none of these: leave the
/// member out instead. Of other members that come twice, queries see the first.
///
/// Whether numbers must be in the range of 64-bit floating point is for the caller to say.
package enum EntityScanner {
  /// How deep arrays and objects may be nested.
  package static let maximumDepth = 500

  /// The outline of a text that is one entity, with nothing but white space around it.
  package static func outline(
    of bytes: UnsafeRawBufferPointer, numbers: NumberRule = .any
  ) throws(JSONError) -> EntityOutline {
    let scanner = ByteScanner(bytes)
    let outline = try entity(scanner, at: scanner.skipSpace(0), numbers)
    let rest = scanner.skipSpace(outline.range.upperBound)
    guard rest == scanner.end else { throw scanner.unexpected(rest) }
    return outline
  }

  package static func outline(
    of bytes: [UInt8], numbers: NumberRule = .any
  ) throws(JSONError) -> EntityOutline {
    try withBytes(bytes) { (buffer) throws(JSONError) in try outline(of: buffer, numbers: numbers) }
  }

  /// The outlines of a text that is an array of entities.
  package static func outlines(
    ofArray bytes: UnsafeRawBufferPointer, numbers: NumberRule = .any
  ) throws(JSONError) -> [EntityOutline] {
    let scanner = ByteScanner(bytes)
    var outlines: [EntityOutline] = []
    var at = scanner.skipSpace(try scanner.expect(UInt8(ascii: "["), scanner.skipSpace(0)))
    if try scanner.byte(at) == UInt8(ascii: "]") {
      at &+= 1
    } else {
      while true {
        let outline = try entity(scanner, at: at, numbers)
        outlines.append(outline)
        at = scanner.skipSpace(outline.range.upperBound)
        if try scanner.byte(at) == UInt8(ascii: "]") { break }
        at = scanner.skipSpace(try scanner.expect(UInt8(ascii: ","), at))
      }
      at &+= 1
    }
    let rest = scanner.skipSpace(at)
    guard rest == scanner.end else { throw scanner.unexpected(rest) }
    return outlines
  }

  package static func outlines(
    ofArray bytes: [UInt8], numbers: NumberRule = .any
  ) throws(JSONError) -> [EntityOutline] {
    try withBytes(bytes) { (buffer) throws(JSONError) in
      try outlines(ofArray: buffer, numbers: numbers)
    }
  }

  /// Whether bytes are one valid JSON text of any type; where not, says why.
  package static func validate(
    _ bytes: UnsafeRawBufferPointer, numbers: NumberRule = .any
  ) throws(JSONError) {
    let scanner = ByteScanner(bytes)
    let rest = scanner.skipSpace(try scanner.skipValue(scanner.skipSpace(0), depth: 0, numbers))
    guard rest == scanner.end else { throw scanner.unexpected(rest) }
  }

  // MARK: One entity

  /// The entity that starts at `position`.
  static func entity(
    _ scanner: ByteScanner, at position: Int, _ numbers: NumberRule = .any
  ) throws(JSONError) -> EntityOutline {
    guard try scanner.byte(position) == UInt8(ascii: "{") else {
      throw JSONError(.notAnEntity("an entity must be a JSON object"), at: position)
    }
    var members = try MemberCursor(scanner, at: position, numbers)
    var outline = EntityOutline(range: position..<position, id: nil)
    while let member = try members.next() {
      guard mayBeReserved(member.name, scanner) else { continue }
      try note(member, members, in: &outline)
    }
    outline.range = position..<members.position
    return outline
  }

  /// Reserved names start with an underscore, which may be written as an escape.
  @inline(__always)
  private static func mayBeReserved(_ name: Range<Int>, _ scanner: ByteScanner) -> Bool {
    guard name.count >= 3 else { return false }
    let first = scanner.base[name.lowerBound]
    return first == UInt8(ascii: "_") || first == UInt8(ascii: "\\")
  }

  private static func note(
    _ member: MemberCursor.Member, _ members: MemberCursor, in outline: inout EntityOutline
  ) throws(JSONError) {
    if members.isName(member.name, "_id") {
      guard outline.id == nil else { throw twice("_id", member) }
      outline.id = try id(member.value, members.scanner)
    } else if members.isName(member.name, "_acl") {
      guard outline.acl == nil else { throw twice("_acl", member) }
      outline.acl = try object(member.value, "_acl", members.scanner)
    } else if members.isName(member.name, "_kmd") {
      guard outline.kmd == nil else { throw twice("_kmd", member) }
      outline.kmd = try object(member.value, "_kmd", members.scanner)
      outline.lastModified = try lastModified(member.value, members.scanner)
    }
  }

  private static func id(_ value: Range<Int>, _ scanner: ByteScanner) throws(JSONError) -> String {
    guard scanner.base[value.lowerBound] == UInt8(ascii: "\""), value.count > 2 else {
      throw JSONError(.notAnEntity("_id must be a string that is not empty"), at: value.lowerBound)
    }
    let text = scanner.text(value.lowerBound &+ 1..<value.upperBound &- 1)
    // A NUL can only be written as an escape, so most ids need no look.
    guard text.utf8.count == value.count - 2 || !text.utf8.contains(0) else {
      throw JSONError(.notAnEntity("_id must not contain NUL"), at: value.lowerBound)
    }
    return text
  }

  private static func object(
    _ value: Range<Int>, _ name: String, _ scanner: ByteScanner
  ) throws(JSONError) -> Range<Int> {
    guard scanner.base[value.lowerBound] == UInt8(ascii: "{") else {
      throw JSONError(.notAnEntity("\(name) must be an object"), at: value.lowerBound)
    }
    return value
  }

  private static func lastModified(
    _ kmd: Range<Int>, _ scanner: ByteScanner
  ) throws(JSONError) -> Range<Int>? {
    var members = try MemberCursor(scanner, at: kmd.lowerBound, depth: 1)
    var found: Range<Int>?
    while let member = try members.next() {
      guard members.isName(member.name, "lmt") else { continue }
      let value = member.value
      let isString = scanner.base[value.lowerBound] == UInt8(ascii: "\"")
      found = isString ? value.lowerBound &+ 1..<value.upperBound &- 1 : nil
    }
    return found
  }

  private static func twice(_ name: String, _ member: MemberCursor.Member) -> JSONError {
    JSONError(.notAnEntity("\(name) comes twice"), at: member.name.lowerBound)
  }
}

/// Borrows an array's bytes; `Array.withUnsafeBytes` with a typed error.
func withBytes<R>(
  _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(JSONError) -> R
) throws(JSONError) -> R {
  try bytes.withUnsafeBytes { buffer -> Result<R, JSONError> in
    do throws(JSONError) { return .success(try body(buffer)) } catch { return .failure(error) }
  }.get()
}
