import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVTestSupport
import Testing

@testable import KVSync

/// Answers of a backend that takes no version back, and whose reads may show what was before the last write.
@Suite("An answer that shows what was before") struct LateAnswersTests {
  private static let format = RecordFormat(
    id: [.init("id")], version: ["rev"], versionOrder: .integer, versionsOnlyRise: true)

  private let directory = TemporaryDirectory(inMemory: true)
  private let storage: Storage
  private let remote = KeyedRemote(Self.format)
  private let engine: CollectionEngine

  /// One record is on the backend and here.
  init() throws {
    storage = try Storage(
      path: directory.file("data.kvs"), layout: RecordLayout(Self.format), durability: .normal)
    engine = CollectionEngine(
      collection: "c", type: .sync, local: storage, remote: layers(around: remote),
      sendGate: SendGate(), writer: { nil })
    try remote.publish(["id": "a", "n": 1])
    _ = try engine.pull(Query(), Call())
  }

  private var versionHere: RecordVersion? {
    get throws {
      try storage.entity("a", in: "c", writtenSince: nil).flatMap { Self.format.version(of: $0) }
    }
  }

  enum Read: CaseIterable {
    case whole, sorted, pages, versions, ids, id, background
  }

  private func read(_ read: Read) throws {
    let options = CallOptions(
      readPolicy: .forceNetwork, writePolicy: .forceLocal, call: Call())
    switch read {
    case .whole: _ = try engine.pull(Query(), Call())
    case .sorted:
      var query = Query()
      query.sort = [Query.SortKey(Path("n"))]
      _ = try engine.find(query, options)
    case .pages:
      _ = try engine.pull(Query(), Call(), how: .init(paging: .pages(of: 1)))
    case .versions:
      // Another one is as it was: versions are compared then.
      try remote.publish(["id": "b", "n": 1])
      _ = try engine.pull(Query(), Call())
      _ = try engine.pull(Query(), Call(), how: .init(comparesVersions: true))
    case .ids: _ = try engine.find(ids: ["a"], options)
    case .id: _ = try? engine.find(id: "a", options)
    case .background: _ = try engine.synchronise(Query(), Call(), how: .init())
    }
  }

  @Test("leaves a later version here", arguments: Read.allCases)
  func keepsLater(_ read: Read) throws {
    remote.showDeletion(of: "a", at: 8)
    try self.read(read)
    #expect(try versionHere == RecordVersion("9"))
    #expect(try engine.pendingCount() == 0)
  }

  @Test("deletes what is of an earlier version here", arguments: Read.allCases)
  func deletesEarlier(_ read: Read) throws {
    remote.showDeletion(of: "a", at: 10)
    try self.read(read)
    #expect(try versionHere == nil)
    #expect(try storage.tombstone(of: "a", in: "c")?.version == RecordVersion("10"))
  }

  @Test("does not bring back what was deleted here since", arguments: Read.allCases)
  func keepsDeleted(_ read: Read) throws {
    let before = try #require(remote["a"])
    let options = CallOptions(readPolicy: .forceLocal, writePolicy: .forceLocal, call: Call())
    _ = try engine.remove(id: "a", options: options)
    #expect(try engine.push(Call()).errors == [])
    remote.show(before, as: "a")
    try self.read(read)
    #expect(try versionHere == nil)
    // Somebody makes it again, which goes on with its versions.
    try remote.publish(["id": "a", "n": 2])
    try self.read(read)
    #expect(try versionHere != nil)
  }

  @Test("does not bring back what a message has told was deleted", arguments: Read.allCases)
  func keepsDeletedByOthers(_ read: Read) throws {
    try engine.apply(.deleted(id: "a", at: "10"))
    try self.read(read)
    #expect(try versionHere == nil)
  }

  // MARK: Deleting what matches there

  private func removeThere(_ filter: String) throws -> Int {
    let options = CallOptions(readPolicy: .forceLocal, writePolicy: .forceNetwork, call: Call())
    return try engine.remove(try Query(filter: filter), options).value
  }

  @Test("does not keep there what is deleted because of what is known here") func removesMissed()
    throws
  {
    let before = try #require(remote["a"])
    try remote.publish(["id": "a", "n": 2])
    _ = try engine.pull(Query(), Call())
    remote.showLate(before, as: "a")
    #expect(try removeThere(#"{"n":2}"#) == 1)
    #expect(remote["a"] == nil)
    #expect(try versionHere == nil)
  }

  @Test("deletes nothing that others have changed so that it does not match") func keepsChanged()
    throws
  {
    try remote.publish(["id": "a", "n": 2])
    #expect(try removeThere(#"{"n":1}"#) == 0)
    #expect(remote["a"]?["n"] == 2)
    #expect(try versionHere == RecordVersion("10"))
  }

  @Test("brings back what an earlier read of everything did not show") func takesMissed() throws {
    let before = try #require(remote["a"])
    remote.show(nil, as: "a")
    try read(.whole)
    #expect(try versionHere == nil)
    remote.show(before, as: "a")
    try read(.whole)
    #expect(try versionHere == RecordVersion("9"))
  }

  @Test("of what was never here leaves no tombstone") func unknown() throws {
    remote.showDeletion(of: "z", at: 3)
    try read(.whole)
    #expect(try storage.tombstone(of: "z", in: "c") == nil)
    #expect(try versionHere == RecordVersion("9"))
  }
}
