internal import KVBase

/// Proves that bytes are one entity, or an array of them, and finds the reserved members.
///
/// An entity is a JSON object. If it has an id, that is what the format demands: of a text, that it is not empty and
/// without NUL. The permissions and what the version stands in, if there, are objects; none of the format's members
/// may come twice. Null is none of these: leave the member out instead. Of other members that come twice, queries
/// see the first.
///
/// Whether numbers must be in the range of 64-bit floating point is for the caller to say.
package enum EntityScanner {
  /// The depth to which arrays and objects may be nested.
  package static let maximumDepth = 500

  /// The outline of a text that is one entity, with nothing but white space around it.
  package static func outline(
    of bytes: UnsafeRawBufferPointer, _ format: RecordFormat = .default, numbers: NumberRule = .any
  ) throws(JSONError) -> EntityOutline {
    let scanner = ByteScanner(bytes)
    let outline = try entity(scanner, at: scanner.skipSpace(0), format: format, numbers: numbers)
    let rest = scanner.skipSpace(outline.range.upperBound)
    guard rest == scanner.end else { throw scanner.unexpected(rest) }
    return outline
  }

  package static func outline(
    of bytes: [UInt8], _ format: RecordFormat = .default, numbers: NumberRule = .any
  ) throws(JSONError) -> EntityOutline {
    try bytes.withBorrowedBytes { (buffer) throws(JSONError) in
      try outline(of: buffer, format, numbers: numbers)
    }
  }

  /// The outlines of a text that is an array of entities.
  package static func outlines(
    ofArray bytes: UnsafeRawBufferPointer, _ format: RecordFormat = .default,
    numbers: NumberRule = .any
  ) throws(JSONError) -> [EntityOutline] {
    let scanner = ByteScanner(bytes)
    var outlines: [EntityOutline] = []
    var at = scanner.skipSpace(try scanner.expect(UInt8(ascii: "["), scanner.skipSpace(0)))
    if try scanner.byte(at) == UInt8(ascii: "]") {
      at &+= 1
    } else {
      while true {
        let outline = try entity(scanner, at: at, format: format, numbers: numbers)
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
    ofArray bytes: [UInt8], _ format: RecordFormat = .default, numbers: NumberRule = .any
  ) throws(JSONError) -> [EntityOutline] {
    try bytes.withBorrowedBytes { (buffer) throws(JSONError) in
      try outlines(ofArray: buffer, format, numbers: numbers)
    }
  }

  /// Whether bytes are one valid JSON text of any type; where not, says why.
  package static func validate(
    _ bytes: UnsafeRawBufferPointer, numbers: NumberRule = .any
  ) throws(JSONError) {
    let scanner = ByteScanner(bytes)
    let rest = scanner.skipSpace(
      try scanner.skipValue(scanner.skipSpace(0), depth: 0, numbers: numbers))
    guard rest == scanner.end else { throw scanner.unexpected(rest) }
  }

  // MARK: One entity

  /// The entity that starts at `position`.
  static func entity(
    _ scanner: ByteScanner, at position: Int, format: RecordFormat, numbers: NumberRule = .any
  ) throws(JSONError) -> EntityOutline {
    guard try scanner.byte(position) == UInt8(ascii: "{") else {
      throw JSONError(.notAnEntity("an entity must be a JSON object"), at: position)
    }
    var members = try MemberCursor(scanner, at: position, numbers: numbers)
    var builder = OutlineBuilder(format.table, at: position)
    let guess = format.guess
    while let member = try members.next() {
      guard guess.mayHold(member.name, scanner) else { continue }
      try builder.add(member, in: scanner)
    }
    defer { extendLifetime(format) }
    return try builder.finish(at: members.position)
  }
}
