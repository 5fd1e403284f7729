import KVJSON
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Tombstones") struct TombstoneTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws { storage = try openStorage(in: directory) }

  private static let moment = RecordVersion("2024-01-01T00:00:00.000Z")

  private func version(_ id: String) throws -> RecordVersion? {
    try storage.tombstone(of: id, in: "c")?.version
  }

  /// A create that was sent and had no answer, and is removed.
  private func removeUnanswered(_ number: Int) throws -> String {
    let id = try storage.save(#"{"n":\#(number)}"#)[0].id
    let write = try #require(try storage.write(id))
    _ = try storage.beginSending([write])
    #expect(try storage.remove(id, in: "c") == 1)
    return id
  }

  @Test("are those of the last 16,384 that have gone, or somewhat more") func bounded() throws {
    let ids = (0..<20_000).map { "id\($0)" }
    _ = try storage.forget(ids, in: "c", at: Self.moment)
    #expect(try version(ids[0]) == nil)
    #expect(try version(ids[20_000 - 16_384]) == Self.moment)
    #expect(try version(ids[19_999]) == Self.moment)
    // Who has gone again is among the last.
    _ = try storage.forget(["id5000"], in: "c", at: Self.moment)
    _ = try storage.forget((0..<16_000).map { "more\($0)" }, in: "c", at: Self.moment)
    #expect(try version("id5000") == Self.moment)
    #expect(try version("id5001") == nil)
  }

  @Test("of what may still arrive outlive the others") func sentOutlive() throws {
    let id = try removeUnanswered(1)
    #expect(try storage.expectsLateWrites(in: "c"))
    _ = try storage.forget((0..<20_000).map { "id\($0)" }, in: "c", at: Self.moment)
    #expect(
      try storage.tombstone(of: id, in: "c")?.sent.map { String($0) } == [
        #"{"_id":"\#(id)","n":1}"#
      ])
  }

  @Test("of what was sent by the queue and past it outlive the confirmation of the deletion")
  func sentBothWays() throws {
    let id = try storage.save(#"{"n":1}"#)[0].id
    _ = try storage.beginSending([try #require(try storage.write(id))])
    let direct = #"{"_id":"\#(id)","n":2}"#
    _ = try storage.beginUnqueued([(id, .entity(Array(direct.utf8)))], in: "c")
    #expect(try storage.remove(id, in: "c") == 1)
    let deletion = try #require(try storage.write(id))
    _ = try storage.beginSending([deletion])
    try storage.accept(id, nil)
    let sent = try storage.tombstone(of: id, in: "c")?.sent.map { String($0) }
    #expect(sent == [#"{"_id":"\#(id)","n":1}"#, direct])
  }

  @Test("of what was sent before the entity was removed and saved again outlive the next removal")
  func sentBeforeAnotherLife() throws {
    let id = try removeUnanswered(1)
    try storage.accept(id, nil)
    try storage.save(#"{"_id":"\#(id)","n":2}"#)
    _ = try storage.beginSending([try #require(try storage.write(id))])
    #expect(try storage.remove(id, in: "c") == 1)
    let sent = try storage.tombstone(of: id, in: "c")?.sent.map { String($0) } ?? []
    #expect(Set(sent) == [#"{"_id":"\#(id)","n":1}"#, #"{"_id":"\#(id)","n":2}"#])
  }

  @Test("a create that was never sent leaves none, nor does a confirmed one what may arrive")
  func unsent() throws {
    let id = try storage.save(#"{"n":1}"#)[0].id
    _ = try storage.remove(id, in: "c")
    #expect(try storage.tombstone(of: id, in: "c") == nil)
    let other = try storage.save(#"{"n":1}"#)[0].id
    try storage.accept(other, #"{"_id":"\#(other)","_kmd":{"lmt":"\#(Self.moment)"}}"#)
    _ = try storage.remove(other, in: "c")
    #expect(try version(other) == nil)
    try storage.accept(other, nil)
    #expect(try version(other) == Self.moment)
    #expect(try !storage.expectsLateWrites(in: "c"))
  }

  @Test("keep the latest version, of each collection its own, and go with a wipe") func versions()
    throws
  {
    let later = RecordVersion("2024-01-01T00:00:00.001Z")
    _ = try storage.forget(["a"], in: "c", at: later)
    _ = try storage.forget(["a"], in: "c", at: Self.moment)
    _ = try storage.forget(["a"], in: "d", at: Self.moment)
    #expect(try version("a") == later)
    #expect(try storage.tombstone(of: "a", in: "d")?.version == Self.moment)
    try storage.wipe()
    #expect(try version("a") == nil)
  }

  @Test("are not made of what has a pending write") func pending() throws {
    try storage.save(#"{"_id":"a","n":1}"#)
    _ = try storage.forget(["a"], in: "c", at: Self.moment)
    #expect(try version("a") == nil)
    #expect(try storage.get("a") != nil)
  }

  @Test("an arrived entity is removed once, and not if it is here or pending") func arrived() throws
  {
    let id = try removeUnanswered(1)
    let entity = Array(#"{"_id":"\#(id)","n":1,"_kmd":{"lmt":"\#(Self.moment)"}}"#.utf8)
    #expect(try !storage.removeArrived(entity, id, in: "c"))
    try storage.accept(id, nil)
    #expect(try storage.removeArrived(entity, id, in: "c"))
    #expect(try !storage.removeArrived(entity, id, in: "c"))
    #expect(try storage.queue().map(\.operation) == [.delete])
    #expect(try storage.base(id) == String(entity))
    try storage.accept(id, nil)
    #expect(try version(id) == Self.moment)
    try storage.store(String(entity))
    #expect(try !storage.removeArrived(entity, id, in: "c"))
    #expect(try !storage.expectsLateWrites(in: "c"))
  }
}
