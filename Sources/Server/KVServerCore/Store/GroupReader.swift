internal import KVBase
package import KVJSON
package import KVQuery

/// The entities of a collection in groups: what `_group` answers. Its memory has a bound, by answer and for all answers together.
package struct GroupReader {
  /// What an answer may hold: groups, and values in all of them together.
  private static let maxGroups = 10_000
  private static let maxValues = 250_000
  /// The bytes that the answer and the keys may take together.
  package static let maxBytes = 16 << 20
  /// How much is reserved at once of what all share.
  private static let step = 1 << 20

  /// Where a member of a group's answer comes from.
  private enum Source {
    case key(Int)
    case start(JSONValue)
    case aggregate(Int, from: JSONValue?)
  }

  private let grouping: Grouping
  private let layout: [(name: String, source: Source)]
  private let limit: Int
  /// What each group takes besides its keys.
  private let groupBytes: Int
  private var groups: Groups
  private let share: MemoryShare
  private var hasMemory = true

  /// `initial`: what the members start from. `budget`: for the answers to all requests.
  package init(_ grouping: Grouping, initial: JSONObject, within budget: MemoryBudget) {
    share = MemoryShare(of: budget)
    self.grouping = grouping
    layout = Self.layout(grouping, initial)
    limit = min(Self.maxGroups, Self.maxValues / max(1, layout.count))
    groups = Groups(grouping)
    // A number has 24 characters at the most.
    groupBytes = layout.reduce(64) { bytes, member in
      let start = if case .start(let value) = member.source { value.bytes.count } else { 24 }
      return bytes + member.name.utf8.count + start + 8
    }
  }

  /// About as much as the groups take. Keys are there as values, as texts to find them by, and in the answer.
  private var bytes: Int { groups.count &* groupBytes &+ 3 &* groups.keyBytes }

  /// The keys, then the members of `initial`, each with what the function makes of it.
  private static func layout(
    _ grouping: Grouping, _ initial: JSONObject
  ) -> [(name: String, source: Source)] {
    var layout: [(name: String, source: Source)] = []
    var indexes: [RecordID: Int] = [:]
    func set(_ name: String, _ source: Source) {
      if let index = indexes[RecordID(name)] {
        layout[index].source = source
      } else {
        indexes[RecordID(name)] = layout.count
        layout.append((name, source))
      }
    }
    for (number, name) in grouping.keyNames.enumerated() { set(name, .key(number)) }
    for member in initial.members { set(member.name, .start(member.value)) }
    for (number, member) in grouping.members.enumerated() {
      var start: JSONValue?
      if let index = indexes[RecordID(member.name)], case .start(let value) = layout[index].source {
        start = value
      }
      set(member.name, .aggregate(grouping.keys.count + number, from: start))
    }
    return layout
  }

  /// Adds an entity, which is borrowed; false if the groups have become too many or too large, and nothing is added any more.
  package mutating func add(_ entity: UnsafeRawBufferPointer) -> Bool {
    let known = groups.count
    groups.add(entity)
    if groups.count > known { reserve() }
    return isWithinLimits
  }

  private var isWithinLimits: Bool {
    hasMemory && groups.count <= limit && bytes <= Self.maxBytes
  }

  private mutating func reserve() {
    hasMemory = share.grow(to: (bytes / Self.step + 1) * Self.step)
  }

  /// Throws if the groups have become too many or too large.
  package func check() throws(ServerError) {
    if groups.count > limit {
      throw ServerError(
        .resultSetSizeExceeded, "more than \(limit) groups of \(layout.count) values")
    }
    if bytes > Self.maxBytes {
      throw ServerError(
        .resultSetSizeExceeded, "the groups take more than \(Self.maxBytes) bytes")
    }
    if !hasMemory { throw Self.outOfMemory }
  }

  package static let outOfMemory = ServerError(
    .stopping, "the answers to other requests use all of the memory for groups")

  /// One object for each group, ordered by the keys.
  package var answer: JSONValue {
    let aggregates = grouping.members.map(\.aggregate)
    return .array(
      groups.results.map { result in
        let members = layout.map { name, source in
          switch source {
          case .key(let number): JSONObject.Member(name, result.members[number].value)
          case .start(let value): JSONObject.Member(name, value)
          case .aggregate(let number, let start):
            JSONObject.Member(
              name,
              begun(
                aggregates[number - grouping.keys.count], start, value: result.members[number].value
              ))
          }
        }
        return .object(JSONObject(members))
      })
  }

  /// A number, with the one that the member started from taken in. What has met no number stays as it
  /// started; a start that is no number, such as "Infinity", is beyond all numbers. Null: a sum beyond all doubles.
  private func begun(
    _ aggregate: Grouping.Aggregate, _ start: JSONValue?, value: JSONValue
  ) -> JSONValue {
    guard !value.isNull else {
      if case .sum = aggregate { return .null }
      return start ?? 0
    }
    guard let number = value.doubleValue, let begin = start?.doubleValue else { return value }
    return switch aggregate {
    case .average: value
    case .count, .numbers, .sum: .sum(of: [start ?? 0, value])
    case .minimum: begin < number ? JSONValue.double(begin).plain : value
    case .maximum: begin > number ? JSONValue.double(begin).plain : value
    }
  }
}
