import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import KVWorlds

/// A backend in memory that does to single requests what a test wants.
///
/// `@unchecked Sendable`: what a test sets, it sets before the requests come; a lock protects the rest.
final class ScriptedRemote: IDPagedRemote, @unchecked Sendable {
  let backend = FakeBackend()
  var user = "ana"
  /// The error of a request that does not reach the backend; nil: it does.
  var refusal: (RemoteWrite) -> StoreError? = { _ in nil }
  /// Whether the answer of a request that was carried out gets lost.
  var losesAnswer: (RemoteWrite) -> Bool = { _ in false }
  /// Whether deletions by query lose their answers.
  var losesRemovals = false
  /// Runs when a request was carried out and its answer is about to be handed over.
  var meanwhile: () -> Void = {}
  /// The same for writes alone, deletions by query included.
  var duringWrite: () -> Void = {}
  /// Runs when a count was answered.
  var duringCount: () -> Void = {}
  /// What a read fails with.
  var readError: StoreError?
  /// What a find answers in place of the truth.
  var answer: ((Query, [[UInt8]]) -> [UInt8])?
  /// What breaks a find off once its answer was handed over.
  var readEnd: () -> StoreError? = { nil }
  /// Whether finds leave something out because it is damaged there.
  var lacksDamaged = false
  /// What a count answers in place of the truth.
  var counted: Int?
  /// What the next counts answer, one after the other.
  var counts: [Int] = []

  /// Names the data that the backend has: another name after a restore.
  var epoch: String?

  /// What has changed since a moment; nil: it cannot tell.
  var changes: (Query, String) -> String? = { _, _ in nil }

  private let log = Monitor<[RemoteWrite]>([])
  private let reads = Monitor<[Query]>([])
  private let lock = Monitor(())

  /// The writes that were sent, the refused and lost ones too.
  var requests: [RemoteWrite] { log.withLock { $0 } }
  var queries: [Query] { reads.withLock { $0 } }

  static func error(_ kind: StoreError.Kind, _ status: Int? = nil) -> StoreError {
    var error = StoreError(kind, "As the test wants it.")
    guard let status else { return error }
    error.answer = StoreError.ServerAnswer(status: status, error: "Scripted")
    error.changedNothing = (400..<500).contains(status)
    if [429, 502, 503, 504].contains(status) { error.statedClass = .passing }
    if [.forbidden, .tooLarge, .notFound].contains(kind) { error.statedClass = .refused }
    return error
  }

  // MARK: Reading

  var limits = RemoteLimits()

  func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    reads.withLock { $0.append(query) }
    if let readError { throw readError }
    let found = lock.withLock { _ in backend.find(query) }
    let truth = Array("[".utf8) + found.joined(separator: Array(",".utf8)) + Array("]".utf8)
    let text = answer?(query, found) ?? truth
    meanwhile()
    var count = 0
    try RecordBatch.lend(text) { (batch) throws(StoreError) in
      count = batch.count
      try receive(batch)
    }
    if let error = readEnd() { throw error }
    let moment = BackendMoment("2024-03-12T21:00:00.000Z", epoch: epoch)
    return ReadAnswer(
      startedAt: moment, mayBeCut: count == limits.recordsPerAnswer, lacksDamaged: lacksDamaged)
  }

  func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    if let readError { throw readError }
    let moment = BackendMoment("2024-03-12T22:00:00.000Z", epoch: epoch)
    guard since.isOfSameData(as: moment), let text = changes(query, since.text) else { return nil }
    meanwhile()
    try ChangesText(text).hand(to: receive)
    return ReadAnswer(startedAt: moment)
  }

  func find(id: String, in collection: String, call: Call) throws(StoreError) -> [UInt8] {
    if let readError { throw readError }
    let entity = lock.withLock { _ in backend.entity(id) }
    meanwhile()
    guard let entity else { throw Self.error(.notFound, 404) }
    return entity
  }

  func count(_ query: Query, in collection: String, call: Call) throws(StoreError) -> CountAnswer {
    if let readError { throw readError }
    defer { duringCount() }
    if !counts.isEmpty { return CountAnswer(count: counts.removeFirst(), startedAt: nil) }
    let count = counted ?? lock.withLock { _ in backend.find(query).count }
    return CountAnswer(count: count, startedAt: nil)
  }

  // MARK: Writing

  func remove(_ query: Query, in collection: String, call: Call) throws(StoreError) -> Int {
    if let readError { throw readError }
    let count = lock.withLock { _ in
      let outlines = backend.find(query).compactMap { try? EntityScanner.outline(of: $0) }
      return outlines.compactMap(\.id).map(backend.delete).reduce(0, +)
    }
    duringWrite()
    meanwhile()
    if losesRemovals { throw Self.error(.network) }
    return count
  }

  func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    for (index, write) in writes.enumerated() {
      if call.cancellation.isCancelled {
        outcome(index, .failure(StoreError(.cancelled, "Cancelled.")))
      } else {
        outcome(index, Result { () throws(StoreError) in try carryOut(write) })
      }
    }
  }

  private func carryOut(_ write: RemoteWrite) throws(StoreError) -> RemoteOutcome {
    log.withLock { $0.append(write) }
    if let error = refusal(write) { throw error }
    let result = lock.withLock { _ in Result { () throws(StoreError) in try apply(write) } }
    duringWrite()
    meanwhile()
    if losesAnswer(write) { throw Self.error(.network) }
    return try result.get()
  }

  /// Whether it keeps the conditions of writes.
  var keepsConditions = true
  var keepsTokens = false

  /// Whether it merges updates of other versions, as AppSync does, instead of refusing them: it keeps each value that it has, and
  /// appends lists.
  var merges = false
  var sendsDifferences: Bool { merges }

  private func apply(_ write: RemoteWrite) throws(StoreError) -> RemoteOutcome {
    if merges, case .update(let id, let body, .version(let version), let base) = write,
      var stored = try Self.object(backend.entity(id)),
      stored["_kmd"]?["lmt"]?.stringValue != version.text
    {
      let former = try Self.object(base) ?? JSONObject()
      for member in try Self.object(body)?.members ?? []
      where !["_id", "_kmd", "_acl"].contains(member.name) && member.value != former[member.name] {
        stored.automerge(member)
      }
      return .merged(try backend.replace(JSONValue.object(stored).bytes, id, by: user))
    }
    return try backend.carryOut(write, by: user, keepingConditions: keepsConditions)
  }
}

extension ScriptedRemote {
  private static func object(_ bytes: [UInt8]?) throws(StoreError) -> JSONObject? {
    try bytes.flatMap { (bytes) throws(StoreError) in try JSONValue.ifValid(bytes)?.objectValue }
  }
}

extension RemoteWrite {
  /// Whether one of its bodies contains a text.
  func mentions(_ text: String) -> Bool {
    bodies.contains { String(decoding: $0, as: UTF8.self).contains(text) }
  }

  var bodies: [[UInt8]] {
    switch self {
    case .create(let body): [body]
    case .createMany(let bodies): bodies
    case .update(_, let body, _, _): [body]
    case .delete, .change: []
    case .batch(let writes): writes.flatMap(\.bodies)
    }
  }
}
