internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// The entities of a collection in groups, with one number for each: what `_group` answers.
///
/// Memory follows the number of groups. Values that are no numbers do not take part in sums, averages,
/// minima and maxima.
struct Grouping {
  /// More groups than an answer may hold are refused.
  private static let mostGroups = 10_000

  private struct Group {
    var key: [JSONValue]
    var count = 0.0
    /// The sum, the minimum or the maximum so far; nil before the first number.
    var value: Double?
  }

  private let keys: [String]
  private let initial: JSONObject
  private let function: ReduceFunction
  private var groups: [Group] = []
  private var places: [[UInt8]: Int] = [:]

  init(keys: [String], initial: JSONObject, _ function: ReduceFunction) {
    self.keys = keys
    self.initial = initial
    self.function = function
  }

  /// Reads what matches, in one snapshot.
  mutating func read(
    _ query: Query, in collection: EntityCollection, of database: Database, for viewer: Viewer
  ) throws(ServerError) {
    let selection = try RowSelection(query, for: viewer, .read)
    let needed = neededMembers
    try Entities.storage { () throws(SQLiteError) in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(collection.sql(.scan(selection.shape)))
        try selection.bind(to: select)
        try select.bind(-1, at: 4)
        try select.bind(-1, at: 5)
        try select.bind(0, at: 6)
        while groups.count <= Self.mostGroups, try select.step() {
          if let entity = Self.members(needed, of: select.bytes(1)) { add(entity) }
        }
      }
    }
    if groups.count > Self.mostGroups {
      throw ServerError(.resultSetSizeExceeded, "more than \(Self.mostGroups) groups")
    }
  }

  /// One object for each group: its key, then the members of `initial` with their results.
  var answer: JSONValue {
    .array(
      groups.map { group in
        var object = JSONObject()
        for (name, value) in zip(keys, group.key) { object[name] = value }
        for member in initial.members { object[member.name] = member.value }
        fill(&object, with: group)
        return .object(object)
      })
  }

  /// The top-level members that keys and function look into.
  private var neededMembers: [[UInt8]] {
    let paths = keys + (function.field.isEmpty ? [] : [function.field])
    return Set(paths.compactMap { $0.split(separator: ".").first }).map { Array($0.utf8) }
  }

  /// Some members of an entity as values. The others stay bytes: turning whole entities into values
  /// would cost ten times as much.
  private static func members(_ names: [[UInt8]], of entity: UnsafeRawBufferPointer) -> JSONValue? {
    let scanner = ByteScanner(entity)
    var found = JSONObject()
    do throws(JSONError) {
      var members = try MemberCursor(scanner, at: scanner.skipSpace(0))
      while let member = try members.next() {
        let isNeeded = names.contains { name in
          name.withUnsafeBufferPointer { scanner.text(member.name, equals: $0) }
        }
        guard isNeeded else { continue }
        found[scanner.text(member.name)] = try JSONValue(
          parsing: UnsafeRawBufferPointer(rebasing: entity[member.value]))
      }
    } catch {
      return nil
    }
    return .object(found)
  }

  private mutating func add(_ entity: JSONValue) {
    let key = keys.map { Self.value(at: $0, in: entity) ?? .null }
    let bytes = JSONValue.array(key.map(Self.comparable)).bytes
    let place = places[bytes] ?? groups.count
    if place == groups.count {
      places[bytes] = place
      groups.append(Group(key: key))
    }
    if function.kind == .count {
      groups[place].count += 1
    } else if let number = Self.value(at: function.field, in: entity)?.doubleValue {
      groups[place].count += 1
      groups[place].value = combine(groups[place].value, number)
    }
  }

  private func combine(_ value: Double?, _ number: Double) -> Double {
    guard let value else { return number }
    return switch function.kind {
    case .count, .sum, .average: value + number
    case .minimum: min(value, number)
    case .maximum: max(value, number)
    }
  }

  private func fill(_ object: inout JSONObject, with group: Group) {
    let start = initial[function.result]?.doubleValue
    switch function.kind {
    case .count: object[function.result] = Self.json((start ?? 0) + group.count)
    case .sum: object[function.result] = Self.json((start ?? 0) + (group.value ?? 0))
    // A start that is no number, such as "Infinity", is beyond all numbers.
    case .minimum:
      if let value = group.value { object[function.result] = Self.json(min(start ?? value, value)) }
    case .maximum:
      if let value = group.value { object[function.result] = Self.json(max(start ?? value, value)) }
    case .average(let sum, let count):
      object[count] = Self.json(group.count)
      if let sum { object[sum] = Self.json(group.value ?? 0) }
      object[function.result] =
        group.count > 0
        ? Self.json((group.value ?? 0) / group.count) : initial[function.result] ?? 0
    }
  }

  /// The value at a dotted path through objects.
  private static func value(at path: String, in entity: JSONValue) -> JSONValue? {
    var value: JSONValue? = entity
    for name in path.split(separator: ".") { value = value?[String(name)] }
    return value
  }

  /// 1 and 1.0 are the same key.
  private static func comparable(_ value: JSONValue) -> JSONValue {
    if case .double(let number) = value { json(number) } else { value }
  }

  /// As JavaScript writes numbers: without a fraction if there is none.
  private static func json(_ number: Double) -> JSONValue {
    if abs(number) < 9_007_199_254_740_992, let whole = Int64(exactly: number) {
      return .int(whole)
    }
    return .double(number)
  }
}
