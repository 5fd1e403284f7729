import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

@testable import KVSync

/// A format, and the members that make up a record's id.
struct Keyed: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let format: RecordFormat
  let members: @Sendable (Int) -> JSONObject

  func record(_ number: Int, _ others: JSONObject) -> JSONObject {
    JSONObject(members(number).members + others.members)
  }

  func key(_ number: Int) -> String { format.key(of: members(number).members.map(\.value)) ?? "" }

  static let all = [
    Keyed(
      testDescription: "a text",
      format: RecordFormat(version: ["rev"], versionOrder: .integer, permissions: "access"),
      members: { ["id": .string("r\($0)")] }),
    Keyed(
      testDescription: "an integer",
      format: RecordFormat(
        id: [.init("number", .integer)], version: ["rev"], versionOrder: .integer),
      members: { ["number": .int(Int64($0))] }),
    Keyed(
      testDescription: "two members",
      format: RecordFormat(
        id: [.init("tenant"), .init("number", .integer)], version: ["rev"], versionOrder: .unordered
      ),
      members: { ["tenant": .string("t\($0 % 2)"), "number": .int(Int64($0))] }),
  ]
}

@Suite("Sync of records of a format") struct RecordFormatSyncTests {
  private final class Pair {
    let keyed: Keyed
    let directory = TemporaryDirectory(inMemory: true)
    let storage: Storage
    let remote: KeyedRemote
    let engine: CollectionEngine

    init(_ keyed: Keyed, _ type: StoreType = .sync) throws {
      self.keyed = keyed
      storage = try Storage(
        path: directory.file("data.kvs"), layout: RecordLayout(keyed.format), durability: .normal)
      remote = KeyedRemote(keyed.format)
      engine = CollectionEngine(
        collection: "c", type: type, local: storage, remote: layers(around: remote),
        sendGate: SendGate(), writer: { "ana" })
    }

    @discardableResult
    func save(_ number: Int, _ others: JSONObject) throws -> JSONValue {
      let bytes = JSONValue.object(keyed.record(number, others)).bytes
      let outline = try EntityScanner.outline(of: bytes, keyed.format)
      let saved = try bytes.withUnsafeBytes { try engine.save($0, outline, options: options).value }
      return try JSONValue(parsing: saved)
    }

    private var options: CallOptions {
      CallOptions(
        readPolicy: engine.type.readPolicy, writePolicy: engine.type.writePolicy, call: Call())
    }

    func local(_ number: Int) throws -> JSONValue? {
      try storage.entity(keyed.key(number), in: "c", writtenSince: nil).map {
        try JSONValue(parsing: $0)
      }
    }
  }

  @Test("brings and sends them as they are", arguments: Keyed.all)
  func roundTrip(_ keyed: Keyed) throws {
    let pair = try Pair(keyed)
    for number in 0..<10 {
      try pair.remote.publish(keyed.record(number, ["n": .int(Int64(number))]))
    }
    #expect(try pair.engine.pull(Query(), Call()).pulled == 10)
    #expect(try pair.local(3)?.objectValue == pair.remote[keyed.key(3)])
    try pair.save(3, ["n": 33])
    try pair.save(20, ["n": 20])
    _ = try pair.storage.remove(keyed.key(4), in: "c")
    let result = try pair.engine.push(Call())
    #expect(result.errors.isEmpty)
    #expect(result.pushed == 3)
    #expect(pair.remote[keyed.key(3)]?["n"] == 33)
    #expect(pair.remote[keyed.key(20)]?["n"] == 20)
    #expect(pair.remote[keyed.key(4)] == nil)
    // What the backend has made of them is here: its version.
    #expect(try pair.local(20)?.objectValue == pair.remote[keyed.key(20)])
    #expect(try pair.engine.pendingCount() == 0)
    #expect(try pair.engine.pull(Query(), Call(), how: .init(comparesVersions: true)).pulled == 0)
  }

  @Test("merges them: the backend's members are theirs", arguments: Keyed.all)
  func merge(_ keyed: Keyed) throws {
    let pair = try Pair(keyed)
    try pair.remote.publish(keyed.record(1, ["a": 1, "b": 1]))
    _ = try pair.engine.pull(Query(), Call())
    try pair.save(1, ["a": 2, "b": 1])
    try pair.remote.publish(keyed.record(1, ["a": 1, "b": 2]))
    var call = Call()
    call.conflicts = .merge
    #expect(try pair.engine.push(call).errors.isEmpty)
    let merged = try #require(pair.remote[keyed.key(1)])
    #expect(merged["a"] == 2)
    #expect(merged["b"] == 2)
    #expect(merged["rev"] == 11)
    #expect(try pair.local(1)?.objectValue == merged)
  }

  @Test("notices that somebody else was faster", arguments: Keyed.all)
  func conflict(_ keyed: Keyed) throws {
    let pair = try Pair(keyed)
    try pair.remote.publish(keyed.record(1, ["a": 1]))
    _ = try pair.engine.pull(Query(), Call())
    try pair.save(1, ["a": 2])
    try pair.remote.publish(keyed.record(1, ["a": 3]))
    var call = Call()
    call.conflicts = .optimistic
    let errors = try pair.engine.push(call).errors
    #expect(errors.map(\.kind) == [.conflict])
    #expect(errors.map(\.id) == [keyed.key(1)])
    #expect(pair.remote[keyed.key(1)]?["a"] == 3)
  }

  @Test("takes a live message only over an older version", arguments: Keyed.all.prefix(2))
  func live(_ keyed: Keyed) throws {
    let pair = try Pair(keyed)
    try pair.remote.publish(keyed.record(1, ["a": 1]))
    _ = try pair.engine.pull(Query(), Call())
    for (rev, seen) in [(8, 9), (10, 10), (9, 10)] {
      let message = JSONValue.object(keyed.record(1, ["a": 5, "rev": .int(Int64(rev))])).bytes
      try pair.engine.apply(.saved(message, id: keyed.key(1), .save))
      #expect(try pair.local(1)?["rev"] == .int(Int64(seen)))
    }
    try pair.engine.apply(.deleted(id: keyed.key(1), at: "9"))
    #expect(try pair.local(1) != nil)
    try pair.engine.apply(.deleted(id: keyed.key(1), at: "11"))
    #expect(try pair.local(1) == nil)
  }

  @Test("of a network store needs an id that cannot be made here") func network() throws {
    let pair = try Pair(Keyed.all[1], .network)
    let bytes = Array(#"{"n":1}"#.utf8)
    let outline = try EntityScanner.outline(of: bytes, pair.keyed.format)
    let error = #expect(throws: StoreError.self) {
      try bytes.withUnsafeBytes {
        _ = try pair.engine.save(
          $0, outline,
          options: CallOptions(
            readPolicy: .forceNetwork, writePolicy: .forceNetwork, call: Call()))
      }
    }
    #expect(error?.kind == .invalid)
    #expect(pair.remote.count == 0)
  }

  @Test("keeps permissions that we say nothing about") func permissions() throws {
    let format = Keyed.all[0].format
    var merge = EntityMerge(format, winner: nil)
    let merged = try merge.merged(
      base: Array(#"{"id":"a","rev":1,"access":{"x":1},"n":1}"#.utf8),
      ours: Array(#"{"id":"a","n":2}"#.utf8),
      theirs: Array(#"{"id":"a","rev":2,"access":{"x":2},"n":1}"#.utf8))
    #expect(
      merged.map { String(decoding: $0, as: UTF8.self) }
        == #"{"id":"a","rev":2,"access":{"x":2},"n":2}"#)
  }
}
