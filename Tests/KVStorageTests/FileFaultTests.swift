import Glibc
import KVCrypto
import KVJSON
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// What happens to the file itself: a disk that is full, a medium that cannot be written, a file that is taken away, damage.
@Suite("Faults of the file") struct FileFaultTests {
  let directory = TemporaryDirectory()

  /// Runs a shell script in a mount namespace of its own; gives the exit status.
  private func inNamespace(_ script: String) throws -> Int32 {
    let user = geteuid() == 0 ? [] : ["-r"]
    return try ChildProcess.run(["unshare"] + user + ["-m", "sh", "-ec", script])
  }

  private var saver: String { ChildProcess.built("storage-saver") }

  @Test(
    "on a small disk that is full, deleting makes room, and the file can be opened again",
    arguments: Form.allCases)
  func fullDisk(_ form: Form) throws {
    let path = directory.path
    let words = form.words.joined()
    #expect(
      try inNamespace(
        "mount -t tmpfs -o size=12m none '\(path)'; '\(saver)' '\(path)/data.kvs' full \(words)")
        == 0)
  }

  @Test("a file on a medium that is mounted for reading only can be read") func readOnlyMount()
    throws
  {
    let path = directory.path
    let storage = try Storage(path: directory.file("data.kvs"))
    try storage.save(#"{"_id":"1"}"#)
    storage.close()
    let script = """
      mount --bind '\(path)' '\(path)'; mount -o remount,bind,ro '\(path)'
      '\(saver)' '\(path)/data.kvs' read
      """
    #expect(try inNamespace(script) == 0)
  }

  @Test(
    "a save fails when the file was removed, moved or replaced meanwhile",
    arguments: ["rm %", "mv % %.away", "mv % %.away; cp %.away %"])
  func movedFile(script: String) throws {
    let path = directory.file("data.kvs")
    let storage = try Storage(path: path, durability: .normal)
    try storage.save(#"{"_id":"1"}"#)
    let command = script.split(separator: "%", omittingEmptySubsequences: false)
      .joined(separator: "'\(path)'")
    #expect(try ChildProcess.run(["sh", "-ec", command]) == 0)
    // It is looked at every five milliseconds: by then at the latest a save fails, and all that follow.
    var error: StoreError?
    for number in 0..<1_000_000 where error == nil {
      do { try storage.save(#"{"_id":"\#(number)"}"#) } catch let failure as StoreError {
        error = failure
      }
    }
    #expect(error?.kind == .storage)
    #expect(throws: StoreError.self) { try storage.save(#"{"_id":"last"}"#) }
  }

  // MARK: Salvage

  /// A file with pending writes and two collections of many pages.
  private func makeFile(_ form: Form) throws -> String {
    let path = directory.file("data.kvs")
    let storage = try Storage(path: path, vault: form.vault, durability: .normal)
    // Tables first, so that the list of them is at the front.
    for collection in ["notes", "t/ags"] { try storage.store(#"{"_id":"a0"}"#, in: collection) }
    _ = try storage.clear(nil, in: "t/ags")
    let text = String(repeating: "word ", count: 60)
    try storage.store((0..<3000).map { #"{"_id":"a\#($0)","text":"\#(text)"}"# }, in: "notes")
    try storage.store((0..<300).map { #"{"_id":"b\#($0)","text":"\#(text)"}"# }, in: "t/ags")
    try storage.save(#"{"_id":"a7","n":1}"#, #"{"_id":"new"}"#, in: "notes")
    _ = try storage.remove("b3", in: "t/ags")
    storage.close()
    return path
  }

  private func lines(_ file: String, _ form: Form) throws -> [String] {
    let stream = try #require(tmpfile())
    defer { fclose(stream) }
    if let vault = form.vault {
      let encrypted = directory.file("saved/\(file).encrypted")
      try SalvagedFile.decrypt(encrypted, with: vault, to: fileno(stream))
    } else {
      let bytes = try #require(contents(of: directory.file("saved/\(file)")))
      fwrite(bytes, 1, bytes.count, stream)
    }
    rewind(stream)
    var lines: [String] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, stream) > 0 {
      if let line { lines.append(String(cString: line)) }
    }
    return lines
  }

  @Test(
    "a file that is whole is copied whole, pending writes first, and encrypted if it is",
    arguments: Form.allCases)
  func salvagesAll(_ form: Form) throws {
    let report = try Salvage.run(
      makeFile(form), with: form.vault, into: directory.file("saved"))
    #expect(form.hides("word", in: directory))
    #expect(report["pending"]?["lines"] == 3)
    #expect(report["pending"]?["damaged"] == 0)
    #expect(report["collections"]?["notes"]?["lines"] == 3001)
    #expect(report["collections"]?["t/ags"]?["lines"] == 299)
    let pending = try lines("pending.ndjson", form)
    #expect(
      pending[0].hasPrefix(
        #"{"collection":"notes","id":"a7","operation":"update","entity":{"_id":"a7","n":1},"base":{"#
      ))
    #expect(pending[1].contains(#""operation":"create","entity":{"_id":"new"},"base":null}"#))
    #expect(
      pending[2].contains(#""id":"b3","operation":"delete","entity":null,"base":{"_id":"b3""#))
    #expect(try lines("notes.entities.ndjson", form).count == 3001)
    #expect(try lines("t%2Fags.entities.ndjson", form).count == 299)
  }

  /// All pages but those through which SQLite finds the others: the list of tables, which has several, and the root of
  /// each.
  private func pagesThatAreNoRoots(of path: String, _ form: Form) throws -> [Int] {
    let database = try DamagedDatabase(path: path, with: form.vault)
    let roots = database.rows(of: "SELECT rootpage FROM sqlite_schema") { Int($0.int64(0)) }
    let list = database.rows(
      of: "SELECT pageno FROM dbstat WHERE name IN ('sqlite_schema', 'sqlite_master')"
    ) { Int($0.int64(0)) }
    let count = database.rows(of: "PRAGMA page_count") { Int($0.int64(0)) }
    let taken = Set(try #require(roots)).union(try #require(list))
    try #require(taken.contains(1))
    return (1...(try #require(count?.first))).filter { !taken.contains($0) }
  }

  @Test("of a damaged file everything is copied that can be read", arguments: Form.allCases)
  func salvagesTheRest(_ form: Form) throws {
    var random = Seed()
    print(random)
    let start = form == .encrypted ? FileHeader.reserved : 0
    for round in 0..<10 {
      let path = try makeFile(form)
      let others = try pagesThatAreNoRoots(of: path, form)
      let file = try #require(fopen(path, "r+"))
      for _ in 0..<3 {
        fseek(file, start + (others[random.below(others.count)] - 1) * 4096, SEEK_SET)
        let noise = (0..<4096).map { _ in UInt8(random.below(256)) }
        fwrite(noise, 1, noise.count, file)
      }
      fclose(file)
      let report = try Salvage.run(path, with: form.vault, into: directory.file("saved"))
      #expect(form.hides("word", in: directory))
      let notes = try #require(report["collections"]?["notes"]?["lines"]?.intValue)
      // Each page of entities holds about twelve.
      #expect(notes > 1500, "\(random) round \(round)")
      #expect(try lines("notes.entities.ndjson", form).count == Int(notes))
      let found = try lines("notes.entities.ndjson", form).map {
        try JSONValue(parsing: Array($0.utf8))["_id"]?.stringValue
      }
      #expect(Set(found).count == found.count, "\(random) round \(round)")
      #expect(try ChildProcess.run(["rm", "-r", directory.file("saved"), path]) == 0)
    }
  }

  @Test(
    "what is no database, or not there, is an error, and a directory with something in it is left alone"
  )
  func refusals() throws {
    let none = #expect(throws: StoreError.self) {
      try Salvage.run(directory.file("none.kvs"), into: directory.file("saved"))
    }
    #expect(none?.kind == .notFound)
    let path = directory.file("text.kvs")
    #expect(try ChildProcess.run(["sh", "-c", "yes | head -c 20000 > '\(path)'"]) == 0)
    let noDatabase = #expect(throws: StoreError.self) {
      try Salvage.run(path, into: directory.file("saved"))
    }
    #expect(noDatabase?.kind == .corrupt)
    let taken = #expect(throws: StoreError.self) { try Salvage.run(path, into: directory.path) }
    #expect(taken?.kind == .invalid)
  }
}
