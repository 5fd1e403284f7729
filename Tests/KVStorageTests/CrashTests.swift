import Glibc
import KVQuery
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Kills processes that save to one file at the same time, again and again, and looks at what they
/// leave behind.
@Suite("Crash") struct CrashTests {
  private static let processes = 2
  private static let threads = 2

  let directory = TemporaryDirectory()

  @Test(
    "whatever was acknowledged before a kill is there after it, the queue included",
    arguments: [(Form.plain, 50), (.encrypted, 12)])
  func kills(_ form: Form, _ rounds: Int) throws {
    let path = directory.file("data.kvs")
    var expected: [String: String] = [:]
    var queued: [String: PendingWrite.Operation] = [:]
    for round in 0..<rounds {
      let acknowledged = try saveAndKill(path, round: round, form)
      #expect(form.hides("\"step\"", in: directory))
      let storage = try Storage(path: path, vault: form.vault, durability: .normal)
      let found = try contents(of: storage)
      let operations = try operations(of: storage)
      for name in names(of: round) {
        let count = acknowledged[name] ?? 0
        // The step that was under way may have been done or not.
        let outcomes = [Outcome(after: count, of: name), Outcome(after: count + 1, of: name)]
        let outcome = outcomes.first { $0.isContained(in: found, operations, name) }
        let after = try #require(outcome, "\(name) after \(count) steps")
        expected.merge(after.entities) { $1 }
        queued.merge(after.operations) { $1 }
      }
      #expect(found == expected)
      #expect(operations == queued)
      storage.close()
    }
    #expect(queued.count > rounds)
    #expect(try integrity(of: path, form) == "ok")
    #expect(form.hides("\"step\"", in: directory))
  }

  @Test("a forked child is refused everything, and its parent notices nothing") func forks() throws
  {
    let path = directory.file("data.kvs")
    #expect(try ChildProcess.run([ChildProcess.built("storage-saver"), path, "fork"]) == 0)
    #expect(try Storage(path: path).pendingCount(in: "c") == 2)
    #expect(try integrity(of: path) == "ok")
  }

  /// What the threads of a round are called.
  private func names(of round: Int) -> [String] {
    (0..<Self.processes).flatMap { process in
      (0..<Self.threads).map { "\(round).\(process)-\($0)" }
    }
  }

  /// Lets processes save until some steps were acknowledged; gives how many by thread.
  private func saveAndKill(_ path: String, round: Int, _ form: Form) throws -> [String: Int] {
    let outputs = concurrently(Self.processes) { process in
      try? outputOfSaver(
        path, name: "\(round).\(process)", form, limit: (round * 37 + process * 300) % 600)
    }
    #expect(outputs.count == Self.processes)
    var steps: [String: Int] = [:]
    for line in outputs.joined().split(separator: "\n") {
      steps[String(line.prefix { $0 != " " }), default: 0] += 1
    }
    return steps
  }

  /// Runs a saver, kills it when it has said so much, and gives all it had said.
  private func outputOfSaver(
    _ path: String, name: String, _ form: Form, limit: Int
  ) throws -> String {
    let saver = try ChildProcess(
      [ChildProcess.built("storage-saver"), path, name, "\(Self.threads)"] + form.words)
    var output = ""
    while output.utf8.count < limit, case let more = saver.readPiece(), !more.isEmpty {
      output += more
    }
    saver.end()
    // What it had said before its end counts as well.
    while case let more = saver.readPiece(), !more.isEmpty { output += more }
    return output
  }

  private func contents(of storage: Storage) throws -> [String: String] {
    var entities: [String: String] = [:]
    for entity in try storage.find() { entities[try id(of: entity)] = entity }
    return entities
  }

  private func operations(of storage: Storage) throws -> [String: PendingWrite.Operation] {
    var operations: [String: PendingWrite.Operation] = [:]
    for write in try storage.queue() { operations[write.id] = write.operation }
    return operations
  }

  private func id(of entity: String) throws -> String {
    try #require(entity.split(separator: "\"").dropFirst(3).first.map(String.init))
  }

  private func integrity(of path: String, _ form: Form = .plain) throws -> String? {
    var configuration = StorageSchema.configuration(path)
    configuration.vault = form.vault
    let database = try Database(configuration, migrations: StorageMigrations.all)
    let rows = try database.rows(of: "PRAGMA integrity_check") { _ in }
    return try rows.next { $0.text(0) } ?? nil
  }
}

/// The result of so many steps of a thread: see storage-saver.
private struct Outcome {
  var entities: [String: String] = [:]
  var operations: [String: PendingWrite.Operation] = [:]

  init(after count: Int, of name: String) {
    for number in 0..<count {
      let id = "\(name)-\(number - number % 2)"
      let isRemoval = number % 4 == 3
      entities[id] = isRemoval ? nil : #"{"_id":"\#(id)","step":\#(number)}"#
      operations[id] = isRemoval ? .delete : .update
    }
  }

  func isContained(
    in entities: [String: String], _ operations: [String: PendingWrite.Operation], _ name: String
  ) -> Bool {
    entities.filter { $0.key.hasPrefix(name + "-") } == self.entities
      && operations.filter { $0.key.hasPrefix(name + "-") } == self.operations
  }
}
