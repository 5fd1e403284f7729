import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// A way to key records, and what a test needs to know of it.
struct Keying: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let format: RecordFormat
  /// The members of the id of record number n.
  let members: @Sendable (Int) -> JSONObject

  func record(_ number: Int, _ others: JSONObject) -> JSONObject {
    JSONObject(members(number).members + others.members)
  }

  func key(_ number: Int) -> String { format.key(of: members(number).members.map(\.value)) ?? "" }

  static let all = [
    Keying(
      testDescription: "a text",
      format: RecordFormat(version: ["rev"], versionOrder: .integer),
      members: { ["id": .string("r\u{E9}\($0)")] }),
    Keying(
      testDescription: "an integer",
      format: RecordFormat(
        id: [.init("number", .integer)], version: ["rev"], versionOrder: .integer),
      members: { ["number": .int(Int64($0 * 7 - 20))] }),
    Keying(
      testDescription: "two members",
      format: RecordFormat(
        id: [.init("tenant"), .init("number", .integer)], version: ["rev"],
        versionOrder: .integer),
      members: { ["tenant": .string("t\($0 % 3)"), "number": .int(Int64($0))] }),
  ]
}

@Suite("Records of a format") struct RecordFormatTests {
  let directory = TemporaryDirectory()

  private func open(_ keying: Keying) throws -> Storage {
    try Storage(
      path: directory.file("data.kvs"), layout: RecordLayout(keying.format), durability: .normal)
  }

  @Test(
    "are saved, found, changed and removed by their keys, and are there after reopening",
    arguments: Keying.all)
  func keys(_ keying: Keying) throws {
    var storage = try open(keying)
    for number in 0..<5 { try storage.save(keying.record(number, ["n": .int(Int64(number))])) }
    #expect(try storage.save(keying.record(3, ["n": 30]))[0].id == keying.key(3))
    #expect(try storage.count(Query(), in: "c", writtenSince: nil) == 5)
    _ = try storage.remove(keying.key(4), in: "c")
    let update = try EntityUpdate(#"{"$inc":{"n":1}}"#, keying.format)
    #expect(
      try storage.update(Query(key: keying.key(3), keying.format), update, in: "c").modified
        == [keying.key(3)])
    storage.close()
    storage = try open(keying)
    #expect(try storage.json(keying.key(3)) == .object(keying.record(3, ["n": 31])))
    #expect(try storage.json(keying.key(4)) == nil)
    #expect(try Set(storage.queue().map(\.id)) == Set((0..<5).map(keying.key)))
  }

  @Test("need an id that cannot be made here, which never changes", arguments: Keying.all)
  func ids(_ keying: Keying) throws {
    let storage = try open(keying)
    if keying.format.hasTextID {
      let saved = try storage.save(["n": 1])[0]
      #expect(try JSONValue(parsing: saved.bytes)["id"]?.stringValue == saved.id)
    } else {
      let error = #expect(throws: StoreError.self) { try storage.save(["n": 1]) }
      #expect(error?.kind == .invalid)
      #expect(error?.message.contains(keying.format.idText) == true)
    }
    try storage.save(keying.record(1, [:]))
    let name = keying.format.id[0].name
    let update = try EntityUpdate(#"{"$set":{"\#(name)":"other"}}"#)
    let key = Query(key: keying.key(1), keying.format)
    let error = #expect(throws: StoreError.self) { try storage.update(key, update, in: "c") }
    #expect(error?.kind == .invalid)
  }

  @Test("are filtered, ordered and shown by SQL as in memory", arguments: Keying.all)
  func queries(_ keying: Keying) throws {
    var seed = Seed()
    let storage = try open(keying)
    let records = (0..<60).map {
      keying.record($0, ["a": .int(Int64.random(in: 0..<5, using: &seed))])
    }
    for record in records.shuffled(using: &seed) { try storage.save(record) }
    if Bool.random(using: &seed) {
      try storage.createIndex(IndexSpec(parsing: #"{"keys":{"a":1}}"#), in: "c")
    }
    for _ in 0..<200 {
      let query = try randomQuery(records, keying: keying, using: &seed)
      let found = try Set(storage.rows(query).map(\.text))
      let matcher = Matcher(query.filter, of: keying.format)
      let wanted = try records.map { JSONValue.object($0) }.filter { try matcher.matches($0.bytes) }
      #expect(found == Set(wanted.map(\.text)), "\(seed) \(query.text)")
      #expect(try storage.count(query, in: "c", writtenSince: nil) == wanted.count)
      var ordered = query
      ordered.sort = [Query.SortKey(Path("a"))]
      ordered.limit = 20
      let keys = try storage.rows(ordered).map { keying.format.key(of: $0.bytes) ?? "" }
      let expected = wanted.sorted {
        ($0.order, keying.format.keyBytes($0)) < ($1.order, keying.format.keyBytes($1))
      }
      #expect(keys == expected.prefix(20).map { keying.format.key(of: $0.bytes) ?? "" }, "\(seed)")
    }
    let shown = try storage.rows(query("{}", #"{"fields":["none"],"limit":1}"#))
    #expect(shown[0].objectValue?.members.map(\.name) == keying.format.id.map(\.name))
  }

  /// About the members of the id and another one.
  private func randomQuery(
    _ records: [JSONObject], keying: Keying, using seed: inout Seed
  ) throws -> Query {
    var parts: [String] = []
    for member in keying.format.id where Int.random(in: 0..<4, using: &seed) > 0 {
      let value = (records.randomElement(using: &seed)?[member.name] ?? .null).text
      let tests = [
        value, #"{"$in":[\#(value),null,"x",3.5]}"#, #"{"$gt":\#(value)}"#, #"{"$ne":\#(value)}"#,
      ]
      parts.append(#""\#(member.name)":\#(tests.randomElement(using: &seed) ?? value)"#)
    }
    if Bool.random(using: &seed) { parts.append(#""a":{"$lt":3}"#) }
    return try query("{\(parts.joined(separator: ","))}")
  }

  @Test("of the backend are compared by their versions", arguments: Keying.all)
  func versions(_ keying: Keying) throws {
    let storage = try open(keying)
    for number in 0..<3 { try storage.take(keying.record(number, ["rev": 9])) }
    let listed = [
      EntityVersion(id: keying.key(0), version: RecordVersion("9")),
      EntityVersion(id: keying.key(1), version: RecordVersion("10")),
      EntityVersion(id: keying.key(7), version: RecordVersion("1")),
    ]
    #expect(try storage.differing(listed, in: "c") == [keying.key(1), keying.key(7)])
  }

  @Test("leave tombstones with the newest version", arguments: Keying.all)
  func tombstones(_ keying: Keying) throws {
    let storage = try open(keying)
    try storage.take(keying.record(0, ["rev": 9]))
    _ = try storage.forget([keying.key(0)], in: "c")
    #expect(try storage.tombstone(of: keying.key(0), in: "c")?.version == RecordVersion("9"))
    for version in ["10", "8"] {
      _ = try storage.forget([keying.key(0)], in: "c", at: RecordVersion(version))
      #expect(try storage.tombstone(of: keying.key(0), in: "c")?.version == RecordVersion("10"))
    }
    // What a whole read has not brought has gone in the version that was here.
    try storage.take(keying.record(1, ["rev": 3]))
    let mark = try storage.beginRefresh(of: "c")
    let request = (RequestKey(filter: "{}", fields: ""), BackendMoment("token", epoch: nil))
    _ = try storage.finishRefresh(of: "c", from: mark, deletingUnseen: Query(), recording: request)
    #expect(try storage.json(keying.key(1)) == nil)
    #expect(try storage.tombstone(of: keying.key(1), in: "c")?.version == RecordVersion("3"))
  }

  @Test("are confirmed, a late answer not over a newer one", arguments: Keying.all)
  func confirmation(_ keying: Keying) throws {
    let storage = try open(keying)
    try storage.save(keying.record(0, ["n": 1]))
    let stored = JSONValue.object(keying.record(0, ["n": 1, "rev": 10])).text
    let sent = try storage.beginSending(storage.queue())
    _ = try storage.dropPending(keying.key(0), in: "c")
    try storage.take(keying.record(0, ["n": 2, "rev": 10]))
    let late = JSONValue.object(keying.record(0, ["n": 1, "rev": 9])).bytes
    try storage.confirm(sent.map { AcceptedWrite($0.write, stored: late) })
    #expect(try storage.json(keying.key(0))?["n"] == 2)
    try storage.save(keying.record(0, ["n": 3]))
    try storage.accept(keying.key(0), stored)
    #expect(try storage.json(keying.key(0)) == JSONValue(parsing: stored))
  }

  @Test("keep what a program does not know of, the version among it", arguments: Keying.all)
  func known(_ keying: Keying) throws {
    let storage = try open(keying)
    try storage.take(keying.record(0, ["n": 1, "x": 2, "rev": 5]))
    let known = try #require(KnownMembers(["n": true, "rev": true]))
    let bytes = JSONValue.object(keying.record(0, ["n": 3])).bytes
    let outline = try EntityScanner.outline(of: bytes, keying.format)
    _ = try bytes.withUnsafeBytes {
      try storage.save($0, [outline], known: known, if: .none, in: "c")
    }
    #expect(
      try storage.json(keying.key(0)) == .object(keying.record(0, ["n": 3, "x": 2, "rev": 5])))
  }

  @Test("are seen by a transaction as it has changed them", arguments: Keying.all)
  func transactions(_ keying: Keying) throws {
    let storage = try open(keying)
    for number in 0..<3 { try storage.save(keying.record(number, ["n": 0])) }
    let transaction = try storage.beginTransaction()
    let update = try EntityUpdate(#"{"$inc":{"n":1}}"#, keying.format)
    _ = try transaction.update(Query(key: keying.key(1), keying.format), update, in: "c")
    _ = try transaction.remove(Query(key: keying.key(2), keying.format), in: "c")
    #expect(try drain(transaction.find(query("{}", #"{"sort":{"n":1}}"#), in: "c")).count == 2)
    try transaction.commit()
    #expect(try storage.json(keying.key(1))?["n"] == 1)
    #expect(try storage.json(keying.key(2)) == nil)
  }

  @Test("that come late, with an older version, are dropped where versions only rise")
  func late() throws {
    let format = RecordFormat(version: ["rev"], versionOrder: .integer, versionsOnlyRise: true)
    let storage = try Storage(
      path: directory.file("data.kvs"), layout: RecordLayout(format), durability: .normal)
    for id: JSONValue in ["a", "b"] { try storage.take(["id": id, "n": "new", "rev": 2]) }
    let mark = try storage.beginRefresh(of: "c")
    try storage.take(["id": "a", "n": "old", "rev": 1], since: mark)
    #expect(try storage.forget(["b"], in: "c", at: RecordVersion("1"), since: mark).count == 0)
    // They are there, as the backend says: a complete read removes neither.
    _ = try storage.finishRefresh(of: "c", from: mark, deletingUnseen: Query(), recording: nil)
    #expect(try storage.json("a")?["n"] == "new")
    #expect(try storage.json("b")?["n"] == "new")
    try storage.take(["id": "a", "n": "newest", "rev": 10])
    #expect(try storage.json("a")?["n"] == "newest")
    #expect(try storage.forget(["b"], in: "c", at: RecordVersion("3"), since: nil).count == 1)
  }
}

extension RecordFormat {
  /// The key as bytes whose order is the order of keys.
  fileprivate func keyBytes(_ record: JSONValue) -> RecordKeyBytes {
    RecordKeyBytes(bytes: Array((key(of: record.bytes) ?? "").utf8))
  }
}

private struct RecordKeyBytes: Comparable {
  let bytes: [UInt8]
  static func < (left: Self, right: Self) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

extension JSONValue {
  fileprivate var order: Int64 { self["a"]?.intValue ?? -1 }
}

extension Storage {
  @discardableResult
  fileprivate func save(_ record: JSONObject) throws -> [SavedEntity] {
    let bytes = JSONValue.object(record).bytes
    let outline = try EntityScanner.outline(of: bytes, layout.format(of: "c"))
    return try bytes.withUnsafeBytes { try save($0, [outline], in: "c") }
  }

  /// Stores what comes from the backend.
  fileprivate func take(_ record: JSONObject, since mark: RefreshMark? = nil) throws {
    let bytes = JSONValue.object(record).bytes
    let outline = try EntityScanner.outline(of: bytes, layout.format(of: "c"))
    _ = try bytes.withUnsafeBytes { try store($0, [outline], in: "c", since: mark) }
  }

  fileprivate func json(_ key: String) throws -> JSONValue? {
    try entity(key, in: "c", writtenSince: nil).map { try JSONValue(parsing: $0) }
  }

  fileprivate func rows(_ query: Query) throws -> [JSONValue] {
    try drain(find(query, in: "c", writtenSince: nil)).map { try JSONValue(parsing: $0) }
  }
}
