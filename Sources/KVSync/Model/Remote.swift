package import KVBase
package import KVJSON
package import KVQuery

/// A backend, as far as synchronising needs to know it: what is read and written, not how it travels.
///
/// Every method blocks its thread until the answer is complete and may be called from any thread. It ends with
/// `.timeout` at the call's deadline, and with `.cancelled` soon after the call was cancelled. The error of a failure says
/// what may be expected of another attempt: see `FailureClass`. Nothing is repeated here: the layers around do that.
///
/// What answers in batches hands each to `receive`, on the calling thread, as it arrives; a batch is some hundred
/// kilobytes, so that memory stays flat. If `receive` throws, the transfer stops and that error comes out.
package protocol Remote: AnyObject, Sendable {
  /// What one request may have. May change while the backend gets known.
  var limits: RemoteLimits { get }

  /// How the records of a collection are laid out; always the same.
  func format(of collection: String) -> RecordFormat

  /// Whether it is known to keep the conditions of writes. One that does not ignores them.
  var keepsConditions: Bool { get }

  /// Whether it recognises a write that is sent again by its token, and carries it out once: see `Call.tokens`.
  var keepsTokens: Bool { get }

  /// Whether it carries out operators on what it has, once for each token: see `RemoteWrite.change`.
  func carriesOutOperators(in collection: String) -> Bool

  /// Whether it decides itself whether a record matches a filter that a write demands: see `RemoteCondition.matches`.
  var evaluatesConditions: Bool { get }

  /// Throws `.unsupported` if a write cannot demand this filter of a record.
  func check(condition: Predicate, in collection: String) throws(StoreError)

  /// Whether it is known to compare and order texts by language, with the weights that are used here: see
  /// `Query.isRemote(withCollations:)`. Should an answer show that it no longer does, a read fails with `.unsupported` before
  /// anything was handed over.
  var comparesByLanguage: Bool { get }

  /// Whether updates need to have what they started from, because only the difference is sent.
  var sendsDifferences: Bool { get }

  /// Whether the writes of all collections go in the order in which they were made, one after the other: because records
  /// lead to those of other collections.
  var hasOneQueue: Bool { get }

  /// Whether `remove` reads what matches and deletes that: of such a read, records may be missing that were changed
  /// shortly before.
  var removesByReading: Bool { get }

  // MARK: Reading

  /// Reads what a query selects: its filter, order, skip and limit, and the members that its fields name. Only
  /// asked what `Query.isRemote(withCollations:)` says a backend may know; one that does not know it all the same fails with
  /// `.unsupported`.
  func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer

  /// Reads one entity. Fails with `.notFound` if there is none.
  func find(id: String, in collection: String, call: Call) throws(StoreError) -> [UInt8]

  /// Reads the entities of some ids, at most `limits.idsPerQuery`, in any order; what is not there is left out.
  func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer

  func count(_ query: Query, in collection: String, call: Call) throws(StoreError) -> CountAnswer

  /// Reads what of a query's entities has changed since a moment that `find`, `count` or this has named. Nil, and nothing
  /// was handed over, if the backend cannot tell, or has other data by now than it had then: everything has to be read.
  func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer?

  // MARK: Reading in pages

  /// Begins to read all that a query selects, in any order, page by page. The query has neither order nor page.
  func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages

  /// Reads one page, perhaps with more members than the query's fields name. The same page may be read again: what was
  /// handed over before it failed comes once more then.
  func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer

  /// Whether everything has come: asked at the end of all parts, which have had so many records.
  func end(
    of pages: Pages, _ query: Query, having received: Int, in collection: String, call: Call
  ) throws(StoreError) -> PagesEnd

  // MARK: Others

  /// Groups what a query's filter selects; gives the backend's answer, an array with an object for each
  /// group. Fails with `unsupported` if it does not understand the function.
  func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, call: Call
  ) throws(StoreError) -> [JSONObject]

  /// Deletes what matches; gives how many.
  func remove(_ query: Query, in collection: String, call: Call) throws(StoreError) -> Int

  /// Sends writes, at most `limits.connections` at a time, and hands over each outcome, one after the other,
  /// on the calling thread, in whatever order they end. It returns when all have ended. After a
  /// cancellation the rest ends with `.cancelled`.
  func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  )
}

/// What a backend need not implement: the default says that it cannot.
extension Remote {
  package var limits: RemoteLimits { RemoteLimits() }
  package func format(of collection: String) -> RecordFormat { .default }
  package var keepsConditions: Bool { false }
  package var keepsTokens: Bool { false }
  package func carriesOutOperators(in collection: String) -> Bool { false }
  package var evaluatesConditions: Bool { false }
  package func check(condition: Predicate, in collection: String) throws(StoreError) {}
  package var comparesByLanguage: Bool { false }
  package var sendsDifferences: Bool { false }
  package var hasOneQueue: Bool { false }
  package var removesByReading: Bool { false }

  /// Asks for them by a query.
  package func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let format = format(of: collection)
    return try find(
      Query(.keys(ids, format)).of(format), in: collection, call: call, receive: receive)
  }

  /// Nil: a simple backend keeps no history.
  package func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? { nil }

  /// One page with everything.
  package func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages {
    Pages(starts: [PageToken("")], wish)
  }

  package func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    var count = 0
    let answer = try find(query, in: collection, call: call) { (batch) throws(StoreError) in
      count += batch.count
      try receive(batch)
    }
    return PageAnswer(count: count, next: nil, answer: answer)
  }

  package func end(
    of pages: Pages, _ query: Query, having received: Int, in collection: String, call: Call
  ) throws(StoreError) -> PagesEnd { .complete }

  /// Throws `.unsupported`.
  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, call: Call
  ) throws(StoreError) -> [JSONObject] {
    throw StoreError(.unsupported, "This backend does not support grouping.")
  }
}

/// A request for groups, in the backend's language.
package struct RemoteGroups: Sendable, Equatable {
  package var keys: [String]
  /// What each group's result begins with.
  package var initial: JSONObject
  /// JavaScript: `function(doc, out) { … }`.
  package var reduce: String
  /// The order by language in which equal texts are one group, for a backend that compares by language; nil: by code point.
  package var collation: JSONValue?

  package init(
    keys: [String], initial: JSONObject, reduce: String, collation: JSONValue? = nil
  ) {
    self.keys = keys
    self.initial = initial
    self.reduce = reduce
    self.collation = collation
  }
}

/// One request of a push.
package indirect enum RemoteWrite: Sendable, Equatable {
  /// One new entity; its bytes have an `_id` (chosen by us, or none in a network store).
  case create([UInt8])
  /// New entities in one request, at most `limits.createsPerRequest`.
  case createMany([[UInt8]])
  /// Creates or replaces the entity of this id. `base`: the backend's version that it started from, if that is known and
  /// the backend needs it.
  case update(id: String, [UInt8], if: RemoteCondition = .none, base: [UInt8]? = nil)
  case delete(id: String, if: RemoteCondition = .none)
  /// Carries out updates on what the backend has, one after the other: `[{"$inc":{"a":1}},…]`. Only asked of a backend that
  /// carries out operators, and with a token.
  case change(id: String, [UInt8])
  /// Creates, updates and deletions in one request, each to another entity and with a result of its own; at most
  /// `limits.writesPerBatch`. A backend that turns out to take none fails it with `unsupported`.
  case batch([RemoteWrite])
}

/// What must be true of the backend's entity for a write to be carried out; else it fails with `.conflict`,
/// or with `.notFound` if there is none.
package enum RemoteCondition: Sendable, Equatable {
  case none
  /// The entity has this version.
  case version(RecordVersion)
  /// The entity matches, and the change starts from this version. Only asked of a backend that evaluates conditions;
  /// whether it merges a change of another version is its own decision.
  case matches(Predicate, RecordVersion)
  /// There is none.
  case isMissing
}

/// The outcome of one request that the backend carried out.
package indirect enum RemoteOutcome: Sendable, Equatable {
  /// The entity as the backend stored it.
  case stored([UInt8])
  /// The same, where the backend had another version than the one that the write names, and merged the two.
  case merged([UInt8])
  /// One result for each entity of a `createMany`, in its order.
  case storedMany([Result<[UInt8], StoreError>])
  /// How many were deleted; 0 when it was not there (404). `at`: the version that the deletion made; nil: unknown.
  case deleted(Int, at: RecordVersion? = nil)
  /// The outcomes of the writes of a `batch`, in its order.
  case batch([Result<RemoteOutcome, StoreError>])
}

package struct ReadAnswer: Sendable, Equatable {
  /// When the backend began to evaluate the read, if it says so.
  package var startedAt: BackendMoment?
  /// Whether the backend may have left something out, because it answers with so much at the most.
  package var mayBeCut: Bool
  /// Whether something was left out because the backend's copy of it is damaged.
  package var lacksDamaged: Bool

  package init(
    startedAt: BackendMoment? = nil, mayBeCut: Bool = false, lacksDamaged: Bool = false
  ) {
    self.startedAt = startedAt
    self.mayBeCut = mayBeCut
    self.lacksDamaged = lacksDamaged
  }

  /// Whether what the answer does not have is not there.
  package var isComplete: Bool { !mayBeCut && !lacksDamaged }

  /// Adds the answer to a later part of the same read. The whole lacks what any part lacks, and began when the first part
  /// did: what changed during the later ones is asked for as well.
  package mutating func append(_ later: ReadAnswer) {
    mayBeCut = mayBeCut || later.mayBeCut
    lacksDamaged = lacksDamaged || later.lacksDamaged
  }
}

extension ReadAnswer? {
  /// Adds the answer to the next part of a read, or to its first.
  package mutating func append(_ part: ReadAnswer) {
    if self == nil { self = part } else { self?.append(part) }
  }
}

package struct CountAnswer: Sendable, Equatable {
  package var count: Int
  package var startedAt: BackendMoment?
  package init(count: Int, startedAt: BackendMoment?) {
    self.count = count
    self.startedAt = startedAt
  }
}

/// What travels with a call: how long, how often, who may stop it, who watches, what the application adds.
package struct Call: Sendable {
  package var deadline: Deadline
  package var cancellation: Cancellation
  package var progress: Progress
  package var retry: Retry
  /// Hears how many entities a find will bring, where the backend can tell; nil: not wanted.
  package var counted: Progress.Part?
  /// Hears of each write that will not be sent any more, and why.
  package var quarantined: @Sendable (PendingWrite, StoreError) -> Void = { _, _ in }
  /// Hears of each write that the backend has accepted; `stored`: what it has now, if it says so.
  package var accepted: @Sendable (PendingWrite, _ stored: [UInt8]?) -> Void = { _, _ in }
  /// Hears which data the backend has, before each outcome of a write and the answer to a find by id; nil: the answer does not
  /// say.
  package var answered: @Sendable (BackendData?) -> Void = { _ in }
  /// Receives the records that a read has changed locally; may be nil.
  package var received: (@Sendable ([ReceivedRecord]) -> Void)?
  /// Hears of each version of the backend's that a write has replaced unseen; `theirs` nil: it was deleted there.
  package var overwritten: @Sendable (_ id: String, _ theirs: [UInt8]?) -> Void = { _, _ in }
  /// Hears of each write that was given up for what the backend has; `ours` nil: a deletion.
  package var replaced: @Sendable (PendingWrite, _ ours: [UInt8]?) -> Void = { _, _ in }
  /// Hears of each write of which something was given up for what the backend has, and of both versions; nil: a deletion.
  package var discarded: @Sendable (PendingWrite, _ ours: [UInt8]?, _ theirs: [UInt8]?) -> Void = {
    _, _, _ in
  }
  package var conflicts: ConflictStrategy
  /// How `merge` and `automerge` treat lists that both sides have changed.
  package var mergeRules = MergeRules()
  /// The tokens of the writes that are sent with this call, by their entities. A token stands for what one write makes of one
  /// entity: a backend that keeps tokens carries it out once, however often it is sent.
  package var tokens: [RecordID: String] = [:]
  /// Whether what would be discarded stays as an open conflict.
  package var keepsDiscarded = false
  /// Whether a push sends what was set aside as well.
  package var retriesQuarantined = false
  /// The members that the application's entities have: a save keeps the others of what is stored; nil: all.
  package var known: KnownMembers?
  package var clientAppVersion: String?
  /// A JSON object as text.
  package var customRequestProperties: String?

  package init(
    deadline: Deadline = .after(seconds: 60), cancellation: Cancellation = Cancellation(),
    progress: Progress = Progress(), retry: Retry = .off,
    conflicts: ConflictStrategy = .clientWins, clientAppVersion: String? = nil,
    customRequestProperties: String? = nil
  ) {
    self.deadline = deadline
    self.cancellation = cancellation
    self.progress = progress
    self.retry = retry
    self.conflicts = conflicts
    self.clientAppVersion = clientAppVersion
    self.customRequestProperties = customRequestProperties
  }

  /// The same call, to send these writes of the queue.
  func sending(_ writes: some Sequence<OutgoingWrite>) -> Call {
    var call = self
    for sent in writes { call.tokens[RecordID(sent.write.id)] = sent.token }
    return call
  }

  /// The same call, to send the writes of these entities. `revision`: a number that no other write of the entity has.
  func sending(_ writes: some Sequence<(id: String, revision: Int64)>) -> Call {
    var call = self
    for (id, revision) in writes { call.tokens[RecordID(id)] = String(revision, radix: 16) }
    return call
  }

  /// What local work for this call may take: until its deadline, or until it is cancelled.
  package var budget: WorkBudget {
    WorkBudget(until: deadline) { [cancellation] in cancellation.isCancelled }
  }
}
