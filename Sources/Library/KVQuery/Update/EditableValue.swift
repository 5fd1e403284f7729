internal import KVJSON

/// A JSON value under change: what is not touched stays the bytes that it was.
///
/// The bytes are valid JSON. An object or an array is taken apart when something inside it is changed.
enum EditableValue: Sendable {
  case bytes(ArraySlice<UInt8>)
  case object([Member])
  case array([EditableValue])

  struct Member: Sendable {
    /// UTF-8, escapes undone.
    let name: [UInt8]
    /// The name as it is written: with quotes and escapes.
    let quotedName: ArraySlice<UInt8>
    var value: EditableValue
  }

  static let null = EditableValue(.null)

  init(_ value: JSONValue) { self = .bytes(value.bytes[...]) }

  /// The bytes of an entity or of one of its values, copied.
  init(_ value: UnsafeRawBufferPointer) { self = .bytes(Array(value)[...]) }

  // MARK: Looking

  var kind: RawValue.Kind {
    switch self {
    case .object: .object
    case .array: .array
    case .bytes: withRawValue { $0.kind }
    }
  }

  /// Compact JSON where it was changed, the original text elsewhere.
  var text: [UInt8] {
    var out: [UInt8] = []
    write(to: &out)
    return out
  }

  /// Bytes that are equal, or sort, as the values are or do: by type, then within the type, as MongoDB.
  var sortKey: [UInt8] {
    withRawValue { value in
      var out: [UInt8] = []
      ValueEncoding.append(value, to: &out)
      return out
    }
  }

  /// Runs `body` with the value as queries see it.
  func withRawValue<R, E: Error>(_ body: (RawValue) throws(E) -> R) throws(E) -> R {
    if case .bytes(let slice) = self { return try Self.withRawValue(slice, body) }
    return try Self.withRawValue(text[...], body)
  }

  private static func withRawValue<R, E: Error>(
    _ slice: ArraySlice<UInt8>, _ body: (RawValue) throws(E) -> R
  ) throws(E) -> R {
    try slice.withUnsafeBufferPointer { (buffer) throws(E) in
      let scanner = ByteScanner(UnsafeRawBufferPointer(buffer))
      return try body(RawValue(scanner, scanner.skipSpace(0)..<scanner.end))
    }
  }

  // MARK: Taking apart

  /// The members of an object; nil for everything else.
  var members: [Member]? {
    switch self {
    case .object(let members): return members
    case .array: return nil
    case .bytes(let slice):
      return Self.withRawValue(slice) { object in
        guard object.kind == .object else { return nil }
        var members: [Member] = []
        var cursor = TrustedMembers(object.scanner, at: object.range.lowerBound)
        while let member = cursor.next() {
          let quoted = member.name.lowerBound - 1..<member.name.upperBound + 1
          members.append(
            Member(
              name: RawValue(object.scanner, quoted).withText { Array($0) },
              quotedName: slice.part(quoted), value: .bytes(slice.part(member.value))))
        }
        return members
      }
    }
  }

  /// The elements of an array; nil for everything else.
  var elements: [EditableValue]? {
    switch self {
    case .array(let elements): return elements
    case .object: return nil
    case .bytes(let slice):
      return Self.withRawValue(slice) { array in
        guard array.kind == .array else { return nil }
        var elements: [EditableValue] = []
        var cursor = TrustedElements(array.scanner, at: array.range.lowerBound)
        while let element = cursor.next() { elements.append(.bytes(slice.part(element))) }
        return elements
      }
    }
  }

  // MARK: Writing

  func write(to out: inout [UInt8]) {
    switch self {
    case .bytes(let slice): out.append(contentsOf: slice)
    case .array(let elements):
      out.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        element.write(to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .object(let members):
      out.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        out.append(contentsOf: member.quotedName)
        out.append(UInt8(ascii: ":"))
        member.value.write(to: &out)
      }
      out.append(UInt8(ascii: "}"))
    }
  }
}

extension EditableValue.Member {
  /// A new member.
  init(_ name: [UInt8], _ value: EditableValue) {
    var quoted: [UInt8] = []
    JSONValue.write(String(decoding: name, as: UTF8.self), to: &quoted)
    self.init(name: name, quotedName: quoted[...], value: value)
  }
}

extension ArraySlice<UInt8> {
  /// The part whose offsets count from the start of this slice.
  fileprivate func part(_ range: Range<Int>) -> ArraySlice<UInt8> {
    self[startIndex + range.lowerBound..<startIndex + range.upperBound]
  }
}
