import Glibc
import KVCrypto
import KVSQLite
import KVTestSupport
import Testing

/// Cuts the power at every moment of some work, and looks at what the disk has then.
@Suite("A loss of power") struct PowerLossTests {
  private static let transactions = 14
  /// Several pages.
  private static let text = "marker-" + String(repeating: "x", count: 1500)
  /// How often each moment is tried; `KV_POWER_LOSS_ROUNDS` sets it.
  private static let rounds =
    getenv("KV_POWER_LOSS_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 1

  let directory = TemporaryDirectory(inMemory: true)

  /// The words after so many transactions: each adds two and takes away one of an earlier one.
  private static func words(after count: Int) -> [String] {
    let added = (0..<count).flatMap { ["\($0)-a-\(text)", "\($0)-b-\(text)"] }
    let removed = Set((0..<count).filter { $0 >= 3 }.map { "\($0 - 3)-a-\(text)" })
    return added.filter { !removed.contains($0) }.sorted()
  }

  private static func run(_ number: Int, on database: Database) throws(SQLiteError) {
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      for kind in ["a", "b"] { try Database.insert("\(number)-\(kind)-\(text)", db) }
      guard number >= 3 else { return }
      try db.execute("DELETE FROM words WHERE word = '\(number - 3)-a-\(text)'")
    }
  }

  /// Does the work in a directory while it is recorded.
  private func record(
    in directory: TemporaryDirectory, isEncrypted: Bool, _ durability: Database.Durability
  ) throws -> DiskRecorder {
    let recorder = DiskRecorder(directory)
    defer { recorder.stop() }
    let path = directory.file("data.kvs")
    var vault = isEncrypted ? Vault(key(1)) : nil
    var number = 0
    // The file is closed now and then, which writes the log back.
    for count in [5, 4, 5] {
      let database = try open(path) {
        $0.vault = vault
        $0.durability = durability
      }
      for _ in 0..<count {
        try Self.run(number, on: database)
        number += 1
        recorder.mark(number)
        if number % 4 == 3 { try database.checkpoint() }
      }
      if let old = vault, number == 9 {
        _ = try Database.changeKey(of: path, with: old, "main", to: key(2))
        vault = Vault(key(2))
      }
      database.close()
    }
    try #require(number == Self.transactions)
    return recorder
  }

  /// Opens with the key of before or of after.
  private func reopen(_ path: String, isEncrypted: Bool) throws(SQLiteError) -> Database {
    guard isEncrypted else { return try open(path) }
    do throws(SQLiteError) {
      return try open(path) { $0.vault = Vault(key(1)) }
    } catch {
      guard error.kind == .key else { throw error }
      return try open(path) { $0.vault = Vault(key(2)) }
    }
  }

  @Test("while the first page is written leaves it to the rollback journal to put that right")
  func tearsTheFirstPage() throws {
    let original = TemporaryDirectory(inMemory: true)
    let recorder = try record(in: original, isEncrypted: false, .full)
    let path = directory.file("data.kvs")
    var random = Seed()
    var torn = 0
    for step in 0...recorder.stepCount {
      let (files, _) = recorder.files(after: step, .kept, &random)
      // A journal counts from the moment when its first bytes are written.
      guard let journal = files["data.kvs-journal"], journal.first ?? 0 != 0,
        var page = files["data.kvs"], page.count >= 512
      else { continue }
      page.replaceSubrange(0..<512, with: [UInt8](repeating: 0x5a, count: 512))
      write(page, to: path)
      write(journal, to: path + "-journal")
      let database = try open(path)
      #expect(try database.text("PRAGMA integrity_check") == "ok", "step \(step)")
      database.close()
      for name in names(in: directory.path) { TemporaryDirectory.remove(directory.file(name)) }
      torn += 1
    }
    #expect(torn > 1)
  }

  @Test(
    "leaves an intact database, with all that was acknowledged for good",
    arguments: [(true, true), (true, false), (false, true)])
  func losesPower(_ isEncrypted: Bool, _ isFull: Bool) throws {
    var random = Seed()
    print(random)
    let original = TemporaryDirectory(inMemory: true)
    let recorder = try record(in: original, isEncrypted: isEncrypted, isFull ? .full : .normal)
    let count = recorder.stepCount
    try #require(count > 100)
    let path = directory.file("data.kvs")
    var found: Set<Int> = []
    for step in 0...count {
      let more = [DiskRecorder.Fate](repeating: .mixed, count: max(1, Self.rounds) - 1)
      let fates = DiskRecorder.Fate.allCases + more
      for fate in fates {
        let (files, acknowledged) = recorder.files(after: step, fate, &random)
        for name in names(in: directory.path) { TemporaryDirectory.remove(directory.file(name)) }
        for (name, bytes) in files where name.hasPrefix("data.kvs") && !name.hasSuffix("-shm") {
          if isEncrypted { #expect(!has("marker-", in: bytes)) }
          write(bytes, to: directory.file(name))
        }
        let moment = "\(random) step \(step) of \(count), \(fate), \(acknowledged) acknowledged"
        do {
          let database = try reopen(path, isEncrypted: isEncrypted)
          defer { database.close() }
          let words = try database.words()
          let possible = (isFull ? acknowledged : 0)...min(acknowledged + 1, Self.transactions)
          let state = possible.first { Self.words(after: $0) == words }
          #expect(state != nil, "\(moment): \(words.count) words")
          if let state { found.insert(state) }
          #expect(try database.text("PRAGMA integrity_check") == "ok", "\(moment)")
          try database.add("afterwards")
        } catch {
          Issue.record("\(moment): \(error)")
        }
      }
    }
    // It was no test of one state only.
    #expect(found.count == Self.transactions + 1)
  }
}
