internal import KVBase

/// New bytes for an entity, made by copying slices: what is not replaced stays as it was written.
package enum EntityEditing {
  /// The entity with its id as its first members. For an entity that has none; as it is, if the id is no key of the
  /// format.
  package static func inserting(
    id: String, into bytes: UnsafeRawBufferPointer, outline: EntityOutline,
    format: RecordFormat = .default
  ) -> [UInt8] {
    let inner = outline.range.lowerBound &+ 1..<outline.range.upperBound &- 1
    var out: [UInt8] = []
    out.reserveCapacity(outline.range.count &+ id.utf8.count &+ 16)
    out.append(UInt8(ascii: "{"))
    writeID(id, format, to: &out)
    let body = UnsafeRawBufferPointer(rebasing: bytes[inner])
    if ByteScanner(body).skipSpace(0) < body.count { separate(&out) }
    out.append(contentsOf: body)
    out.append(UInt8(ascii: "}"))
    return out
  }

  /// The entity as `{id, other members, replacements}`.
  ///
  /// Members named in `replacements` lose their old values; a replacement of nil removes the member. The
  /// values are JSON texts. White space around members is not kept. `id` nil: none is written.
  package static func rewriting(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, id: String?,
    replacing replacements: [(name: String, json: [UInt8]?)], format: RecordFormat = .default
  ) throws(JSONError) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(outline.range.count &+ 256)
    out.append(UInt8(ascii: "{"))
    if let id { writeID(id, format, to: &out) }
    let scanner = ByteScanner(bytes)
    var members = try MemberCursor(scanner, at: outline.range.lowerBound)
    while let member = try members.next() {
      let name = scanner.text(member.name)
      guard !format.id.contains(where: { $0.name.hasSameBytes(as: name) }),
        !replacements.contains(where: { $0.name.hasSameBytes(as: name) })
      else { continue }
      separate(&out)
      out.append(contentsOf: bytes[member.name.lowerBound &- 1..<member.name.upperBound &+ 1])
      out.append(UInt8(ascii: ":"))
      out.append(contentsOf: bytes[member.value])
    }
    for case (let name, let json?) in replacements { write(name, json, to: &out) }
    out.append(UInt8(ascii: "}"))
    return out
  }

  package static func rewriting(
    _ bytes: [UInt8], _ outline: EntityOutline, id: String?,
    replacing replacements: [(name: String, json: [UInt8]?)]
  ) throws(JSONError) -> [UInt8] {
    try bytes.withBorrowedBytes { (buffer) throws(JSONError) in
      try rewriting(buffer, outline, id: id, replacing: replacements)
    }
  }

  private static func writeID(_ id: String, _ format: RecordFormat, to out: inout [UInt8]) {
    if format.hasTextID {
      JSONValue.write(format.id[0].name, to: &out)
      out.append(UInt8(ascii: ":"))
      return JSONValue.write(id, to: &out)
    }
    for (member, value) in zip(format.id, format.values(ofKey: id) ?? []) {
      write(member.name, value.bytes, to: &out)
    }
  }

  private static func separate(_ out: inout [UInt8]) {
    if out.count > 1 { out.append(UInt8(ascii: ",")) }
  }

  private static func write(_ name: String, _ json: [UInt8], to out: inout [UInt8]) {
    separate(&out)
    JSONValue.write(name, to: &out)
    out.append(UInt8(ascii: ":"))
    out.append(contentsOf: json)
  }
}
