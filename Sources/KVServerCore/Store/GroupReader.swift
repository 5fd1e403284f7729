internal import KVBase
package import KVJSON
package import KVQuery

/// The entities of a collection in groups: what `_group` answers. Memory follows the number of groups.
package struct GroupReader {
  /// What an answer may hold: groups, and values in all of them together.
  private static let maxGroups = 10_000
  private static let maxValues = 250_000

  /// Where a member of a group's answer comes from.
  private enum Source {
    case key(Int)
    case start(JSONValue)
    case aggregate(Int, from: JSONValue?)
  }

  private let grouping: Grouping
  private let layout: [(name: String, source: Source)]
  private let limit: Int
  private var groups: Groups

  package init(keys: [String], initial: JSONObject, function: ReduceFunction) {
    grouping = Grouping(keys: keys.map { Path($0) }, members: function.members)
    layout = Self.layout(grouping, initial)
    limit = min(Self.maxGroups, Self.maxValues / max(1, layout.count))
    groups = Groups(grouping)
  }

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

  /// Adds an entity, which is borrowed; false if there are too many groups, and nothing is added any more.
  package mutating func add(_ entity: UnsafeRawBufferPointer) -> Bool {
    groups.add(entity)
    return groups.count <= limit
  }

  /// Throws if there were too many groups.
  package func check() throws(ServerError) {
    if groups.count > limit {
      throw ServerError(
        .resultSetSizeExceeded, "more than \(limit) groups of \(layout.count) values")
    }
  }

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
