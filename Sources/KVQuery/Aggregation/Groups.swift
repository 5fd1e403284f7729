package import KVJSON

/// Groups entities as they come. One thread at a time. Memory: one result for each group.
package struct Groups: Sendable {
  private struct Group {
    /// Orders the groups: the keys' values, encoded.
    var identity: [UInt8]
    var key: [JSONValue]
    var count: Int64 = 0
    /// One for each path.
    var tallies: [Tally]
  }

  private let grouping: Grouping
  private let paths: [Path]
  private var places: [[UInt8]: Int] = [:]
  private var groups: [Group] = []
  private var identity: [UInt8] = []

  package init(_ grouping: Grouping) {
    self.grouping = grouping
    paths = grouping.paths
  }

  package var count: Int { groups.count }

  /// Adds an entity that the condition selects; gives the number of its group, by appearance. Nil: it is
  /// no entity.
  @discardableResult
  package mutating func add(_ entity: UnsafeRawBufferPointer) -> Int? {
    let scanner = ByteScanner(entity)
    let start = scanner.skipSpace(0)
    guard start < scanner.end, scanner.base[start] == UInt8(ascii: "{") else { return nil }
    let root = RawValue(scanner, start..<scanner.end)
    let place = place(of: root)
    groups[place].count &+= 1
    for number in paths.indices {
      guard let value = root.value(at: paths[number]), value.kind == .number else { continue }
      groups[place].tallies[number].add(value.number)
    }
    return place
  }

  @discardableResult
  package mutating func add(_ entity: [UInt8]) -> Int? { entity.withUnsafeBytes { add($0) } }

  private mutating func place(of root: RawValue) -> Int {
    identity.removeAll(keepingCapacity: true)
    for key in grouping.keys {
      if let value = root.value(at: key) {
        ValueEncoding.append(value, to: &identity)
      } else {
        identity.append(RawValue.Kind.null.rawValue)
      }
    }
    if let place = places[identity] { return place }
    let key = grouping.keys.map { root.value(at: $0)?.json.plain ?? .null }
    places[identity] = groups.count
    groups.append(
      Group(identity: identity, key: key, tallies: paths.map { _ in Tally() }))
    return groups.count - 1
  }

  /// What was asked of each group: its keys, then the members; ordered by the keys, as a sort orders.
  package var results: [JSONObject] {
    groups.sorted { $0.identity.lexicographicallyPrecedes($1.identity) }.map(result)
  }

  /// The same, by their numbers.
  package var resultsByNumber: [JSONObject] { groups.map(result) }

  private func result(_ group: Group) -> JSONObject {
    var members = zip(grouping.keyNames, group.key).map { JSONObject.Member($0, $1) }
    for member in grouping.members {
      members.append(.init(member.name, value(of: member.aggregate, group)))
    }
    return JSONObject(members)
  }

  private func value(of aggregate: Grouping.Aggregate, _ group: Group) -> JSONValue {
    guard let path = aggregate.path, let place = paths.firstIndex(of: path) else {
      return .int(group.count)
    }
    let tally = group.tallies[place]
    return switch aggregate {
    case .count: .int(group.count)
    case .numbers: .int(tally.count)
    case .sum: tally.sum.plain
    case .average: tally.average?.plain ?? .null
    case .minimum: tally.least?.plain ?? .null
    case .maximum: tally.greatest?.plain ?? .null
    }
  }
}

extension RawValue {
  /// What is at a path of objects; nil if nothing is.
  fileprivate func value(at path: Path) -> RawValue? {
    var value = self
    for component in path.components {
      guard value.kind == .object, let member = value.member(component.name) else { return nil }
      value = member
    }
    return value
  }

}

extension Number {
  /// A number without a fraction as an integer, as JavaScript prints it; null for what JSON has no form for.
  var plain: JSONValue {
    switch self {
    case .int(let value): return .int(value)
    case .double(let value):
      guard value.isFinite else { return .null }
      guard abs(value) <= 0x1p53, let whole = Int64(exactly: value) else { return .double(value) }
      return .int(whole)
    }
  }
}

extension JSONValue {
  /// The same with every number in one form: 1 and 1.0 are equal, and whichever came first must not show.
  var plain: JSONValue {
    switch self {
    case .null, .bool, .string: self
    case .int(let value): .int(value)
    case .double(let value): Number.double(value).plain
    case .array(let elements): .array(elements.map(\.plain))
    case .object(let object):
      .object(JSONObject(object.members.map { .init($0.name, $0.value.plain) }))
    }
  }
}
