internal import KVBase

/// Proves that bytes are one entity, or an array of them, and finds the reserved members.
///
/// An entity is a JSON object. If it has an id, that is what the format demands: of a text, that it is not empty and
/// without NUL. The permissions and what the version stands in, if there, are objects; none of the format's members
/// may come twice. Null is not allowed for these: leave the member out instead.
///
/// What an application or a client hands over has to be more than that, since readers would take it for different
/// things: numbers are in the range of 64-bit floating point, and no object in it has a member twice. That is asked for
/// by `isInput`; what is stored already is not looked at again, and of members that come twice in it queries see the
/// first.
package enum EntityScanner {
  /// The depth to which arrays and objects may be nested.
  package static let maximumDepth = 500

  /// The outline of a text that is one entity, with nothing but white space around it.
  package static func outline(
    of bytes: UnsafeRawBufferPointer, _ format: RecordFormat = .default, isInput: Bool = false
  ) throws(JSONError) -> EntityOutline {
    let scanner = ByteScanner(bytes)
    let names = isInput ? RepeatedMembers() : nil
    let outline = try entity(scanner, at: scanner.skipSpace(0), format: format, names: names)
    let rest = scanner.skipSpace(outline.range.upperBound)
    guard rest == scanner.end else { throw scanner.unexpected(rest) }
    if names?.mayRepeat == true {
      try RepeatedMembers.compareNames(in: outline.range, scanner)
    }
    return outline
  }

  package static func outline(
    of bytes: [UInt8], _ format: RecordFormat = .default, isInput: Bool = false
  ) throws(JSONError) -> EntityOutline {
    try bytes.withBorrowedBytes { (buffer) throws(JSONError) in
      try outline(of: buffer, format, isInput: isInput)
    }
  }

  /// The outlines of a text that is an array of entities.
  package static func outlines(
    ofArray bytes: UnsafeRawBufferPointer, _ format: RecordFormat = .default,
    isInput: Bool = false
  ) throws(JSONError) -> [EntityOutline] {
    let scanner = ByteScanner(bytes)
    let names = isInput ? RepeatedMembers() : nil
    var outlines: [EntityOutline] = []
    // Where names have to be compared.
    var doubtful: [Range<Int>] = []
    var at = scanner.skipSpace(try scanner.expect(UInt8(ascii: "["), scanner.skipSpace(0)))
    if try scanner.byte(at) == UInt8(ascii: "]") {
      at &+= 1
    } else {
      while true {
        let outline = try entity(scanner, at: at, format: format, names: names)
        if names?.mayRepeat == true { doubtful.append(outline.range) }
        try outlines.makeRoom(for: 1, or: JSONError(.noMemory, at: at))
        outlines.append(outline)
        at = scanner.skipSpace(outline.range.upperBound)
        if try scanner.byte(at) == UInt8(ascii: "]") { break }
        at = scanner.skipSpace(try scanner.expect(UInt8(ascii: ","), at))
      }
      at &+= 1
    }
    let rest = scanner.skipSpace(at)
    guard rest == scanner.end else { throw scanner.unexpected(rest) }
    for range in doubtful { try RepeatedMembers.compareNames(in: range, scanner) }
    return outlines
  }

  package static func outlines(
    ofArray bytes: [UInt8], _ format: RecordFormat = .default, isInput: Bool = false
  ) throws(JSONError) -> [EntityOutline] {
    try bytes.withBorrowedBytes { (buffer) throws(JSONError) in
      try outlines(ofArray: buffer, format, isInput: isInput)
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

  /// The entity that starts at `position`. `names`: it is input, and they notice whether a member may come twice.
  static func entity(
    _ scanner: ByteScanner, at position: Int, format: RecordFormat, names: RepeatedMembers? = nil
  ) throws(JSONError) -> EntityOutline {
    guard try scanner.byte(position) == UInt8(ascii: "{") else {
      throw JSONError(.notAnEntity("an entity must be a JSON object"), at: position)
    }
    names?.begin()
    var members = try MemberCursor(
      scanner, at: position, numbers: names == nil ? .any : .finite, names: names)
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
