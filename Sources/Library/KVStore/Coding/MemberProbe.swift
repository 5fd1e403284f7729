internal import KVJSON

/// Finds out the members of a type by decoding it from generated values. In each round a member has one of two values,
/// so that a few rounds distinguish all members.
struct MemberProbe {
  /// The members that were found at one level of the entity.
  final class Node {
    var members: [(name: String, node: Node)] = []
    /// Whether this is a dictionary, which may have any members.
    var isOpen = false

    func member(_ name: String) -> Node {
      if let known = members.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
        return known.node
      }
      let node = Node()
      members.append((name, node))
      return node
    }

    /// The members in the form of the option `knownMembers`.
    var knownMembers: JSONValue {
      guard !members.isEmpty, !isOpen else { return .bool(true) }
      return .object(JSONObject(members.map { .init($0.name, $0.node.knownMembers) }))
    }
  }

  /// One round. It numbers its values, and one bit of the number selects one of the two values.
  final class Round {
    private(set) var count = 0
    private let isOne: (Int) -> Bool

    init(_ isOne: @escaping (Int) -> Bool) { self.isOne = isOne }

    /// Whether the next value is the second of its two.
    func next() -> Bool {
      count += 1
      return isOne(count)
    }
  }

  /// Generates a value for a round.
  static func make<T: Decodable>(_ type: T.Type, _ round: Round, into node: Node) throws -> T {
    try ProbeDecoder(round: round, node: node, codingPath: [], outer: [], texts: 0).make(type, node)
  }
}

/// The error for a type whose values cannot be generated.
struct ProbeFailure: Error {
  let type: Any.Type
}

/// Strings that string-like types accept: any text, a UUID, a date, a number and an address.
private let texts = [
  ("Member Zero", "Member One"),
  ("4B5602E1-0000-4000-8000-0000000000A0", "4B5602E1-0000-4000-8000-0000000000A1"),
  ("2026-02-03T04:05:06.700Z", "2026-02-03T04:05:06.701Z"),
  ("41", "42"),
  ("zero@example.org", "one@example.org"),
]

/// An array. It is left empty where its elements would nest without end.
private protocol ProbedArray {
  static var element: Any.Type { get }
  init()
}

extension Array: ProbedArray {
  fileprivate static var element: Any.Type { Element.self }
}

private struct ProbeDecoder: Decoder {
  let round: MemberProbe.Round
  let node: MemberProbe.Node
  let codingPath: [any CodingKey]
  /// The enclosing types that are being generated.
  let outer: [ObjectIdentifier]
  /// The number of strings that are tried.
  let texts: Int
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(ProbedMembers<Key>(decoder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { ProbedElements(decoder: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { ProbedValue(decoder: self) }

  func isInside(_ type: Any.Type) -> Bool { outer.contains(ObjectIdentifier(type)) }

  func at(_ node: MemberProbe.Node) -> ProbeDecoder {
    ProbeDecoder(round: round, node: node, codingPath: [], outer: outer, texts: texts)
  }

  func make<T: Decodable>(_ type: T.Type, _ node: MemberProbe.Node) throws -> T {
    if let value = try simple(type) { return value }
    guard !isInside(type) else { throw ProbeFailure(type: type) }
    for texts in KVStore.texts.indices {
      let attempt = MemberProbe.Node()
      let decoder = ProbeDecoder(
        round: round, node: attempt, codingPath: [], outer: outer + [ObjectIdentifier(type)],
        texts: texts)
      guard let value = try? T(from: decoder) else { continue }
      node.members = attempt.members
      node.isOpen = attempt.isOpen
      return value
    }
    throw ProbeFailure(type: type)
  }

  private func simple<T>(_ type: T.Type) throws -> T? {
    if type == String.self {
      let pair = KVStore.texts[texts]
      return (round.next() ? pair.1 : pair.0) as? T
    }
    if let type = type as? any JSONScalar.Type { return scalar(type) as? T }
    if let type = type as? any CaseIterable.Type { return aCase(type) as? T }
    if let type = type as? any ProbedArray.Type, isInside(type.element) { return type.init() as? T }
    return nil
  }

  private func scalar<Scalar: JSONScalar>(_ type: Scalar.Type) -> Scalar {
    round.next() ? type.probes.1 : type.probes.0
  }

  private func aCase<Cases: CaseIterable>(_ type: Cases.Type) -> Cases? {
    let all = Array(type.allCases)
    return round.next() ? all.last : all.first
  }
}

private struct ProbedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: ProbeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  /// Only a dictionary asks for its keys.
  var allKeys: [Key] {
    decoder.node.isOpen = true
    return [Key(stringValue: "key")].compactMap { $0 }
  }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try decoder.make(type, decoder.node.member(key.stringValue))
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    let node = decoder.node.member(key.stringValue)
    return decoder.isInside(type) ? nil : try decoder.make(type, node)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> { nested(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    nested(key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder { decoder.at(decoder.node.member(SuperKey().stringValue)) }
  func superDecoder(forKey key: Key) -> any Decoder { nested(key) }

  private func nested(_ key: Key) -> ProbeDecoder {
    decoder.at(decoder.node.member(key.stringValue))
  }
}

/// A single element. The content of an array is known as a whole.
private struct ProbedElements: UnkeyedDecodingContainer {
  let decoder: ProbeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { 1 }
  private(set) var currentIndex = 0
  var isAtEnd: Bool { currentIndex > 0 }

  init(decoder: ProbeDecoder) { self.decoder = decoder }

  func decodeNil() -> Bool { false }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    currentIndex += 1
    return try decoder.make(type, MemberProbe.Node())
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedDecodingContainer<Nested> { element().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
    element().unkeyedContainer()
  }

  mutating func superDecoder() -> any Decoder { element() }

  private mutating func element() -> ProbeDecoder {
    currentIndex += 1
    return decoder.at(MemberProbe.Node())
  }
}

private struct ProbedValue: SingleValueDecodingContainer {
  let decoder: ProbeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { false }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.make(type, decoder.node) }
}
