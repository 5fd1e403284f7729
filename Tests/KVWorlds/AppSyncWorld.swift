import KVAppSync
import KVBase
package import KVJSON
import KVModels
import KVSync
import KVTestSupport
import KVTransport

/// An API of AppSync with one model, in memory: what it answers to the documents that the library sends, and whom it tells.
///
/// Base table with tombstones, delta table, Automerge or optimistic concurrency, pages whose limit counts what is examined,
/// by a clock that the world sets. `Tests/AppSync/standin` is the server that executes any document.
///
/// `@unchecked Sendable`: a simulated world runs on one thread.
final class AppSyncWorld: WorldBackend, @unchecked Sendable {
  struct Row {
    var members: JSONObject
    var version: Int64
    var changedAt: Int64
    var isDeleted = false
  }

  private struct Refusal: Error {
    var type: String
    var data: JSONValue = .null
  }

  static let sdl = """
    type Thing @model {
      name: String, owner: Int, value: Int, tags: [Int], by: Int, note: Int, marks: [Int], count: Int
    }
    """
  private static let minute: Int64 = 60_000
  private static let deltaLifetime = 30 * minute

  let collection = "Thing"
  let format: RecordFormat
  let schema: ModelSchema
  var absence = 0
  private(set) var now: Int64 = 1_716_292_800_000
  private let merges: Bool
  private var rows: [String: Row] = [:]
  /// What each row was before its last write.
  private var former: [String: Row] = [:]
  private var deltas: [(number: Int, row: Row)] = []
  private var written = 0
  private var delayed: [(input: JSONObject, user: String)] = []
  private(set) var history: [WorldChange] = []
  let keepsConditions = true
  /// What subscribers are told, and by which subscription.
  private(set) var published: [(field: String, item: JSONValue)] = []

  init(_ random: inout Seed) throws {
    schema = try ModelSchema(sdl: Self.sdl)
    format = schema.model(collection)?.recordFormat ?? .default
    merges = random.next() % 2 == 0
  }

  var contents: [String: JSONValue] {
    rows.filter { !$0.value.isDeleted }.mapValues { row in
      let item = item(row).objectValue ?? [:]
      return .object(
        JSONObject(item.members.filter { !$0.value.isNull && $0.name != "__typename" }))
    }
  }

  func connect(_ user: String, _ random: inout Seed) throws -> any WorldConnection {
    AppSyncConnection(self, user, random: &random)
  }

  func receiveDelayed(_ random: inout Seed, all: Bool) {
    delayed.shuffle(using: &random)
    while let (input, user) = delayed.popLast() {
      _ = try? create(input, by: user)
      if !all { return }
    }
  }

  func delay(_ operation: Operation, by user: String) {
    if case .mutate("create", let input, _) = operation { delayed.append((input, user)) }
  }

  /// Mostly seconds; sometimes until the delta table has forgotten, or a day. Never until tombstones are gone: by the
  /// clients' clock, which is the machine's, no time passes.
  func wait(_ random: inout Seed) {
    switch random.next() % 192 {
    case 0, 1: now += 24 * 60 * Self.minute
    case 2, 3: now += Self.deltaLifetime + Self.minute
    default: now += Int64(random.next() % 3_000)
    }
    deltas.removeAll { $0.row.changedAt + Self.deltaLifetime < now }
  }

  // MARK: Operations

  enum Operation {
    case sync(JSONObject)
    /// The ids, in the order of the aliases.
    case get([String])
    case mutate(String, input: JSONObject, condition: JSONObject?)
  }

  /// Reads what the library has sent; nil: nothing that it sends.
  static func operation(_ body: [UInt8]) -> Operation? {
    guard let request = try? JSONValue(parsing: body), let text = request["query"]?.stringValue,
      let variables = request["variables"]?.objectValue
    else { return nil }
    if text.hasPrefix("query SyncThings") { return .sync(variables) }
    if text.hasPrefix("query GetThing") {
      let ids = (0..<variables.count).map { variables["k\($0)_0"]?.stringValue ?? "" }
      return .get(ids)
    }
    for name in ["create", "update", "delete"] where text.contains(" \(name)Thing(") {
      return .mutate(
        name, input: variables["input"]?.objectValue ?? [:],
        condition: variables["condition"]?.objectValue)
    }
    return nil
  }

  /// Carries an operation out. `versionHere`: the version of a record that the caller's file has; a read may be late with
  /// what the caller has already: of anything else it would never hear again. `staleness`: how likely that is, in percent.
  func answer(
    _ operation: Operation, by user: String, _ random: inout Seed, staleness: UInt64,
    versionHere: (String) -> Int64
  ) -> JSONValue {
    switch operation {
    case .sync(let variables):
      let page = page(variables, &random) { row, random in
        let id = row.members["id"]?.stringValue ?? ""
        guard let old = former[id], versionHere(id) >= row.version,
          random.next() % 100 < staleness
        else { return row }
        return old
      }
      return ["data": ["syncThings": page]]
    case .get(let ids):
      let found = ids.enumerated().map { number, id in
        JSONObject.Member("r\(number)", rows[id].map(item) ?? .null)
      }
      return ["data": .object(JSONObject(found))]
    case .mutate(let name, let input, let condition):
      let field = name + "Thing"
      do throws(Refusal) {
        let stored = item(try write(name, input, if: condition, by: user))
        published.append(("on" + field.prefix(1).uppercased() + field.dropFirst(), stored))
        return ["data": .object(JSONObject([.init(field, stored)]))]
      } catch {
        let words: JSONValue = [
          "path": [.string(field)], "errorType": .string(error.type), "message": "Refused.",
          "data": error.data,
        ]
        return ["data": .object(JSONObject([.init(field, .null)])), "errors": [words]]
      }
    }
  }

  private func item(_ row: Row) -> JSONValue {
    var item = row.members
    for name in ["name", "owner", "value", "tags", "by", "note", "marks", "count"]
    where item[name] == nil {
      item[name] = .null
    }
    item["createdAt"] = .string("2024-05-21T12:00:00.000Z")
    item["updatedAt"] = .string(Timestamp(milliseconds: row.changedAt).description)
    item["__typename"] = "Thing"
    item["_version"] = .int(row.version)
    item["_deleted"] = row.isDeleted ? true : .null
    item["_lastChangedAt"] = .int(row.changedAt)
    return .object(item)
  }

  // MARK: Writing

  private func write(
    _ name: String, _ input: JSONObject, if condition: JSONObject?, by user: String
  ) throws(Refusal) -> Row {
    if name == "create" { return try create(input, by: user) }
    let id = input["id"]?.stringValue ?? ""
    guard let stored = rows[id] else { throw Refusal(type: "ConditionalCheckFailedException") }
    let changes = input.members.filter { $0.name != "_version" && $0.name != "id" }
    var next = stored
    if (input["_version"]?.intValue ?? 0) != stored.version {
      guard merges, name == "update", !stored.isDeleted else {
        throw Refusal(type: "ConflictUnhandled", data: item(stored))
      }
      for change in changes { next.members.automerge(change) }
    } else {
      for change in changes {
        next.members[change.name] = change.value.isNull ? nil : change.value
      }
    }
    if let condition, !Self.matches(condition, stored.members) {
      throw Refusal(type: "ConditionalCheckFailedException")
    }
    return store(next, id, isDeleted: name == "delete", by: user)
  }

  private func create(_ input: JSONObject, by user: String) throws(Refusal) -> Row {
    guard let id = input["id"]?.stringValue, rows[id] == nil else {
      throw Refusal(type: "ConditionalCheckFailedException")
    }
    var members = input
    members["_version"] = nil
    return store(Row(members: members, version: 0, changedAt: now), id, isDeleted: false, by: user)
  }

  private func store(_ row: Row, _ id: String, isDeleted: Bool, by user: String) -> Row {
    let before = rows[id].flatMap { $0.isDeleted ? nil : $0.members }
    history.append(
      WorldChange(id: id, user: user, before: before, after: isDeleted ? nil : row.members))
    var row = row
    row.version += 1
    (row.changedAt, row.isDeleted) = (now, isDeleted)
    trace(id, "is stored by \(user), deleted \(isDeleted): \(item(row).text)")
    former[id] = rows[id]
    rows[id] = row
    written += 1
    deltas.append((written, row))
    return row
  }

  // MARK: Reading

  /// A page of the base table in the order of the ids, or of the delta table. Its token says which, where it ends, and when
  /// the run began.
  private func page(
    _ variables: JSONObject, _ random: inout Seed, showing shown: (Row, inout Seed) -> Row
  ) -> JSONValue {
    var (began, source, after) = (now, "base", "")
    if let token = variables["nextToken"]?.stringValue {
      let parts = token.split(separator: "|", omittingEmptySubsequences: false)
      (began, source, after) = (Int64(parts[0]) ?? now, String(parts[1]), String(parts[2]))
    } else if let since = variables["lastSync"]?.intValue, since >= now - Self.deltaLifetime {
      (source, after) = ("delta \(since)", "0")
    }
    let all: [(position: String, row: Row)]
    if source == "base" {
      all = rows.keys.sorted().filter { $0 > after }.compactMap { id in rows[id].map { (id, $0) } }
    } else {
      let since = Int64(source.dropFirst("delta ".count)) ?? 0
      all = deltas.filter { $0.number > Int(after) ?? 0 && $0.row.changedAt / 1000 >= since / 1000 }
        .map { (String($0.number), $0.row) }
    }
    // What is examined may be less than what was asked for.
    let limit = Int(variables["limit"]?.intValue ?? 100) - Int(random.next() % 2)
    let examined = all.prefix(max(1, limit))
    var items: [JSONValue] = []
    for (_, row) in examined {
      let row = source == "base" ? shown(row, &random) : row
      if Self.matches(variables["filter"]?.objectValue ?? [:], row.members) {
        items.append(item(row))
      }
    }
    let next =
      examined.count < all.count ? "\(began)|\(source)|\(examined.last?.position ?? "")" : nil
    return [
      "items": .array(items), "nextToken": next.map { .string($0) } ?? .null,
      "startedAt": .int(began),
    ]
  }

  /// The filters that the world asks with.
  private static func matches(_ filter: JSONObject, _ members: JSONObject) -> Bool {
    filter.members.allSatisfy { part in
      if part.name == "and" {
        return part.value.arrayValue?.allSatisfy { matches($0.objectValue ?? [:], members) }
          ?? false
      }
      return part.value.objectValue?.members.allSatisfy { test in
        let found = members[part.name]?.intValue
        let wanted = test.value.intValue
        guard let found, let wanted else { return false }
        switch test.name {
        case "eq": return found == wanted
        case "lt": return found < wanted
        case "ge": return found >= wanted
        default: return false
        }
      } ?? false
    }
  }
}

extension JSONObject {
  /// What Automerge makes of a member that is sent in another version: a value that is there stays, and a list is appended to it.
  package mutating func automerge(_ change: Member) {
    switch (self[change.name] ?? .null, change.value) {
    case (.null, .null): break
    case (.null, let value): self[change.name] = value
    case (.array(let old), .array(let new)): self[change.name] = .array(old + new)
    default: break
    }
  }
}
