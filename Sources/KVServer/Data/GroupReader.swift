internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// The entities of a collection in groups: what `_group` answers. Memory follows the number of groups.
struct GroupReader {
  /// More groups than an answer may hold are refused.
  private static let mostGroups = 10_000

  private let grouping: Grouping
  private let initial: JSONObject
  private var groups: Groups

  init(keys: [String], initial: JSONObject, _ function: ReduceFunction) {
    grouping = Grouping(keys: keys.map { Path($0) }, members: function.members)
    self.initial = initial
    groups = Groups(grouping)
  }

  /// Reads what matches, in one snapshot.
  mutating func read(
    _ query: Query, in collection: EntityCollection, of database: Database, for viewer: Viewer,
    within budget: WorkBudget
  ) throws(ServerError) {
    let selection = try RowSelection(query, for: viewer, .read, within: budget)
    try Entities.storage { () throws(SQLiteError) in
      try database.withReader(within: budget) {
        (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(collection.sql(.scan(selection.shape)))
        try selection.bind(to: select)
        try select.bind(-1, at: 4)
        try select.bind(-1, at: 5)
        try select.bind(0, at: 6)
        while groups.count <= Self.mostGroups, try select.step() { groups.add(select.bytes(1)) }
      }
    }
    if groups.count > Self.mostGroups {
      throw ServerError(.resultSetSizeExceeded, "more than \(Self.mostGroups) groups")
    }
  }

  /// One object for each group, ordered by the keys: its key, then the members of `initial`, each with
  /// what the function made of it.
  var answer: JSONValue {
    .array(
      groups.results.map { result in
        var object = JSONObject(Array(result.members.prefix(grouping.keys.count)))
        for member in initial.members { object[member.name] = member.value }
        for member in grouping.members {
          object[member.name] = begun(
            member.aggregate, initial[member.name], result[member.name] ?? .null)
        }
        return .object(object)
      })
  }

  /// A number, with the one that the member started from taken in. What has met no number stays as it
  /// started; a start that is no number, such as "Infinity", is beyond all numbers.
  private func begun(
    _ aggregate: Grouping.Aggregate, _ start: JSONValue?, _ value: JSONValue
  ) -> JSONValue {
    guard !value.isNull else { return start ?? 0 }
    guard let number = value.doubleValue, let begin = start?.doubleValue else { return value }
    return switch aggregate {
    case .average: value
    case .count, .numbers, .sum: begin == 0 ? value : JSONValue.double(begin + number).plain
    case .minimum: begin < number ? JSONValue.double(begin).plain : value
    case .maximum: begin > number ? JSONValue.double(begin).plain : value
    }
  }
}
