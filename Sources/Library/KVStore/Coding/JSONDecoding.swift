internal import KVBase
internal import KVJSON
internal import KVSync

/// Decodes JSON into `Decodable` values.
enum JSONDecoding {
  /// Decodes a value. `id` is the id of the entity, for errors.
  static func decode<T: Decodable>(
    _ type: T.Type, from json: JSONValue, id: String? = nil
  ) throws(KVStoreError) -> T {
    do {
      return try value(type, from: json, at: [])
    } catch let error as DecodingError {
      throw KVStoreError(.invalid, error.sentence(about: type), id: id ?? json["_id"]?.stringValue)
    } catch {
      throw KVStoreError(.invalid, "The entity does not fit \(type): \(error).", id: id)
    }
  }

  static func decode<T: Decodable>(
    _ type: T.Type, from bytes: [UInt8]
  ) throws(KVStoreError) -> T {
    try decode(type, from: try json(bytes))
  }

  /// Decodes bytes, or returns nil if there are none.
  static func decode<T: Decodable>(
    _ type: T.Type, ifAny bytes: [UInt8]?
  ) throws(KVStoreError) -> T? {
    guard let bytes else { return nil }
    return try decode(type, from: bytes)
  }

  /// Decodes one of several entities. If it does not fit, the others are not affected.
  static func result<T: Decodable>(
    _ type: T.Type, from bytes: UnsafeRawBufferPointer
  ) -> Result<T, KVStoreError> {
    Result { () throws(KVStoreError) in try decode(type, from: try json(bytes)) }
  }

  /// Parses a JSON text. Returns nil if it is not valid.
  static func ifValid(_ text: String) throws(KVStoreError) -> JSONValue? {
    do throws(StoreError) { return try JSONValue.ifValid(text) } catch { throw KVStoreError(error) }
  }

  static func json(_ bytes: [UInt8]) throws(KVStoreError) -> JSONValue {
    try bytes.withBorrowedBytes { (bytes) throws(KVStoreError) in try json(bytes) }
  }

  static func json(_ bytes: UnsafeRawBufferPointer) throws(KVStoreError) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: bytes) } catch {
      throw KVStoreError(StoreError(error))
    }
  }

  fileprivate static func value<T: Decodable>(
    _ type: T.Type, from json: JSONValue, at path: [any CodingKey]
  ) throws -> T {
    guard let scalar = type as? any JSONScalar.Type else {
      return try T(from: ValueDecoder(json: json, codingPath: path))
    }
    guard let value = scalar.init(json: json) as? T else {
      throw DecodingError.typeMismatch(
        type, .init(codingPath: path, debugDescription: "\(scalar.expected) was expected"))
    }
    return value
  }
}

private struct ValueDecoder: Decoder {
  let json: JSONValue
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let object = json.objectValue else { throw mismatch(JSONObject.self, "an object") }
    return KeyedDecodingContainer(KeyedDecoding<Key>(object: object, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let array = json.arrayValue else { throw mismatch([JSONValue].self, "an array") }
    return UnkeyedDecoding(array: array, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleValueDecoding(json: json, codingPath: codingPath)
  }

  private func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    .typeMismatch(
      type, .init(codingPath: codingPath, debugDescription: "\(expected) was expected"))
  }
}

private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: JSONObject
  let codingPath: [any CodingKey]

  var allKeys: [Key] { object.members.compactMap { Key(stringValue: $0.name) } }
  func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key).isNull }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try JSONDecoding.value(type, from: member(key), at: codingPath + [key])
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder {
    ValueDecoder(json: object["super"] ?? .null, codingPath: codingPath + [SuperKey()])
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: Key) throws -> ValueDecoder {
    ValueDecoder(json: try member(key), codingPath: codingPath + [key])
  }

  private func member(_ key: Key) throws -> JSONValue {
    guard let value = object[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "it is missing"))
    }
    return value
  }
}

private struct UnkeyedDecoding: UnkeyedDecodingContainer {
  let array: [JSONValue]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(array: [JSONValue], codingPath: [any CodingKey]) {
    self.array = array
    self.codingPath = codingPath
  }

  var count: Int? { array.count }
  var isAtEnd: Bool { currentIndex >= array.count }

  mutating func decodeNil() throws -> Bool {
    guard try current().json.isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let decoder = try current()
    let value = try JSONDecoding.value(type, from: decoder.json, at: decoder.codingPath)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try taken().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try taken().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try taken() }

  private func current() throws -> ValueDecoder {
    let path = codingPath + [IndexKey(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: path, debugDescription: "the array has no more elements"))
    }
    return ValueDecoder(json: array[currentIndex], codingPath: path)
  }

  private mutating func taken() throws -> ValueDecoder {
    defer { currentIndex += 1 }
    return try current()
  }
}

private struct SingleValueDecoding: SingleValueDecodingContainer {
  let json: JSONValue
  let codingPath: [any CodingKey]

  func decodeNil() -> Bool { json.isNull }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try JSONDecoding.value(type, from: json, at: codingPath)
  }
}
