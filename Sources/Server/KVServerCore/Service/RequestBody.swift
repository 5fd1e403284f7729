internal import KVJSON

extension Payload {
  /// Whether it holds nothing but white space.
  var isBlank: Bool { withBytes { $0.allSatisfy { $0 <= 0x20 } } }
}

/// Reading request bodies.
extension Service {
  static func isArray(_ body: Payload) -> Bool {
    body.withBytes { $0.first { $0 > 0x20 } == UInt8(ascii: "[") }
  }

  /// The body as one entity.
  static func draft(
    _ body: Payload, id: String? = nil,
    replacing replacements: [(name: String, json: [UInt8]?)] = []
  ) throws(ServerError) -> EntityDraft {
    try body.withBytes { (bytes) throws(ServerError) in
      try draft(bytes, id: id, replacing: replacements)
    }
  }

  /// Takes an entity out of a text; without an `_id` of its own it gets this one.
  static func draft(_ body: Payload, instead id: String) throws(ServerError) -> EntityDraft {
    try body.withBytes { (bytes) throws(ServerError) in
      let outline: EntityOutline
      do throws(JSONError) { outline = try EntityScanner.outline(of: bytes, isInput: true) } catch {
        throw ServerError(error)
      }
      return try EntityDraft(bytes, outline, id: outline.id ?? id)
    }
  }

  /// The elements of a body that is an array, each on its own: one that is no entity does not spoil the
  /// others. Throws if the body is not JSON, or has no elements or too many.
  static func drafts(
    _ body: Payload, limit: Int
  ) throws(ServerError) -> [Result<EntityDraft, ServerError>] {
    try elements(body, limit: limit) { (bytes) throws(ServerError) in try draft(bytes) }
  }

  /// What `read` makes of each element of a body that is an array. Throws if the body is not JSON, or has no elements or
  /// too many.
  static func elements<Element>(
    _ body: Payload, limit: Int,
    read: (UnsafeRawBufferPointer) throws(ServerError) -> Element
  ) throws(ServerError) -> [Result<Element, ServerError>] {
    try body.withBytes { (bytes) throws(ServerError) in
      let ranges = try elements(bytes)
      guard !ranges.isEmpty else { throw ServerError(.badRequest, "the array is empty") }
      guard ranges.count <= limit else {
        throw ServerError(.payloadTooLarge, "at most \(limit) entities can be written at once")
      }
      return ranges.map { range in
        Result { () throws(ServerError) in
          try read(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
      }
    }
  }

  /// What `read` makes of each of some entities that have commas between, as the lists of answers have them.
  static func each<Element>(
    of entities: Payload, read: (UnsafeRawBufferPointer) throws(ServerError) -> Element
  ) throws(ServerError) -> [Element] {
    guard entities.count > 0 else { return [] }
    let list = Payload([UInt8(ascii: "[")])
    entities.withBytes { list.append($0) }
    list.append(byte: UInt8(ascii: "]"))
    return try elements(list, limit: .max, read: read)
      .map { (element) throws(ServerError) in try element.get() }
  }

  /// Entities with commas between.
  static func joined(_ entities: [[UInt8]]) -> [UInt8] {
    Array(entities.joined(separator: [UInt8(ascii: ",")]))
  }

  /// The body as a small JSON object.
  static func object(_ body: Payload) throws(ServerError) -> JSONObject {
    let value: JSONValue
    do throws(JSONError) {
      value = try body.withBytes { (bytes) throws(JSONError) in try JSONValue(parsing: bytes) }
    } catch {
      throw ServerError(error)
    }
    guard let object = value.objectValue else {
      throw ServerError(.badRequest, "the body must be a JSON object")
    }
    return object
  }

  static func draft(
    _ bytes: UnsafeRawBufferPointer, id: String? = nil,
    replacing replacements: [(name: String, json: [UInt8]?)] = []
  ) throws(ServerError) -> EntityDraft {
    let outline: EntityOutline
    do { outline = try EntityScanner.outline(of: bytes, isInput: true) } catch {
      throw ServerError(error)
    }
    return try EntityDraft(bytes, outline, id: id, replacing: replacements)
  }

  private static func elements(
    _ bytes: UnsafeRawBufferPointer
  ) throws(ServerError) -> [Range<Int>] {
    do throws(JSONError) {
      try EntityScanner.validate(bytes)
      let scanner = ByteScanner(bytes)
      var ranges: [Range<Int>] = []
      var elements = try ElementCursor(scanner, at: scanner.skipSpace(0))
      while let element = try elements.next() { ranges.append(element) }
      return ranges
    } catch {
      throw ServerError(error)
    }
  }
}
