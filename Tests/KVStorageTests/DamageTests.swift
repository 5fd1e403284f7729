import KVBase
import KVJSON
import KVQuery
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Stored bytes that have become others: by the disk, by memory, by another program.
@Suite("Damaged bodies") struct DamageTests {
  private static let victim =
    #"{"_id":"victim","name":"Ada Lovelace","n":1815,"tags":["a","b"],"notes":"\#(String(repeating: "x", count: 200))"}"#

  let directory = TemporaryDirectory()

  private var path: String {
    DataDirectory(root: directory.path, appKey: "kid_test").file(tag: "kinvey")
  }

  /// Stores entities in a file that is closed then: all of it is in the file itself.
  private func makeFile(_ entities: [String], saved: Bool = false) throws {
    let storage = try openStorage(in: directory)
    try storage.store(entities)
    if saved { try storage.save(Self.victim) }
    storage.close()
  }

  private static func others(_ range: Range<Int>) -> [String] {
    range.map { #"{"_id":"o\#($0)","n":\#($0),"name":"other"}"# }
  }

  private func tamper(_ sql: String) throws { try KVStorageTests.tamper(sql, in: directory) }

  private func number(_ sql: String) throws -> Int {
    let database = try Database(
      StorageSchema.configuration(path),
      migrations: StorageMigrations.all)
    defer { database.close() }
    return try database.write { (db: borrowing Connection) throws(SQLiteError) in
      Int(try db.integer(sql) ?? 0)
    }
  }

  /// What a cursor gives: entities, and the ids of those that it says are damaged.
  private func drainAll(
    _ cursor: any EntityCursor
  ) throws -> (entities: [String], damaged: [String]) {
    var (entities, damaged): ([String], [String]) = ([], [])
    while let next = next(of: cursor) {
      switch next {
      case .success(let entity): entities.append(entity)
      case .failure(let error):
        #expect(error.kind == .corrupt)
        damaged.append(error.id ?? "")
        try #require(damaged.count < 10)
      }
    }
    return (entities, damaged)
  }

  private func next(of cursor: any EntityCursor) -> Result<String, StoreError>? {
    do throws(StoreError) {
      return try cursor.next { .success(String(decoding: $0, as: UTF8.self)) }
    } catch {
      return .failure(error)
    }
  }

  private func find(
    _ storage: Storage, filter: String, modifiers: String? = nil
  ) throws -> (entities: [String], damaged: [String]) {
    try drainAll(storage.find(query(filter, modifiers), in: "c", writtenSince: nil))
  }

  @Test("are never handed out, whichever byte it is, and the others can be read") func sweep()
    throws
  {
    var random = Seed()
    print(random)
    try makeFile(Self.others(0..<3) + [Self.victim] + Self.others(3..<6))
    let file = try #require(contents(of: path))
    let body = Array(Self.victim.utf8)
    let start = try #require(
      file.firstIndex { $0 == body[0] }.flatMap { first in
        (first..<(file.count - body.count)).first {
          file[$0..<($0 + body.count)].elementsEqual(body)
        }
      })
    for offset in 0..<body.count {
      var damaged = file
      damaged[start + offset] ^= UInt8(1 + random.below(255))
      write(damaged, to: path)
      let storage = try openStorage(in: directory)
      defer { storage.close() }
      let error = #expect(throws: StoreError.self, "\(random) byte \(offset)") {
        try storage.get("victim")
      }
      #expect(error?.kind == .corrupt && error?.id == "victim")
      #expect(error?.message.contains("\"c\"") == true)
      let all = try find(storage, filter: "{}")
      #expect(all.entities == Self.others(0..<6) && all.damaged == ["victim"])
    }
  }

  @Test("are never handed out as another one, whichever byte of the row's head is damaged")
  func heads()
    throws
  {
    var random = Seed()
    print(random)
    try makeFile(Self.others(0..<3) + [Self.victim] + Self.others(3..<6))
    let file = try #require(contents(of: path))
    let body = Array(Self.victim.utf8)
    let start = try #require(
      (0..<(file.count - body.count)).first {
        file[$0] == body[0] && file[$0..<($0 + body.count)].elementsEqual(body)
      })
    let known = Set(Self.others(0..<6) + [Self.victim])
    // Row number, header, id, generation, time and version come first, the checksum last.
    for offset in Array(-40..<0) + Array(body.count..<body.count + 8) {
      for _ in 0..<4 {
        var damaged = file
        damaged[start + offset] ^= UInt8(1 + random.below(255))
        write(damaged, to: path)
        guard let storage = try? openStorage(in: directory) else { continue }
        defer { storage.close() }
        if let got = try? storage.get("victim") { #expect(known.contains(got), "\(random)") }
        if let all = try? drain(storage.find(Query(), in: "c", writtenSince: nil)) {
          #expect(known.isSuperset(of: all), "\(random) byte \(offset)")
        }
      }
    }
  }

  private static let damage = "UPDATE e1 SET body = replace(body, 'Ada', 'Eva') WHERE id = 'victim'"

  @Test(
    "are told of by every way to read",
    arguments: [
      ("{}", nil), (#"{"name":"other"}"#, nil), ("{}", #"{"sort":{"n":-1}}"#),
      ("{}", #"{"sort":{"n":1},"limit":20}"#), ("{}", #"{"sort":{"n":-1},"limit":1000}"#),
      (#"{"n":{"$gte":0}}"#, #"{"sort":{"n":1},"limit":9}"#),
    ] as [(String, String?)])
  func finding(filter: String, modifiers: String?) throws {
    try makeFile(Self.others(0..<3) + [Self.victim])
    try tamper(Self.damage)
    for isIndexed in [false, true] {
      let storage = try openStorage(in: directory)
      defer { storage.close() }
      if isIndexed {
        try storage.createIndex(IndexSpec(parsing: #"{"name":"n","keys":{"n":1}}"#), in: "c")
      }
      let found = try find(storage, filter: filter, modifiers: modifiers)
      #expect(Set(found.entities) == Set(Self.others(0..<3)) && found.damaged == ["victim"])
      // Once more, with the plan that is known by now.
      #expect(try find(storage, filter: filter, modifiers: modifiers).damaged == ["victim"])
    }
  }

  @Test("fail groups, updates and removals, and change nothing") func otherReads() throws {
    try makeFile(Self.others(0..<3) + [Self.victim])
    try tamper(Self.damage)
    let storage = try openStorage(in: directory)
    func expectDamage(_ body: () throws -> Void) {
      let error = #expect(throws: StoreError.self) { try body() }
      #expect(error?.kind == .corrupt && error?.id == "victim")
    }
    expectDamage { _ = try storage.remove(query("{}"), in: "c") }
    expectDamage { _ = try storage.remove(query(#"{"name":"other"}"#), in: "c") }
    expectDamage { _ = try storage.clear(query("{}"), in: "c") }
    expectDamage {
      try storage.each(of: query("{}"), in: "c", writtenSince: nil, within: .unlimited) { _ in }
    }
    let transaction = try storage.beginTransaction()
    expectDamage { _ = try transaction.entity("victim", in: "c") }
    let found = try drainAll(transaction.find(query("{}"), in: "c"))
    #expect(Set(found.entities) == Set(Self.others(0..<3)) && found.damaged == ["victim"])
    transaction.close()
    #expect(try storage.queue().isEmpty)
    #expect(try find(storage, filter: "{}").entities.count == 3)
  }

  @Test("are mended by what is saved or stored over them, and can be removed by their id")
  func replaced()
    throws
  {
    try makeFile(Self.others(0..<1) + [Self.victim])
    try tamper(Self.damage)
    var storage = try openStorage(in: directory)
    try storage.save(Self.victim)
    #expect(try storage.get("victim") == Self.victim)
    // The version that this started from is the damaged one: it is as good as unknown.
    #expect(try storage.pending("victim", in: "c")?.base == nil)
    storage.close()
    try tamper(Self.damage + "; DELETE FROM pending")
    storage = try openStorage(in: directory)
    try storage.store(Self.victim)
    #expect(try storage.get("victim") == Self.victim)
    storage.close()
    try tamper(Self.damage)
    storage = try openStorage(in: directory)
    #expect(try storage.remove("victim", in: "c") == 1)
    #expect(try find(storage, filter: "{}").damaged == [])
  }

  @Test("are told of once by an observer, which shows the others, and then as they are repaired")
  func observers() throws {
    try makeFile(Self.others(0..<3) + [Self.victim])
    try tamper(Self.damage)
    let storage = try openStorage(in: directory)
    for (filter, modifiers) in [
      ("{}", nil), ("{}", #"{"sort":{"_id":1}}"#), ("{}", #"{"limit":10}"#),
      (#"{"_id":{"$ne":"nobody"}}"#, nil),
    ] {
      try storage.store(Self.others(0..<3) + [Self.victim])
      try tamper(Self.damage)
      let signals = Monitor(0)
      let start = monotonicNanoseconds()
      let observed = try storage.observe(query(filter, modifiers), in: "c") {
        signals.withLock { $0 += 1 }
      }
      var copy = ResultCopy()
      let error = #expect(throws: StoreError.self) { try observed.changes() }
      #expect(error?.kind == .corrupt && error?.id == "victim")
      // It is to be looked at again: once for this, and every five seconds in any case.
      let fives = Int((monotonicNanoseconds() - start) / 5_000_000_000)
      #expect((1...1 + fives).contains(signals.withLock { $0 }))
      copy.apply(try #require(try observed.changes()))
      #expect(Set(copy.shown) == Set(Self.others(0..<3)))
      try storage.store(#"{"_id":"new"}"#)
      copy.apply(try #require(try observed.changes()))
      #expect(copy.shown.count == 4)
      try storage.store(Self.victim)
      copy.apply(try #require(try observed.changes()))
      #expect(copy.shown == (try storage.find(filter, modifiers)) && copy.shown.count == 5)
      observed.end()
      _ = try storage.clear(query("{}"), in: "c")
    }
  }

  @Test("are not sent: the write says why") func unsent() throws {
    try makeFile(Self.others(0..<1), saved: true)
    try tamper(Self.damage)
    let storage = try openStorage(in: directory)
    #expect(try storage.beginSending(storage.queue()).isEmpty)
    let error = #expect(throws: StoreError.self) { try storage.pending("victim", in: "c") }
    #expect(error?.kind == .corrupt && error?.id == "victim")
  }

  @Test("of which a change started are not taken back") func bases() throws {
    try makeFile([Self.victim], saved: true)
    try tamper("UPDATE pending SET base = replace(base, 'Ada', 'Eva')")
    let storage = try openStorage(in: directory)
    #expect(try storage.pending("victim", in: "c")?.base == nil)
    let error = #expect(throws: StoreError.self) { try storage.revertPending("victim", in: "c") }
    #expect(error?.kind == .corrupt)
    #expect(try storage.get("victim") == Self.victim)
    #expect(try storage.repair().damaged == 1)
    #expect(try storage.queue().map(\.id) == ["victim"])
  }

  // MARK: Repair

  @Test("are removed by a repair, so that the next pull brings them again; unsent writes stay")
  func repairs() throws {
    let storage = try openStorage(in: directory)
    try storage.store(Self.others(0..<5000))
    try storage.store([#"{"_id":"gone","name":"Ada"}"#, #"{"_id":"mine"}"#])
    try storage.save(Self.victim, #"{"_id":"mine","n":2}"#)
    _ = try storage.remove("o17", in: "c")
    let key = RequestKey(filter: "{}", fields: "")
    _ = try storage.finishRefresh(
      of: "c", from: storage.beginRefresh(of: "c"), deletingUnseen: nil,
      recording: (key, BackendMoment("t")))
    storage.close()
    try tamper("UPDATE e1 SET body = replace(body, 'Ada', 'Eva')")
    let opened = try openStorage(in: directory)
    let report = try opened.repair()
    #expect(report.entities == 5002 && report.damaged == 2)
    #expect(report.removed.map(\.id) == ["gone"])
    #expect(report.quarantined.map(\.id) == ["victim"])
    #expect(try opened.get("gone") == nil)
    #expect(try opened.lastRequest(key, in: "c") == nil)
    #expect(try opened.get("mine") == #"{"_id":"mine","n":2}"#)
    let queue = try opened.queue()
    #expect(queue.map(\.id) == ["victim", "mine", "o17"])
    #expect(queue.map(\.state) == [.refused, .waiting, .waiting])
    #expect(queue[0].lastError?.contains("KV_CORRUPT") == true)
    // Saved anew it waits again, and nothing is damaged any more.
    try opened.save(Self.victim)
    #expect(try opened.queue().allSatisfy { $0.state == .waiting })
    #expect(try opened.repair().damaged == 0)
    let json = RepairReport.json([("kinvey", report)])
    #expect(
      JSONValue.object(json).text
        == #"{"entities":5002,"damaged":2,"removed":[{"collection":"c","_id":"gone","tag":"kinvey"}],"#
        + #""quarantined":[{"collection":"c","_id":"victim","tag":"kinvey"}]}"#)
  }

  @Test("are told from rows of an index that say something else, which a repair makes anew")
  func indexes()
    throws
  {
    let storage = try openStorage(in: directory)
    try storage.store(Self.others(0..<100) + [Self.victim])
    for spec in [
      #"{"name":"n","keys":{"n":1}}"#, #"{"name":"t","keys":{"name":"text"}}"#,
    ] { try storage.createIndex(IndexSpec(parsing: spec), in: "c") }
    storage.close()
    try tamper("\(Self.damage); UPDATE x1 SET k0 = 1816 WHERE k0 = 1815")
    let opened = try openStorage(in: directory)
    #expect(try find(opened, filter: #"{"n":1815}"#).damaged == [])
    let report = try opened.repair()
    #expect(report.removed.map(\.id) == ["victim"])
    #expect(try opened.indexes(in: "c").allSatisfy(\.isReady))
    try opened.store(Self.victim)
    #expect(try opened.find(#"{"n":1815}"#) == [Self.victim])
    #expect(try opened.find(#"{"n":1816}"#) == [])
    #expect(try opened.find(#"{"$text":{"$search":"lovelace"}}"#) == [Self.victim])
    #expect(try opened.find(#"{"n":{"$lt":100}}"#).count == 100)
  }

  @Test("are told from writes that have lost their entity, and entities that have lost their id")
  func ids()
    throws
  {
    try makeFile(Self.others(0..<3), saved: true)
    try tamper("UPDATE pending SET id = 'victin'; UPDATE e1 SET id = 'o9' WHERE id = 'o1'")
    let storage = try openStorage(in: directory)
    let report = try storage.repair()
    #expect(report.removed.map(\.id) == ["victin"])
    #expect(report.damaged == 2)
    #expect(try storage.get("o1") == Self.others(0..<3)[1])
    #expect(try storage.queue().isEmpty)
  }

  @Test("turn a change in the queue into a deletion, and a repair sets it aside") func operation()
    throws
  {
    try makeFile(Self.others(0..<3), saved: true)
    try tamper("UPDATE pending SET operation = 3")
    let storage = try openStorage(in: directory)
    let report = try storage.repair()
    #expect(report.damaged == 1 && report.quarantined.map(\.id) == ["victim"])
    let queue = try storage.queue()
    #expect(queue.map(\.operation) == [.update] && queue.map(\.state) == [.refused])
    #expect(try storage.get("victim") == Self.victim)
  }

  @Test("turn a change in the queue into a deletion, which is set aside instead of sent")
  func sentOperation() throws {
    try makeFile(Self.others(0..<3), saved: true)
    try tamper("UPDATE pending SET operation = 3")
    let storage = try openStorage(in: directory)
    #expect(try storage.beginSending(try storage.queue()).isEmpty)
    let queue = try storage.queue()
    #expect(queue.map(\.operation) == [.update] && queue.map(\.state) == [.refused])
    #expect(queue[0].lastError?.contains("KV_CORRUPT") == true)
    #expect(try storage.get("victim") == Self.victim)
  }

  @Test("hide a write from the queue's index, and a repair finds it again") func queueKeys() throws
  {
    try makeFile(Self.others(0..<3), saved: true)
    let index = try number(
      "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_pending_1'")
    var file = try #require(contents(of: path))
    let page = (index - 1) * 4096..<index * 4096
    let key = try #require(file[page].indices.first { file[$0...].starts(with: "victim".utf8) })
    file[key] ^= 1
    write(file, to: path)
    let storage = try openStorage(in: directory)
    #expect(try storage.write("victim") == nil)
    #expect(try storage.repair().damaged == 0)
    #expect(try storage.write("victim")?.state == .waiting)
    #expect(try storage.queue().map(\.id) == ["victim"])
  }

  // MARK: Files of before

  @Test("in a file of a version without checksums are noticed once each was written or repaired")
  func migrates()
    throws
  {
    let storage = try openStorage(in: directory)
    try storage.store(Self.others(0..<3) + [Self.victim])
    storage.close()
    try tamper("UPDATE e1 SET checksum = NULL")
    var opened = try openStorage(in: directory)
    #expect(try opened.find().count == 4)
    #expect(try opened.repair().damaged == 0)
    opened.close()
    try tamper(Self.damage)
    opened = try openStorage(in: directory)
    #expect(try find(opened, filter: "{}").damaged == ["victim"])
  }
}
