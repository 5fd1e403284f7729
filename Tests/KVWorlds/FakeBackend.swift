package import KVBase
package import KVJSON
package import KVQuery
package import KVSync
package import KVTestSupport

/// A backend in memory that loses requests and answers as a seed tells it.
///
/// `@unchecked Sendable`: a simulated world runs on one thread.
package final class FakeBackend: @unchecked Sendable {
  package private(set) var entities: [String: JSONObject] = [:]
  /// How many requests find nobody: the server is being restarted.
  package var absence = 0
  /// What subscribers get, in the order of the changes.
  package private(set) var published: [LiveChange] = []
  /// What writes have made of records, in their order.
  private(set) var history: [WorldChange] = []
  private var order: [String] = []
  private var written = 0
  /// Ids that something was ever created under.
  private var made: Set<String> = []
  /// Creates that are still on their way although nobody waits for them any more.
  private var delayed: [(body: [UInt8], user: String)] = []
  /// What was deleted: when, and what it was.
  private var deleted: [String: (moment: String, entity: [UInt8])] = [:]
  /// Which data it has; nil: it does not say.
  package private(set) var data: BackendData?
  private var copy = Copy()
  /// The changes by operators that were carried out: who, what and their tokens.
  private var changed: Set<[String]> = []

  /// A copy of its data, as a backup is.
  private struct Copy {
    var entities: [String: JSONObject] = [:]
    var order: [String] = []
    var made: Set<String> = []
    var deleted: [String: (moment: String, entity: [UInt8])] = [:]
    var moment = Timestamp(milliseconds: 0).description
    /// Of data that went back before it was copied, as the backend says it.
    var restored: String?
  }

  package init() {}

  // MARK: Copies of its data

  /// From now on it says which data it has.
  package func tellData() { data = BackendData(epoch: "0") }

  package func makeCopy() {
    copy = Copy(
      entities: entities, order: order, made: made, deleted: deleted, moment: now,
      restored: data?.restored)
  }

  /// The copy takes the place of its data. Time does not go back, and what subscribers have not been told they never hear.
  package func putBack() {
    for id in ids.union(copy.entities.keys).sorted() where entities[id] != copy.entities[id] {
      let former = copy.entities[id]
      trace(id, "goes back to \(former.map { JSONValue.object($0).text } ?? "nothing")")
      history.append(WorldChange(id: id, user: nil, before: entities[id], after: former))
    }
    (entities, order, made, deleted) = (copy.entities, copy.order, copy.made, copy.deleted)
    written += 1
    // Of several restores the earliest.
    data = BackendData(
      epoch: String(written), restored: min(copy.moment, copy.restored ?? copy.moment))
    lastCopied = copy.moment
    missed = published.count
    // What was on its way to the former server arrives no more.
    delayed = []
  }

  /// When the copy was made that was put back last.
  private(set) var lastCopied = ""
  /// So many messages are not told any more.
  package private(set) var missed = 0

  // MARK: Writes

  /// The moment of the last write.
  package var now: String { Timestamp(milliseconds: Int64(written)).description }

  /// When a read begins, and which data it reads.
  package var moment: BackendMoment { BackendMoment(now, data) }

  package var ids: Set<String> { Set(entities.keys) }

  package func create(_ body: [UInt8], by user: String) throws(StoreError) -> [UInt8] {
    var entity = try Self.object(body)
    let id = entity["_id"]?.stringValue ?? Identifier.object()
    guard entities[id] == nil else {
      var error = StoreError(.conflict, "An entity with that _id already exists.")
      // It may be what we sent ourselves.
      error.changedNothing = false
      throw error
    }
    guard entity["poison"] == nil else {
      var error = StoreError(.invalid, "Refused.")
      error.answer = StoreError.ServerAnswer(status: 400, error: "Poison")
      throw error
    }
    entity["_id"] = .string(id)
    entity["_acl"] = ["creator": .string(user)]
    made.insert(id)
    order.append(id)
    return put(entity, id, by: user)
  }

  package func delay(_ bodies: [[UInt8]], by user: String) { delayed += bodies.map { ($0, user) } }

  /// Creates arrive that are late, in any order: one of them, or all. What was repeated in the meantime, and carried
  /// out, is refused for good.
  package func receiveDelayed(_ random: inout Seed, all: Bool) {
    delayed.shuffle(using: &random)
    while let (body, user) = delayed.popLast() {
      let id = (try? Self.object(body))?["_id"]?.stringValue ?? ""
      if !made.contains(id) { _ = try? create(body, by: user) }
      if !all { return }
    }
  }

  package func replace(_ body: [UInt8], _ id: String, by user: String) throws(StoreError) -> [UInt8]
  {
    guard let known = entities[id] else { return try create(body, by: user) }
    var entity = try Self.object(body)
    entity["_acl"] = known["_acl"]
    return put(entity, id, by: user)
  }

  /// Carries out operators, once for each token.
  func change(
    _ id: String, by updates: [UInt8], of user: String, token: String
  ) throws(StoreError) -> [UInt8] {
    let isNew = changed.insert([user, id, token]).inserted
    guard let body = entity(id) else {
      if isNew { changed.remove([user, id, token]) }
      var error = StoreError(.notFound, "There is none.")
      error.statedClass = .refused
      error.wasCarriedOut = !isNew
      throw error
    }
    guard isNew else { return body }
    let new: [UInt8]
    do throws(QueryError) {
      let updates = try EntityUpdates((try? JSONValue(parsing: updates)) ?? .null)
      new = try updates.apply(to: body, now: Timestamp(milliseconds: Int64(written))) ?? body
    } catch {
      changed.remove([user, id, token])
      throw StoreError(.invalid, error.message)
    }
    return put(try Self.object(new), id, by: user)
  }

  package func delete(_ id: String) -> Int { delete(id, by: nil) }

  func delete(_ id: String, by user: String?) -> Int {
    guard let entity = entity(id) else { return 0 }
    written += 1
    trace(id, "is deleted by \(user ?? "nobody") at \(now)")
    history.append(WorldChange(id: id, user: user, before: entities[id], after: nil))
    deleted[id] = (now, entity)
    order.removeAll { $0 == id }
    entities[id] = nil
    published.append(.deleted(id: id, at: now))
    return 1
  }

  /// Throws unless a condition holds.
  package func check(_ condition: RemoteCondition, _ id: String) throws(StoreError) {
    let revision = entities[id]?["_kmd"]?["lmt"]?.stringValue
    switch condition {
    case .none: return
    case .isMissing where revision == nil: return
    case .version(let wanted) where wanted.text == revision: return
    case .version where revision == nil:
      var error = StoreError(.notFound, "There is none.")
      error.statedClass = .refused
      throw error
    default: throw StoreError(.conflict, "Another revision.")
    }
  }

  /// Carries a write out as a user's; without its condition, unless `keepingConditions`.
  package func carryOut(
    _ write: RemoteWrite, by user: String, keepingConditions: Bool,
    tokens: [RecordID: String] = [:]
  ) throws(StoreError) -> RemoteOutcome {
    func check(_ condition: RemoteCondition, _ id: String) throws(StoreError) {
      if keepingConditions { try self.check(condition, id) }
    }
    switch write {
    case .create(let body): return .stored(try create(body, by: user))
    case .createMany(let bodies):
      return .storedMany(
        bodies.map { body in Result { () throws(StoreError) in try create(body, by: user) } })
    case .update(let id, let body, let condition, _):
      try check(condition, id)
      return .stored(try replace(body, id, by: user))
    case .delete(let id, let condition):
      do throws(StoreError) { try check(condition, id) } catch {
        guard error.kind == .notFound else { throw error }
      }
      return .deleted(delete(id, by: user))
    case .change(let id, let updates):
      return .stored(try change(id, by: updates, of: user, token: tokens[RecordID(id)] ?? ""))
    case .batch(let writes):
      return .batch(
        writes.map { write in
          Result { () throws(StoreError) in
            try carryOut(
              write, by: user, keepingConditions: keepingConditions, tokens: tokens)
          }
        })
    }
  }

  /// What has changed since a moment, that moment included: see `ChangesText`.
  package func changes(of query: Query, since: String) -> String {
    let matcher = query.matcher
    func matches(_ entity: [UInt8]) -> Bool { (try? matcher?.matches(entity)) ?? true }
    var changed: [String] = []
    var left: [JSONValue] = []
    for id in order {
      guard let entity = entity(id), let moment = entities[id]?["_kmd"]?["lmt"]?.stringValue,
        moment >= since
      else { continue }
      if matches(entity) {
        changed.append(String(decoding: entity, as: UTF8.self))
      } else {
        left.append(["_id": .string(id)])
      }
    }
    let gone = deleted.filter { $0.value.moment >= since && entities[$0.key] == nil }
    // What had left before it was deleted is told, too.
    left += gone.filter { !matches($0.value.entity) }.keys.sorted().map { ["_id": .string($0)] }
    let ids = JSONValue.array(
      gone.filter { matches($0.value.entity) }.keys.sorted().map { ["_id": .string($0)] })
    let lists = "\"changed\":[\(changed.joined(separator: ","))],\"deleted\":\(ids.text)"
    return "{\(lists),\"left\":\(JSONValue.array(left).text)}"
  }

  package func find(_ query: Query) -> [[UInt8]] {
    let matcher = query.matcher
    let all = (query.sort.isEmpty ? order : order.sorted()).compactMap { id in
      entities[id].map { JSONValue.object($0).bytes }
    }
    let found = all.filter { (try? matcher?.matches($0)) ?? true }.dropFirst(query.skip)
    return Array(query.limit.map { found.prefix($0) } ?? found)
  }

  package func entity(_ id: String) -> [UInt8]? { entities[id].map { JSONValue.object($0).bytes } }

  private func put(_ entity: JSONObject, _ id: String, by user: String) -> [UInt8] {
    var entity = entity
    written += 1
    var metadata: JSONObject = ["lmt": .string(now)]
    // A version that it has lost and that a client sends again.
    metadata["resent"] = entity["_kmd"]?["resend"]
    entity["_kmd"] = nil
    history.append(WorldChange(id: id, user: user, before: entities[id], after: entity))
    entity["_kmd"] = .object(metadata)
    entities[id] = entity
    let body = JSONValue.object(entity).bytes
    trace(id, "is stored by \(user): \(String(decoding: body, as: UTF8.self))")
    published.append(.saved(body, id: id, .save))
    return body
  }

  private static func object(_ body: [UInt8]) throws(StoreError) -> JSONObject {
    guard let object = (try? JSONValue(parsing: body))?.objectValue else {
      throw StoreError(.invalid, "No object.")
    }
    return object
  }
}

/// One client's way to the backend, which loses what the seed says.
///
/// `@unchecked Sendable`: a simulated world runs on one thread.
package final class FakeNetwork: FaultyLine, IDPagedRemote, @unchecked Sendable {
  private let backend: FakeBackend
  private let user: String

  package init(_ backend: FakeBackend, user: String, seed: UInt64) {
    self.backend = backend
    self.user = user
    super.init(Seed(seed))
  }

  package override func meetsAbsence() -> Bool {
    guard backend.absence > 0 else { return false }
    backend.absence -= 1
    return true
  }

  package func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let (found, moment) = try exchange { () throws(StoreError) in
      (backend.find(query), backend.moment)
    }
    try hand(found, of: moment, to: receive)
    return ReadAnswer(startedAt: moment)
  }

  package func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    let (text, moment) = try exchange { () throws(StoreError) in
      (backend.changes(of: query, since: since.text), backend.moment)
    }
    // Sometimes the moment is too old.
    if random.next() % 8 == 0 || !since.isOfSameData(as: moment) { return nil }
    try ChangesText(text).hand(at: RecordVersion(moment.text)) { (batch) throws(StoreError) in
      try receive(batch)
      if random.next() % 100 < weather.lostAnswers { throw StoreError(.network, "Cut.") }
    }
    return ReadAnswer(startedAt: moment)
  }

  /// In two batches, cut anywhere; a lost answer may still have brought the first.
  private func hand(
    _ found: [[UInt8]], of moment: BackendMoment,
    to receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    func hand(_ some: ArraySlice<[UInt8]>) throws(StoreError) {
      try RecordBatch.lend(Self.array(some)) { (batch) throws(StoreError) in
        var batch = batch
        batch.moment = moment
        try receive(batch)
      }
    }
    let cut = Int(random.next() % UInt64(found.count + 1))
    try hand(found[..<cut])
    pause()
    if random.next() % 100 < weather.lostAnswers { throw StoreError(.network, "Cut.") }
    try hand(found[cut...])
  }

  private static func array(_ entities: ArraySlice<[UInt8]>) -> [UInt8] {
    Array("[".utf8) + entities.joined(separator: Array(",".utf8)) + Array("]".utf8)
  }

  package func find(id: String, in collection: String, call: Call) throws(StoreError) -> [UInt8] {
    let (entity, data) = try exchange { () throws(StoreError) in
      guard let entity = backend.entity(id) else { throw StoreError(.notFound, "Not there.") }
      return (entity, backend.data)
    }
    call.answered(data)
    return entity
  }

  package func count(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> CountAnswer {
    let (count, moment) = try exchange { () throws(StoreError) in
      (backend.find(query).count, backend.moment)
    }
    return CountAnswer(count: count, startedAt: moment)
  }

  package func remove(_ query: Query, in collection: String, call: Call) throws(StoreError) -> Int {
    try exchange { () throws(StoreError) in
      let outlines = backend.find(query).compactMap { try? EntityScanner.outline(of: $0) }
      return outlines.compactMap(\.id).map { backend.delete($0, by: user) }.reduce(0, +)
    }
  }

  package func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    // In any order, as over several connections.
    for index in writes.indices.shuffled(using: &random) {
      if call.cancellation.isCancelled {
        outcome(index, .failure(StoreError(.cancelled, "Cancelled.")))
        continue
      }
      var data: BackendData?
      let result = Result { () throws(StoreError) in
        halved(
          try exchange(losing: { delay(writes[index]) }) { () throws(StoreError) in
            data = backend.data
            return try carryOut(writes[index], tokens: call.tokens)
          })
      }
      // A refusal says it, too; who hears nothing does not know.
      if case .failure(let error) = result, error.kind == .network { data = nil }
      call.answered(data)
      outcome(index, result)
    }
  }

  /// Perhaps the backend says nothing about some of a batch, which it has carried out.
  private func halved(_ outcome: RemoteOutcome) -> RemoteOutcome {
    guard case .batch(let results) = outcome, random.next() % 100 < weather.halfAnswers else {
      return outcome
    }
    return .batch(
      results.map { random.next() % 2 == 0 ? $0 : .failure(StoreError(.proto, "Nothing.")) })
  }

  private func delay(_ write: RemoteWrite) {
    guard random.next() % 100 < weather.lateCreates else { return }
    backend.delay(creates(of: write), by: user)
  }

  private func creates(of write: RemoteWrite) -> [[UInt8]] {
    switch write {
    case .create(let body): [body]
    case .createMany(let bodies): bodies
    case .batch(let writes): writes.flatMap(creates)
    case .update, .delete, .change: []
    }
  }

  package var limits = RemoteLimits()
  /// Whether the backend keeps the conditions of writes.
  package var keepsConditions = true
  /// Whether the backend carries out operators.
  package var carriesOutOperators = false

  package func carriesOutOperators(in collection: String) -> Bool { carriesOutOperators }

  private func carryOut(
    _ write: RemoteWrite, tokens: [RecordID: String]
  ) throws(StoreError) -> RemoteOutcome {
    try backend.carryOut(
      write, by: user, keepingConditions: keepsConditions, tokens: tokens)
  }
}
