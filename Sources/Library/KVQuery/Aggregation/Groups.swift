internal import CScan
internal import KVCollation
package import KVJSON

/// Groups entities as they come. One thread at a time. Memory: one result for each group.
///
/// Of keys that a collation finds equal, a group has the first in the order of code points, whichever came first.
package struct Groups: Sendable {
  private struct Group {
    /// Orders the groups: the keys' values, encoded.
    var identity: [UInt8]
    var key: [JSONValue]
    /// The encoding of `key` without the collation, if there is one.
    var written: [UInt8] = []
    var count: Int64 = 0
    /// The tallies, one for each path.
    var tallies: [Tally]
  }

  /// A path as the index of its top-level member, and the rest of the path.
  private struct SlotPath {
    let slot: Int
    let rest: [Path.Component]

    init(_ path: Path, _ slots: [[UInt8]: Int]) {
      slot = slots[path.components[0].name] ?? 0
      rest = Array(path.components.dropFirst())
    }
  }

  private let grouping: Grouping
  /// The number of the tally that each member of a result is of; nil for a count.
  private let tallies: [Int?]
  private let members: MemberFinder
  private let keyPaths: [SlotPath]
  private let valuePaths: [SlotPath]
  private var indexes: [[UInt8]: Int] = [:]
  private var groups: [Group] = []
  private var identity: [UInt8] = []
  private var written: [UInt8] = []
  /// How many bytes the keys of all groups have.
  package private(set) var keyBytes = 0

  package init(_ grouping: Grouping) {
    self.grouping = grouping
    let paths = grouping.paths
    let numbers = Dictionary(uniqueKeysWithValues: paths.enumerated().map { ($1, $0) })
    tallies = grouping.members.map { $0.aggregate.path.flatMap { numbers[$0] } }
    var names: [[UInt8]] = []
    var slots: [[UInt8]: Int] = [:]
    for path in grouping.keys + paths where slots[path.components[0].name] == nil {
      slots[path.components[0].name] = names.count
      names.append(path.components[0].name)
    }
    members = MemberFinder(names)
    keyPaths = grouping.keys.map { SlotPath($0, slots) }
    valuePaths = paths.map { SlotPath($0, slots) }
  }

  package var count: Int { groups.count }

  /// Adds an entity that the condition selects and returns the number of its group, by appearance. Nil: it is
  /// no entity.
  @discardableResult
  package mutating func add(_ entity: UnsafeRawBufferPointer) -> Int? {
    let scanner = ByteScanner(entity)
    let start = scanner.skipSpace(0)
    guard start < scanner.end, scanner.base[start] == UInt8(ascii: "{") else { return nil }
    return withUnsafeTemporaryAllocation(of: kv_span.self, capacity: members.names.count) { found in
      members.find(in: scanner, at: start, into: found)
      return add(scanner, UnsafeBufferPointer(found))
    }
  }

  private mutating func add(
    _ scanner: ByteScanner, _ found: UnsafeBufferPointer<kv_span>
  ) -> Int {
    let index = group(scanner, found)
    groups[index].count &+= 1
    for number in valuePaths.indices {
      guard let value = Groups.value(valuePaths[number], scanner, found: found),
        value.kind == .number
      else { continue }
      groups[index].tallies[number].add(value.number)
    }
    return index
  }

  /// The value at a path of objects; nil if there is none.
  private static func value(
    _ path: SlotPath, _ scanner: ByteScanner, found: UnsafeBufferPointer<kv_span>
  ) -> RawValue? {
    let span = found[path.slot]
    guard span.end != 0 else { return nil }
    var value = RawValue(scanner, span.start..<span.end)
    for component in path.rest {
      guard value.kind == .object, let member = value.member(component.name) else { return nil }
      value = member
    }
    return value
  }

  @discardableResult
  package mutating func add(_ entity: [UInt8]) -> Int? { entity.withUnsafeBytes { add($0) } }

  /// Adds the groups of other entities, for the same grouping.
  package mutating func add(_ others: Groups) {
    for group in others.groups {
      guard let index = indexes[group.identity] else {
        indexes[group.identity] = groups.count
        groups.append(group)
        keyBytes &+= group.identity.count &+ group.written.count
        continue
      }
      if ValueEncoding.compare(group.written, groups[index].written) < 0 {
        (groups[index].key, groups[index].written) = (group.key, group.written)
      }
      groups[index].count &+= group.count
      for (number, tally) in group.tallies.enumerated() { groups[index].tallies[number].add(tally) }
    }
  }

  /// Adds a group that was counted elsewhere; `tally` is of the only path, if there is one.
  mutating func add(_ key: [JSONValue], count: Int64, tally: Tally?) {
    var identity: [UInt8] = []
    for value in key { ValueEncoding.append(value, to: &identity) }
    keyBytes &+= identity.count
    groups.append(
      Group(identity: identity, key: key, count: count, tallies: tally.map { [$0] } ?? []))
  }

  private mutating func group(
    _ scanner: ByteScanner, _ found: UnsafeBufferPointer<kv_span>
  ) -> Int {
    Groups.encode(keyPaths, scanner, found: found, to: &identity, in: grouping.collation)
    if grouping.isCollated { Groups.encode(keyPaths, scanner, found: found, to: &written, in: nil) }
    if let index = indexes[identity] {
      if ValueEncoding.compare(written, groups[index].written) < 0 {
        keyBytes &+= written.count &- groups[index].written.count
        groups[index].written = written
        groups[index].key = key(scanner, found)
      }
      return index
    }
    indexes[identity] = groups.count
    keyBytes &+= identity.count &+ written.count
    groups.append(
      Group(
        identity: identity, key: key(scanner, found), written: written,
        tallies: valuePaths.map { _ in Tally() }))
    return groups.count - 1
  }

  private func key(
    _ scanner: ByteScanner, _ found: UnsafeBufferPointer<kv_span>
  ) -> [JSONValue] {
    keyPaths.map { Groups.value($0, scanner, found: found)?.json.plain ?? .null }
  }

  /// Writes the values of the keys in place of what `out` holds.
  private static func encode(
    _ paths: [SlotPath], _ scanner: ByteScanner, found: UnsafeBufferPointer<kv_span>,
    to out: inout [UInt8], in collation: Collation?
  ) {
    out.removeAll(keepingCapacity: true)
    for path in paths {
      if let value = Groups.value(path, scanner, found: found) {
        ValueEncoding.append(value, to: &out, collation)
      } else {
        out.append(RawValue.Kind.null.rawValue)
      }
    }
  }

  /// The results of the groups: keys, then members; ordered by the keys, as a sort orders.
  package var results: [JSONObject] {
    groups.sorted { $0.identity.lexicographicallyPrecedes($1.identity) }.map(result)
  }

  /// The results in the order of the groups' numbers.
  package var resultsByNumber: [JSONObject] { groups.map(result) }

  private func result(_ group: Group) -> JSONObject {
    var members = zip(grouping.keyNames, group.key).map { JSONObject.Member($0, $1) }
    for (member, number) in zip(grouping.members, tallies) {
      members.append(.init(member.name, value(of: member.aggregate, number, group: group)))
    }
    return JSONObject(members)
  }

  private func value(
    of aggregate: Grouping.Aggregate, _ number: Int?, group: Group
  ) -> JSONValue {
    guard let number else { return .int(group.count) }
    let tally = group.tallies[number]
    return switch aggregate {
    case .count: .int(group.count)
    case .numbers: .int(tally.count)
    case .sum: tally.sum?.plain ?? .null
    case .average: tally.average?.plain ?? .null
    case .minimum: tally.least?.plain ?? .null
    case .maximum: tally.greatest?.plain ?? .null
    }
  }
}

extension Number {
  /// A number without a fraction as an integer if 64 bits hold it; null for what JSON has no form for.
  var plain: JSONValue {
    switch self {
    case .int(let value): return .int(value)
    case .double(let value):
      guard value.isFinite else { return .null }
      return Int64(exactly: value).map { .int($0) } ?? .double(value)
    }
  }
}

extension JSONValue {
  /// The value with every number in one form: 1 and 1.0 are equal, and whichever came first must not show.
  package var plain: JSONValue {
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
