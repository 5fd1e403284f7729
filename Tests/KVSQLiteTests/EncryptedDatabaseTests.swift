import Glibc
import KVBase
import KVCrypto
import KVSQLite
import KVTestSupport
import Testing

private func passphrase(_ text: String) -> ApplicationKey {
  .passphrase(Array(text.utf8).withUnsafeBytes { SecretBytes(copying: $0) })
}

extension Database {
  @discardableResult
  fileprivate func changeKey(_ name: String, to key: ApplicationKey?) throws -> [String] {
    try Database.changeKey(
      of: configuration.path, with: #require(configuration.vault), name, to: key)
  }
}

private func bytes(of path: String) -> [UInt8] { contents(of: path) ?? [] }

@Suite("An encrypted database") struct EncryptedDatabaseTests {
  let directory = TemporaryDirectory()
  private var path: String { directory.file("data.kvs") }

  private func openEncrypted(_ key: ApplicationKey = key(1)) throws(SQLiteError) -> Database {
    try open(path) { $0.vault = Vault(key) }
  }

  /// The names of the files of the directory that have the marker in plain bytes.
  private func filesWithMarker() -> [String] { directory.files(with: marker) }

  @Test("keeps its rows when it is opened again, and no file shows them") func reopens() throws {
    let database = try openEncrypted()
    for number in 0..<500 { try database.add("\(marker) \(number)") }
    #expect(filesWithMarker() == [])
    database.close()
    #expect(filesWithMarker() == [])
    let again = try openEncrypted()
    #expect(try again.words().count == 500)
    #expect(try again.text("PRAGMA integrity_check") == "ok")
    #expect(try again.integer("PRAGMA page_size") == 4096)
  }

  @Test("is compacted, and no file shows it meanwhile") func compacts() throws {
    let database = try openEncrypted()
    for number in 0..<500 { try database.add("\(marker) \(number)") }
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute("DELETE FROM words WHERE n % 10 > 0")
    }
    try database.compact(within: .unlimited) { _ in }
    #expect(filesWithMarker() == [])
    #expect(try database.words().count == 50)
    #expect(try database.text("PRAGMA integrity_check") == "ok")
  }

  @Test(
    "stays as it is with another key, or with none", arguments: ["other", "none", "passphrase"])
  func wrongKey(_ kind: String) throws {
    let database = try openEncrypted()
    try database.add("one")
    database.close()
    let before = contents(of: path)
    let error = #expect(throws: SQLiteError.self) {
      switch kind {
      case "other": _ = try openEncrypted(key(2))
      case "passphrase": _ = try openEncrypted(passphrase("secret"))
      default: _ = try open(path)
      }
    }
    #expect(error?.kind == .key)
    #expect(contents(of: path) == before)
    #expect(try openEncrypted().words() == ["one"])
  }

  @Test("is not made of one that is not encrypted") func plainFile() throws {
    let database = try open(path)
    try database.add("one")
    database.close()
    let error = #expect(throws: SQLiteError.self) { try openEncrypted() }
    #expect(error?.kind == .key)
    #expect(try open(path).words() == ["one"])
  }

  @Test("opens with a passphrase") func passphrases() throws {
    let database = try openEncrypted(passphrase("correct horse"))
    try database.add("one")
    database.close()
    #expect(try openEncrypted(passphrase("correct horse")).words() == ["one"])
    let error = #expect(throws: SQLiteError.self) { try openEncrypted(passphrase("correct")) }
    #expect(error?.kind == .key)
  }

  @Test("shows nothing in the temporary files of a sort") func temporaryFiles() throws {
    let database = try open(path) {
      $0.vault = Vault(key(1))
      $0.cacheKiB = 100
    }
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      for number in 0..<4000 {
        try Database.insert(
          "\(marker) \(number * 7919 % 4000) \(String(repeating: "y", count: 300))", db)
      }
    }
    let sorted = try database.rows(of: "SELECT word || word FROM words ORDER BY word || n DESC") {
      _ in
    }
    _ = try sorted.next { $0.text(0) }
    // They have no name any more; this process has them open.
    let deleted = names(in: "/proc/self/fd").filter { number in
      var target = [UInt8](repeating: 0, count: 4096)
      let count = readlink("/proc/self/fd/\(number)", &target, target.count)
      let path = String(decoding: target.prefix(max(0, count)), as: UTF8.self)
      return path.contains("etilqs_")
    }
    try #require(!deleted.isEmpty)
    for number in deleted {
      // Opened anew, so that SQLite's own position and locks stay; those of other tests have no marker.
      #expect(!has(marker, in: contents(of: "/proc/self/fd/\(number)") ?? []))
    }
  }

  @Test("is recovered from its log after a kill") func recovers() throws {
    let database = try openEncrypted()
    for number in 0..<200 { try database.add("\(number)") }
    // What a killed process leaves: file and log, without the log's index.
    let other = directory.file("killed.kvs")
    for suffix in ["", "-wal"] { write(bytes(of: path + suffix), to: other + suffix) }
    let recovered = try open(other) { $0.vault = Vault(key(1)) }
    #expect(try recovered.words().count == 200)
    #expect(try recovered.text("PRAGMA integrity_check") == "ok")
  }

  @Test("has every commit before the place where its log is cut") func cutLog() throws {
    let database = try openEncrypted()
    for number in 0..<20 { try database.add("\(number)") }
    let log = bytes(of: path + "-wal")
    var last = 0
    for length in stride(from: 0, through: log.count, by: max(1, log.count / 60)) {
      let cut = directory.file("cut-\(length).kvs")
      write(bytes(of: path), to: cut)
      write(Array(log[..<length]), to: cut + "-wal")
      let reopened = try? open(cut) { $0.vault = Vault(key(1)) }
      let count = try reopened.map { try $0.words().count } ?? 0
      #expect(count >= last)
      last = count
      if let reopened { #expect(try reopened.text("PRAGMA integrity_check") == "ok") }
    }
  }

  @Test("is read from its log where the first page was half written", arguments: [512, 2048, 3584])
  func tornFirstPage(_ written: Int) throws {
    let database = try openEncrypted()
    for number in 0..<40 { try database.add("\(number)") }
    let other = directory.file("torn.kvs")
    var file = bytes(of: path)
    if file.count < FileHeader.reserved + 4096 {
      file += [UInt8](repeating: 0, count: FileHeader.reserved + 4096 - file.count)
    }
    for index in 0..<written { file[FileHeader.reserved + index] = UInt8.random(in: 0...255) }
    write(file, to: other)
    write(bytes(of: path + "-wal"), to: other + "-wal")
    let recovered = try open(other) { $0.vault = Vault(key(1)) }
    #expect(try recovered.words().count == 40)
    #expect(try recovered.text("PRAGMA integrity_check") == "ok")
  }

  @Test("has the keys that the other files of its directory have now") func learnsKeys() throws {
    let vault = Vault(key(1))
    let database = try open(path) { $0.vault = vault }
    // Another process changes the key.
    let other = try openEncrypted()
    try other.changeKey("main", to: key(2))
    let made = directory.file("new.kvs")
    try open(made) { $0.vault = vault }.add("one")
    #expect(throws: SQLiteError.self) { try open(made) { $0.vault = Vault(key(1)) } }
    #expect(try open(made) { $0.vault = Vault(key(2)) }.words() == ["one"])
    // Nothing is encrypted with a key of its own there.
    let error = #expect(throws: SQLiteError.self) {
      try open(directory.file("foreign.kvs")) { $0.vault = Vault(key(3)) }
    }
    #expect(error?.kind == .key)
    withExtendedLifetime(database) {}
  }

  @Test("says so where a byte of a page was changed, and reads the rest") func flippedByte() throws
  {
    let database = try openEncrypted()
    for number in 0..<2000 { try database.add("word \(number)") }
    database.close()
    let file = bytes(of: path)
    let pages = (file.count - FileHeader.reserved) / 4096
    #expect(pages > 10)
    var failures = 0
    for page in 1..<pages {
      var damaged = file
      damaged[FileHeader.reserved + page * 4096 + 2000] ^= 1
      let other = directory.file("damaged-\(page).kvs")
      write(damaged, to: other)
      do throws(SQLiteError) {
        let opened = try open(other) { $0.vault = Vault(key(1)) }
        _ = try opened.words()
        _ = try opened.integer("SELECT count(word) FROM words NOT INDEXED")
      } catch {
        #expect(error.kind == .corrupt)
        failures += 1
      }
    }
    #expect(failures == pages - 1)
  }

  @Test("notices a page that was moved, or comes from another file") func movedPage() throws {
    let database = try openEncrypted()
    for number in 0..<2000 { try database.add("word \(number)") }
    database.close()
    var file = bytes(of: path)
    let start = FileHeader.reserved + 4096
    let (second, third) = (start..<start + 4096, start + 4096..<start + 8192)
    let page = Array(file[second])
    file.replaceSubrange(second, with: Array(file[third]))
    file.replaceSubrange(third, with: page)
    write(file, to: path)
    let error = #expect(throws: SQLiteError.self) {
      let opened = try openEncrypted()
      _ = try opened.words()
      _ = try opened.integer("SELECT count(word) FROM words NOT INDEXED")
    }
    #expect(error?.kind == .corrupt)
  }

  @Test("changes its key at once, and the former one opens it no more") func changesKey() throws {
    let database = try openEncrypted()
    try database.add("one")
    try database.changeKey("main", to: key(2))
    try database.add("two")
    database.close()
    #expect(throws: SQLiteError.self) { try openEncrypted() }
    let again = try openEncrypted(key(2))
    #expect(try again.words() == ["one", "two"])
    #expect(try again.changeKey("recovery", to: passphrase("paper")) == ["main", "recovery"])
    again.close()
    #expect(try openEncrypted(key(2)).words().count == 2)
    let recovered = try openEncrypted(passphrase("paper"))
    #expect(try recovered.changeKey("main", to: nil) == ["recovery"])
    recovered.close()
    #expect(throws: SQLiteError.self) { try openEncrypted(key(2)) }
    #expect(throws: SQLiteError.self) {
      try openEncrypted(passphrase("paper")).changeKey("recovery", to: nil)
    }
  }

  @Test("is opened by a copy of its header where the other one is damaged", arguments: [0, 1])
  func damagedHeader(_ copy: Int) throws {
    let database = try openEncrypted()
    try database.add("one")
    database.close()
    var file = bytes(of: path)
    file[copy * FileHeader.size + 100] ^= 0xFF
    write(file, to: path)
    #expect(try openEncrypted().words() == ["one"])
    file[(1 - copy) * FileHeader.size + 100] ^= 0xFF
    write(file, to: path)
    let error = #expect(throws: SQLiteError.self) { try openEncrypted() }
    #expect(error?.kind == .corrupt)
  }

  /// How many rows a key shows, if the file is whole; closes it.
  private func count(_ key: ApplicationKey) throws -> Int {
    let database = try openEncrypted(key)
    defer { database.close() }
    #expect(try database.text("PRAGMA integrity_check") == "ok")
    return try database.words().count
  }

  @Test("is encrypted, decrypted and encrypted anew, with what it has") func changesEncryption()
    throws
  {
    let plain = try open(path)
    for number in 0..<500 { try plain.add("\(marker) \(number)") }
    plain.close()
    try Database.changeEncryption(of: path, from: nil, to: Vault(key(1)), within: .unlimited)
    #expect(filesWithMarker() == [])
    #expect(try count(key(1)) == 500)
    try Database.changeEncryption(
      of: path, from: Vault(key(1)), to: Vault(key(3)), within: .unlimited)
    #expect(filesWithMarker() == [])
    #expect(try count(key(3)) == 500)
    try Database.changeEncryption(of: path, from: Vault(key(3)), to: nil, within: .unlimited)
    let again = try open(path)
    #expect(try again.words().count == 500)
    #expect(try again.text("PRAGMA integrity_check") == "ok")
    again.close()
    try Database.changeEncryption(of: path, from: nil, to: Vault(key(1)), within: .unlimited)
    #expect(try count(key(1)) == 500)
  }

  @Test("is not encrypted anew while somebody has it open") func inUse() throws {
    let plain = try open(path)
    try plain.add("one")
    let error = #expect(throws: SQLiteError.self) {
      try Database.changeEncryption(of: path, from: nil, to: Vault(key(1)), within: .unlimited)
    }
    #expect(error?.kind == .busy)
    try plain.add("two")
    #expect(try plain.words() == ["one", "two"])
  }

  /// What several threads find while they encrypt one file, and write to it.
  private struct Findings: Sendable {
    var saved: [String] = []
    var encryptions = 0
    /// Errors that should not have been.
    var failures: [String] = []

    var isEnough: Bool { encryptions > 5 && saved.count > 5 }

    mutating func add(_ error: SQLiteError) {
      if error.kind != .busy, error.kind != .key { failures.append("\(error)") }
    }
  }

  @Test("is opened, or busy, while others encrypt it anew, and loses nothing") func inTurns() throws
  {
    try openEncrypted().close()
    let path = path
    let findings = Monitor(Findings())
    let deadline = Deadline.after(seconds: 120)
    _ = concurrently(4) { number -> Bool? in
      var step = 0
      while !deadline.hasPassed, !findings.withLock({ $0.isEnough }) {
        step += 1
        do throws(SQLiteError) {
          let own = key(UInt8(1 + step % 2))
          if number < 2 {
            let other = Vault(key(UInt8(2 - step % 2)))
            try Database.changeEncryption(
              of: path, from: Vault(own), to: other, within: .unlimited)
            findings.withLock { $0.encryptions += 1 }
          } else {
            let word = "\(number)-\(step)"
            let database = try open(path) {
              $0.vault = Vault(own)
              $0.busyTimeout = 200
            }
            defer { database.close() }
            try database.add(word)
            findings.withLock { $0.saved.append(word) }
          }
        } catch {
          findings.withLock { $0.add(error) }
        }
        sched_yield()
      }
      return nil
    }
    let found = findings.withLock { $0 }
    #expect(found.failures.isEmpty)
    #expect(found.encryptions > 5)
    #expect(found.saved.count > 5)
    #expect(names(in: directory.path).allSatisfy { !$0.contains("-new") })
    let last: Database
    do { last = try openEncrypted(key(1)) } catch { last = try openEncrypted(key(2)) }
    #expect(try last.words() == found.saved.sorted())
    #expect(try last.text("PRAGMA integrity_check") == "ok")
  }

  @Test("is copied as an encrypted one") func copies() throws {
    let database = try openEncrypted()
    for number in 0..<500 { try database.add("\(marker) \(number)") }
    let copy = directory.file("copy.kvs")
    let vault = Vault(key(1))
    try DatabaseCopy.make(
      [.init(path, to: copy, applicationId: applicationId)], with: vault, within: .unlimited)
    #expect(filesWithMarker() == [])
    let opened = try open(copy) { $0.vault = Vault(key(1)) }
    #expect(try opened.words().count == 500)
  }

  @Test("takes two openers at the same moment") func twoOpeners() async throws {
    let path = path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask { try open(path) { $0.vault = Vault(key(1)) }.add("\(number)") }
      }
      try await group.waitForAll()
    }
    #expect(try openEncrypted().words().count == 8)
  }
}
