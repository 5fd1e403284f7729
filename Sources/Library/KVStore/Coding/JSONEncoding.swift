internal import KVJSON

/// Encodes `Encodable` values as JSON.
enum JSONEncoding {
  static func value(of value: some Encodable) throws(KVStoreError) -> JSONValue {
    do {
      return try node(of: value, []).value
    } catch let error as EncodingError {
      throw KVStoreError(.invalid, error.sentence(about: type(of: value)))
    } catch {
      throw KVStoreError(.invalid, "The \(type(of: value)) cannot be encoded: \(error).")
    }
  }

  fileprivate static func node(
    of value: some Encodable, _ path: [any CodingKey]
  ) throws -> EncodedNode {
    let node = EncodedNode()
    if let scalar = value as? any JSONScalar {
      guard let json = scalar.json else {
        throw EncodingError.invalidValue(
          value, .init(codingPath: path, debugDescription: "\(scalar) is not a number of JSON"))
      }
      node.content = .value(json)
    } else {
      try value.encode(to: NodeEncoder(node: node, codingPath: path))
    }
    return node
  }
}

/// A value that is being encoded. A nested container writes into the node of its parent.
private final class EncodedNode {
  enum Content {
    case nothing
    case value(JSONValue)
    case array([EncodedNode])
    case object([(name: String, node: EncodedNode)])
  }

  var content = Content.nothing

  var value: JSONValue {
    switch content {
    case .nothing: .object([:])
    case .value(let value): value
    case .array(let nodes): .array(nodes.map(\.value))
    case .object(let members):
      .object(JSONObject(members.map { .init($0.name, $0.node.value) }))
    }
  }

  /// Sets a member. If a name is encoded twice, the last value remains.
  func set(_ name: String, _ node: EncodedNode) {
    guard case .object(var members) = content else {
      content = .object([(name, node)])
      return
    }
    content = .nothing
    if let index = members.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
      members[index].node = node
    } else {
      members.append((name, node))
    }
    content = .object(members)
  }

  func append(_ node: EncodedNode) {
    guard case .array(var nodes) = content else {
      content = .array([node])
      return
    }
    content = .nothing
    nodes.append(node)
    content = .array(nodes)
  }

  var count: Int { if case .array(let nodes) = content { nodes.count } else { 0 } }
}

private struct NodeEncoder: Encoder {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .nothing = node.content { node.content = .object([]) }
    return KeyedEncodingContainer(KeyedEncoding(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .nothing = node.content { node.content = .array([]) }
    return UnkeyedEncoding(node: node, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleValueEncoding(node: node, codingPath: codingPath)
  }
}

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  let codingPath: [any CodingKey]

  private func encoder(_ key: some CodingKey) -> NodeEncoder {
    let child = EncodedNode()
    node.set(key.stringValue, child)
    return NodeEncoder(node: child, codingPath: codingPath + [key])
  }

  func encodeNil(forKey key: Key) { encoder(key).node.content = .value(.null) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    node.set(key.stringValue, try JSONEncoding.node(of: value, codingPath + [key]))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { encoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(SuperKey()) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  var count: Int { node.count }

  private func encoder() -> NodeEncoder {
    let path = codingPath + [IndexKey(count)]
    let child = EncodedNode()
    node.append(child)
    return NodeEncoder(node: child, codingPath: path)
  }

  func encodeNil() { encoder().node.content = .value(.null) }

  func encode<T: Encodable>(_ value: T) throws {
    node.append(try JSONEncoding.node(of: value, codingPath + [IndexKey(count)]))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { encoder().container(keyedBy: type) }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder() }
}

private struct SingleValueEncoding: SingleValueEncodingContainer {
  let node: EncodedNode
  let codingPath: [any CodingKey]

  func encodeNil() { node.content = .value(.null) }

  func encode<T: Encodable>(_ value: T) throws {
    node.content = try JSONEncoding.node(of: value, codingPath).content
  }
}
