import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport

/// One process with its file.
final class Member {
  /// What it keeps of the backend's data.
  enum Kind {
    /// What it has read.
    case pulling
    /// What an expression selects, kept in step in the background.
    case synced
    /// Nothing.
    case network
  }

  private let connection: any WorldConnection
  private let collection: String
  private let format: RecordFormat
  private(set) var store: DyingStore
  private(set) var engine: CollectionEngine
  /// For each of its own entities what it may be at the end: the last acknowledged state (null:
  /// deleted) and whatever was tried after it without an acknowledgement.
  private(set) var acknowledged: [String: [JSONValue]] = [:]
  let kind: Kind
  let ledger: WriteLedger
  /// What the results of calls contradict.
  private(set) var findings: [String] = []
  /// How often its counter may have been increased.
  private(set) var counted: ClosedRange<Int64> = 0...0
  /// How much it may have added to what all add to.
  private(set) var added: ClosedRange<Int64> = 0...0
  private let backend: any WorldBackend
  private let keepsDiscarded: Bool
  /// What is kept, of the kind `synced`.
  private var expression = Query()
  private let number: Int
  private let path: String
  /// How long the history of the backend was when it began to act.
  private var historyAtStart = 0
  private let ids: Monitor<Seed>
  /// The saves that have not ended, with what was here before; requests of each may be interrupted by another one.
  private var underWay: [(id: String, here: JSONObject?, entity: JSONObject)] = []
  private var made = 0
  private let strategy: ConflictStrategy
  private let takesInLiveData: Bool
  /// What happens to what the backend has lost.
  private let resetPolicy: BackendResetPolicy
  /// What it was told that the backend has lost.
  let reported = Monitor<[LostVersion]>([])
  /// What it has written over, by ids.
  private(set) var replaced: [(id: String, here: JSONObject?)] = []
  /// The entities that it has decided about.
  private(set) var decided: Set<String> = []
  /// The entities whose changes its handler of conflicts has given up.
  let handlerGaveUp = Monitor<Set<String>>([])
  /// The entities of which it has replaced or deleted what the backend had.
  let handlerReplaced = Monitor<Set<String>>([])
  /// What the handler of conflicts answers.
  private let answers: Monitor<Seed>

  init(
    _ number: Int, at path: String, connection: any WorldConnection, backend: any WorldBackend,
    strategy: ConflictStrategy, keepsDiscarded: Bool, ids: Seed, answers: Seed
  ) throws {
    // A network store keeps nothing that a backend which goes back could get from it.
    kind = [.pulling, .synced, .pulling, backend.goesBack ? .pulling : .network][number % 4]
    resetPolicy = number % 2 == 0 ? .keep : .resend
    ledger = WriteLedger(user: "user\(number)")
    (self.backend, self.keepsDiscarded) = (backend, keepsDiscarded)
    self.number = number
    self.path = path
    self.connection = connection
    (collection, format) = (backend.collection, backend.format)
    self.strategy = strategy
    self.ids = Monitor(ids)
    self.answers = Monitor(answers)
    takesInLiveData = number % 3 != 0 && kind != .network
    store = try Self.open(path, format, ids: self.ids, policy: resetPolicy, reported: reported)
    engine = Self.engine(store, connection, of: backend.collection, kind: kind, number: number)
    engine.setConflictHandler(handler)
    line.versionHere = { [unowned self] id in
      store.version(of: id, in: self.collection, format)
    }
    line.meanwhile = { [unowned self] random in
      random.next() % 2 == 0
        ? update(&random, .forceLocal) : delete(&random, .forceLocal)
    }
  }

  var line: FaultyLine { connection.line }

  private static func engine(
    _ store: DyingStore, _ connection: any WorldConnection, of collection: String, kind: Kind,
    number: Int
  ) -> CollectionEngine {
    CollectionEngine(
      collection: collection, type: kind == .network ? .network : .sync, local: store,
      remote: layers(around: connection.remote), sendGate: SendGate(),
      writer: { "user\(number)" })
  }

  /// The process ends, and another one begins.
  func restart() throws {
    let hasDied = store.isDead
    store = try Self.open(path, format, ids: ids, policy: resetPolicy, reported: reported)
    engine = Self.engine(store, connection, of: collection, kind: kind, number: number)
    engine.setConflictHandler(handler)
    guard hasDied else { return }
    ledger.die(backend.history[historyAtStart...]) { isHere($1, of: $0) }
  }

  private func isHere(_ mark: WriteLedger.Mark?, of id: String) -> Bool {
    guard let mark else {
      return (try? store.pending(id, in: collection))?.write.operation == .delete
    }
    return WriteLedger.marks(in: contents[id]?.objectValue).contains(mark)
  }

  private var handler: ConflictHandler {
    { [answers, ledger, handlerGaveUp, handlerReplaced] conflict, _ in
      ledger.tell(conflict.id, conflict.remote)
      let answer = answers.withLock({ $0.next() }) % 5
      trace(conflict.id, "is a conflict, which a handler answers with \(answer)")
      if 1...3 ~= answer { handlerGaveUp.withLock { _ = $0.insert(conflict.id) } }
      if answer == 0 || answer == 3 { handlerReplaced.withLock { _ = $0.insert(conflict.id) } }
      switch answer {
      case 0: return .keep
      case 1: return .take
      case 2:
        ledger.giveUp(conflict.id, conflict.local)
        return .merged(conflict.remote ?? conflict.local ?? Array("{}".utf8))
      case 3:
        ledger.giveUp(conflict.id, conflict.local)
        return .delete
      default: return .leave
      }
    }
  }

  /// What the backend has confirmed of what is here, whether or not the process lives.
  var confirmed: [(id: String, entity: JSONObject)] {
    get throws {
      try store.confirmed(in: collection).compactMap { bytes in
        guard let entity = try JSONValue(parsing: bytes).objectValue,
          let id = entity[idMember]?.stringValue
        else { return nil }
        return (id, entity)
      }
    }
  }

  /// Only what is written over from now on counts.
  func backendGoesBack() { replaced = [] }

  /// What it keeps nothing of, nobody need have any more, nor what it lets go of once the answer of the former backend arrives.
  func backendWentBack() {
    guard kind == .synced else { return }
    let here = contents
    for id in acknowledged.keys where !(here[id].map(keeps) ?? false) {
      acknowledged[id]?.append(backend.contents[id]?["value"] ?? .null)
    }
  }

  /// Retries or reverts what is in conflict, which is only what several have saved to, and what the backend has lost.
  func decideConflicts(_ random: inout Seed, in seed: Seed) throws -> [String] {
    var findings: [String] = []
    guard kind != .network else { return [] }
    for write in try engine.pending(after: nil, limit: 0) {
      let isShared = write.id.hasPrefix("shared-")
      // The next push sends it: what the backend has lost, or a deletion of what has arrived late.
      if backend.goesBack, write.state == .waiting { continue }
      if write.state != .backendWentBack && write.state != .conflict
        || !isShared && !backend.goesBack
      {
        findings.append("wedged: \(write.id) is left, \(write.state): \(seed)")
      }
      if let found = try store.pending(write.id, in: collection) {
        ledger.tell(write.id, found.theirs?.bytes)
      }
      decided.insert(write.id)
      trace(write.id, "is decided about by user\(number): \(write.operation), \(write.state)")
      // Somebody else may have been faster since. Of its own there is no other version that counts.
      let isRetried = isShared ? random.next() % 2 == 0 : acknowledged[write.id] != nil
      if isRetried, (try? engine.retryPending(write.id, call())) != nil { continue }
      let found = try store.pending(write.id, in: collection)
      ledger.giveUp(write.id, found?.entity)
      try engine.revertPending(write.id)
    }
    return findings
  }

  /// A file whose ids come from a seed, and are in no order.
  private static func open(
    _ path: String, _ format: RecordFormat, ids: Monitor<Seed>, policy: BackendResetPolicy,
    reported: Monitor<[LostVersion]>
  ) throws -> DyingStore {
    let storage = try Storage(path: path, layout: RecordLayout(format), durability: .normal) {
      String(ids.withLock { $0.next() }, radix: 16)
    }
    storage.resetRule.withLock {
      $0 = BackendResetRule(policy) { _, lost in
        for one in lost { trace(one.id, "is lost: \(one.version.text), \(policy)") }
        reported.withLock { $0 += lost }
      }
    }
    return DyingStore(storage)
  }

  /// What the program sees here; with a network store, on the backend.
  var contents: [String: JSONValue] {
    if kind == .network { return backend.contents }
    guard let cursor = try? engine.find(Query(), options(.forceLocal)).value else { return [:] }
    var found: [String: JSONValue] = [:]
    while let bytes = try? cursor.next({ Array($0) }) {
      guard let entity = try? JSONValue(parsing: bytes) else { continue }
      found[entity[idMember]?.stringValue ?? ""] = entity
    }
    return found
  }

  private var idMember: String { format.id[0].name }

  private func options(_ write: WritePolicy) -> CallOptions {
    CallOptions(readPolicy: .forceLocal, writePolicy: write, call: call())
  }

  /// Some calls repeat what failed; nobody waits for their pauses.
  func call() -> Call {
    made += 1
    var call = Call(retry: Retry(limit: made % 3, clock: FakeRetryClock()), conflicts: strategy)
    call.keepsDiscarded = keepsDiscarded
    call.discarded = { [ledger] write, ours, theirs in
      ledger.discarded(write.id, ours: ours, theirs: theirs)
    }
    call.overwritten = { [ledger] id, theirs in ledger.overwritten(id, theirs) }
    return call
  }

  /// Takes in some of the live messages that have not arrived.
  func listen(_ random: inout Seed) throws { try listen(&random, all: false) }

  /// Takes in all live messages that have not arrived.
  func listenToAll(_ random: inout Seed) throws { try listen(&random, all: true) }

  private func listen(_ random: inout Seed, all: Bool) throws {
    guard takesInLiveData else { return }
    if let data = backend.data { engine.note(data) }
    try connection.listen(&random, all: all, take)
  }

  private func take(_ change: LiveChange) throws {
    guard kind == .synced else { return try engine.apply(change) }
    _ = try engine.applySynced(change, matching: expression.matcher)
  }

  /// Whether it keeps an entity at the end.
  func keeps(_ entity: JSONValue) -> Bool {
    (try? expression.matcher?.matches(entity.bytes)) ?? true
  }

  /// Sends what waits; the result says what the events have told.
  @discardableResult
  func push() throws -> PushResult {
    ledger.beginCall()
    let result = try engine.push(call())
    let told = (ledger.discardedInCall, ledger.overwrittenInCall)
    if (result.discarded, result.overwritten) != told {
      findings.append("unsaid: \(result) after the events \(told)")
    }
    return result
  }

  /// Sends and reads all that it keeps; gives what the backend has refused.
  func synchronise(_ random: inout Seed) throws -> [StoreError] {
    switch kind {
    case .network: return []
    case .pulling: return try engine.sync(Query(), call(), how: Self.how(&random)).push.errors
    case .synced:
      let errors = try push().errors
      _ = try engine.synchronise(expression, call(), how: Self.how(&random))
      return errors
    }
  }

  /// Reads all of it, or what a filter selects that entities enter and leave.
  private func read(_ random: inout Seed) throws {
    let query = try Query(filter: random.next() % 2 == 0 ? nil : #"{"value":{"$lt":5}}"#)
    switch kind {
    case .network: break
    case .pulling: _ = try engine.pull(query, call(), how: Self.how(&random))
    case .synced:
      if random.next() % 3 == 0 { keepOnly(query) }
      _ = try engine.synchronise(expression, call(), how: Self.how(&random))
    }
  }

  /// Changes the expression. What it no longer selects leaves, in the belief that the backend has it.
  private func keepOnly(_ query: Query) {
    expression = query
    guard backend.goesBack else { return }
    let here = contents
    for id in acknowledged.keys where !(here[id].map(keeps) ?? true) {
      acknowledged[id]?.append(backend.contents[id]?["value"] ?? .null)
    }
  }

  /// Does one thing; failures are part of the game.
  func act(_ random: inout Seed) throws {
    historyAtStart = backend.history.count
    if !store.isDead, kind != .network {
      for (id, entity) in contents { ledger.see(id, entity.objectValue) }
    }
    if kind == .network { return try actOnNetwork(&random) }
    let write: WritePolicy =
      [.silentLocalThenNetwork, .localThenNetwork, .forceLocal, .forceLocal, .forceLocal][
        Int(random.next() % 5)]
    // Past the queue go entities with ids only: a create without one may happen twice.
    let sometimesPastQueue = random.next() % 6 == 0 ? .forceNetwork : write
    switch random.next() % 14 {
    case 0...2: create(write)
    case 3, 4: update(&random, sometimesPastQueue)
    case 5: delete(&random, sometimesPastQueue)
    case 6:
      let isPastQueue = random.next() % 4 == 0
      deleteMany(&random, isPastQueue ? .forceNetwork : .silentLocalThenNetwork)
    case 7, 8: share(&random, sometimesPastQueue)
    case 9: unshare(&random, sometimesPastQueue)
    case 10: try? read(&random)
    case 11: if !store.isDead { try restart() }
    case 13 where connection.remote.carriesOutOperators(in: collection): add(&random)
    default: _ = try? push()
    }
  }

  /// The same with a network store: what it saves has an id, because a create without one may happen twice.
  private func actOnNetwork(_ random: inout Seed) throws {
    switch random.next() % 6 {
    case 0:
      made += 1
      var entity: JSONObject = [
        "name": .string("\(number)-\(made)"), "owner": .int(Int64(number)), "value": 0, "tags": [0],
      ]
      let id = "n\(number)-\(made)"
      entity[idMember] = .string(id)
      acknowledged[id] = [.null, 0]
      if save(entity, .forceNetwork) != nil { acknowledge(0, of: id) }
    case 1: update(&random, .forceNetwork)
    case 2: delete(&random, .forceNetwork)
    case 3: share(&random, .forceNetwork)
    case 4: unshare(&random, .forceNetwork)
    default: try count()
    }
  }

  /// Adds to what all add to, if it is here.
  private func add(_ random: inout Seed) {
    let amount = Int64(random.next() % 5)
    guard let query = try? Query(filter: #"{"_id":"\#(sumID)"}"#),
      let update = try? EntityUpdate(#"{"$inc":{"count":\#(amount)}}"#, format)
    else { return }
    let write: WritePolicy = random.next() % 3 == 0 ? .silentLocalThenNetwork : .forceLocal
    let isHere = contents[sumID] != nil
    let (least, most) = (added.lowerBound, added.upperBound)
    // What is not sent yet is queued all the same.
    let isAdded = (try? engine.update(query, update, options: options(write))) != nil
    guard isHere, amount > 0 else { return }
    trace(sumID, "gets \(amount) by user\(number), \(write): \(isAdded)")
    let isSure = isAdded && !store.isDead
    added = (isSure ? least + amount : least)...(most + amount)
  }

  var counterID: String { "counter-\(number)" }

  /// Counts one more on the backend.
  private func count() throws {
    if backend.contents[counterID] == nil {
      var entity: JSONObject = ["owner": .int(Int64(1_000 + number)), "count": 0]
      entity[idMember] = .string(counterID)
      _ = save(entity, .forceNetwork)
    }
    let query = try Query(filter: #"{"owner":\#(1_000 + number)}"#)
    let update = try EntityUpdate(#"{"$inc":{"count":1}}"#, format)
    let (least, most) = (counted.lowerBound, counted.upperBound)
    do {
      let result = try engine.update(query, update, options: options(.forceNetwork)).value
      let change = Int64(result.modified.count)
      counted = (least + change)...(most + change)
    } catch {
      counted = least...(most + 1)
    }
  }

  static func how(_ random: inout Seed) -> CollectionEngine.Refreshing {
    .init(
      paging: random.next() % 2 == 0
        ? .off : .pages(of: 3, ranges: Int(1 + random.next() % 3)),
      usesChanges: random.next() % 2 == 0, comparesVersions: random.next() % 4 == 0)
  }

  private func create(_ write: WritePolicy) {
    made += 1
    let entity: JSONObject = [
      "name": .string("\(number)-\(made)"), "owner": .int(Int64(number)), "value": 0, "tags": [0],
    ]
    guard let saved = save(entity, write), let id = saved[idMember]?.stringValue else { return }
    acknowledged[id] = [0]
  }

  private func update(_ random: inout Seed, _ write: WritePolicy) {
    guard let id = mine(&random), let name = contents[id]?["name"] else { return }
    made += 1
    let value = JSONValue.int(Int64(made))
    acknowledged[id]?.append(value)
    let owner = JSONValue.int(Int64(number))
    var entity: JSONObject = ["name": name, "owner": owner, "value": value, "tags": [value]]
    entity[idMember] = .string(id)
    if save(entity, write) != nil { acknowledge(value, of: id) }
  }

  /// What was possible before this state no longer is. A later one may have been acknowledged meanwhile.
  private func acknowledge(_ state: JSONValue, of id: String) {
    guard let index = acknowledged[id]?.firstIndex(of: state) else { return }
    acknowledged[id]?.removeFirst(index)
  }

  private func delete(_ random: inout Seed, _ write: WritePolicy) {
    guard let id = mine(&random) else { return }
    acknowledged[id]?.append(.null)
    if remove(id, write) == 1 { acknowledge(.null, of: id) }
  }

  /// Deletes by a query what matches here, and perhaps what matches on the backend only and has changes to send.
  private func deleteMany(_ random: inout Seed, _ write: WritePolicy) {
    let least = Int64(random.next() % UInt64(made + 1))
    let filter = #"{"owner":\#(number),"value":{"$gte":\#(least)}}"#
    guard let query = try? Query(filter: filter) else { return }
    let (before, since) = (contents, backend.history.count)
    func matches(_ value: JSONValue?) -> Bool { value?.intValue.map { $0 >= least } ?? false }
    let matching = contents.filter { acknowledged[$0.key] != nil && matches($0.value["value"]) }
      .keys
    for id in matching {
      trace(id, "is among what user\(number) removes, \(write)")
      replaced.append((id, before[id]?.objectValue))
    }
    // The backend may have what nobody has acknowledged.
    for (id, states) in acknowledged where states.contains(where: matches) {
      acknowledged[id]?.append(.null)
    }
    let isAcknowledged = (try? engine.remove(query, options(write))) != nil
    let left = contents
    guard !store.isDead else { return }
    for id in matching where left[id] == nil {
      // What has failed on the way to the backend was deleted here all the same.
      ledger.supersede(id, before[id]?.objectValue, by: nil)
      guard isAcknowledged else { continue }
      acknowledge(.null, of: id)
      ledger.begin(id, nil, over: nil, since: since)
    }
  }

  /// Changes some members of what others change as well.
  private func share(_ random: inout Seed, _ write: WritePolicy) {
    let id = "shared-\(random.next() % 3)"
    made += 1
    let mark = JSONValue.int(Int64(number * 1_000_000 + made))
    let here = contents[id]?.objectValue
    var entity = here ?? [:]
    // Some programs keep what they do not know, such as when it was written.
    if random.next() % 2 == 0 {
      entity = JSONObject(entity.members.filter { ["by", "note", "marks"].contains($0.name) })
    }
    entity[idMember] = .string(id)
    let changed = random.next() % 7 + 1
    if changed & 1 != 0 { entity["by"] = mark }
    if changed & 2 != 0 { entity["note"] = mark }
    if changed & 4 != 0 { entity["marks"] = .array((here?["marks"]?.arrayValue ?? []) + [mark]) }
    _ = save(entity, write)
  }

  /// Deletes what others change.
  private func unshare(_ random: inout Seed, _ write: WritePolicy) {
    let id = "shared-\(random.next() % 3)"
    if contents[id] != nil { _ = remove(id, write) }
  }

  /// Saves; gives what is acknowledged, by an early answer too.
  private func save(_ entity: JSONObject, _ write: WritePolicy) -> JSONValue? {
    let bytes = JSONValue.object(entity).bytes
    guard let outline = try? EntityScanner.outline(of: bytes, format) else { return nil }
    let id = entity[idMember]?.stringValue
    let here = id.flatMap { contents[$0]?.objectValue }
    supersedeUnderWay(id, here)
    if let id { replaced.append((id, here)) }
    let since = backend.history.count
    if let id { underWay.append((id, here, entity)) }
    defer { if id != nil { underWay.removeLast() } }
    if write == .forceNetwork, let id { ledger.bypassQueue(id, entity) }
    if let id { trace(id, "is saved by user\(number), \(write): \(JSONValue.object(entity).text)") }
    if let id { ledger.begin(id, entity, over: here, since: since) }
    var early: [UInt8]?
    let saved = bytes.withUnsafeBytes {
      try? engine.save($0, outline, options: options(write), early: { early = $0 }).value
    }
    let answer = (saved ?? early).flatMap { try? JSONValue(parsing: $0) }
    if let saved = answer?[idMember]?.stringValue {
      trace(saved, "is acknowledged to user\(number), \(write)")
    }
    switch (id, answer?[idMember]?.stringValue) {
    case (nil, let made?): ledger.begin(made, entity, over: nil, since: since)
    case (let id?, .some):
      ledger.supersede(id, here, by: entity)
      if write == .forceNetwork { ledger.answered(id, entity, with: answer?.objectValue) }
    case (let id?, nil):
      // What has failed takes the place of what was queued all the same.
      if !store.isDead, isHere(entity, id) { ledger.supersede(id, here, by: entity) }
      ledger.withdraw(id, entity, over: here)
    case (nil, nil): break
    }
    return answer
  }

  /// A save under way, which this one interrupts, has taken the place of what was here if that is what is here now. When it
  /// ends, its entity may have gone again.
  private func supersedeUnderWay(_ id: String?, _ here: JSONObject?) {
    for call in underWay
    where call.id == id
      && WriteLedger.marks(in: call.entity).isSubset(of: WriteLedger.marks(in: here))
    {
      ledger.supersede(call.id, call.here, by: call.entity)
    }
  }

  private func isHere(_ entity: JSONObject, _ id: String) -> Bool {
    guard let here = contents[id]?.objectValue else { return false }
    return WriteLedger.marks(in: entity).isSubset(of: WriteLedger.marks(in: here))
  }

  /// Removes; gives the count that is acknowledged, by an early answer too.
  private func remove(_ id: String, _ write: WritePolicy) -> Int? {
    let here = contents[id]?.objectValue
    supersedeUnderWay(id, here)
    replaced.append((id, here))
    if write == .forceNetwork { ledger.bypassQueue(id, nil) }
    trace(id, "is removed by user\(number), \(write)")
    ledger.begin(id, nil, over: here, since: backend.history.count)
    var early: Int?
    let removed = try? engine.remove(id: id, options: options(write), early: { early = $0 }).value
    let count = removed ?? early
    trace(id, "was removed by user\(number): \(count ?? -1)")
    let isRemoved = count.map { $0 > 0 } ?? false
    if isRemoved || (!store.isDead && kind != .network && contents[id] == nil) {
      ledger.supersede(id, here, by: nil)
    }
    if !isRemoved { ledger.withdraw(id, nil, over: here) }
    return count
  }

  private func mine(_ random: inout Seed) -> String? {
    let ids = acknowledged.keys.sorted().filter { acknowledged[$0] != [.null] }
    return ids.isEmpty ? nil : ids[Int(random.next() % UInt64(ids.count))]
  }
}
