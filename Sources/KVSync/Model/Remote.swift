package import KVBase
package import KVJSON
package import KVQuery

/// A backend, as far as synchronising needs to know it: what is read and written, not how it travels.
///
/// Every method blocks its thread until the answer is complete and may be called from any thread.
package protocol Remote: AnyObject, Sendable {
  /// Reads what matches; hands the body on in pieces, on the calling thread, as they arrive:
  /// a JSON array of entities. If `receive` throws, the transfer stops and that error comes out.
  func find(
    _ query: Query, in collection: String, _ call: Call,
    receive: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer

  /// Reads what of a query's entities has changed since a moment that the backend has named, and hands the
  /// body on as `find` does: `{"changed":[…],"deleted":[{"_id":…}]}`, and perhaps `"left":[{"_id":…}]`, what
  /// has changed and does not match any more. Nil if the backend cannot tell, and everything has to be read.
  func changes(
    of query: Query, since: String, in collection: String, _ call: Call,
    receive: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer?

  /// Reads one entity.
  func find(id: String, in collection: String, _ call: Call) throws(StoreError) -> [UInt8]

  /// How many requests it carries at once; with 1 all come from one thread.
  var connections: Int { get }

  func count(_ query: Query, in collection: String, _ call: Call) throws(StoreError) -> CountAnswer

  /// Groups what a query's filter selects; gives the backend's answer, an array with an object for each
  /// group. Fails with `unsupported` if it does not understand the function.
  func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> [JSONObject]

  /// Deletes what matches; gives how many.
  func remove(_ query: Query, in collection: String, _ call: Call) throws(StoreError) -> Int

  /// Whether it is known to keep the conditions of writes. One that does not ignores them.
  var keepsConditions: Bool { get }

  /// How many writes of any kind it is known to take in one request; 1: only creates go together.
  var maxBatchWrites: Int { get }

  /// Sends writes, at most `connections` at a time, and hands over each outcome, one after the other,
  /// on the calling thread, in whatever order they end. It returns when all have ended. After a
  /// cancellation the rest ends with `.cancelled`.
  func send(
    _ writes: [RemoteWrite], in collection: String, _ call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  )
}

extension Remote {
  package var connections: Int { 1 }
  package var keepsConditions: Bool { false }
  package var maxBatchWrites: Int { 1 }
}

extension Remote {
  /// For backends that cannot.
  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> [JSONObject] {
    throw StoreError(.unsupported, "This backend makes no groups.")
  }
}

/// A request for groups, in the backend's language.
package struct RemoteGroups: Sendable, Equatable {
  package var keys: [String]
  /// What each group's result begins with.
  package var initial: JSONObject
  /// JavaScript: `function(doc, out) { … }`.
  package var reduce: String

  package init(keys: [String], initial: JSONObject, reduce: String) {
    self.keys = keys
    self.initial = initial
    self.reduce = reduce
  }
}

/// One request of a push.
package indirect enum RemoteWrite: Sendable, Equatable {
  /// One new entity; its bytes have an `_id` (chosen by us, or none in a network store).
  case create([UInt8])
  /// New entities, at most 100, in one request.
  case createMany([[UInt8]])
  /// Creates or replaces the entity of this id.
  case update(id: String, [UInt8], if: RemoteCondition = .none)
  case delete(id: String, if: RemoteCondition = .none)
  /// Creates, updates and deletions in one request, each to another entity and with a result of its own; at most
  /// `maxBatchWrites`. A backend that turns out to take none fails it with `unsupported`.
  case batch([RemoteWrite])
}

/// What must be true of the backend's entity for a write to be carried out; else it fails with `.conflict`,
/// or with `.notFound` if there is none.
package enum RemoteCondition: Sendable, Equatable {
  case none
  /// It is of this version.
  case version(RecordVersion)
  /// There is none.
  case isMissing
}

/// What came of one request that the backend carried out.
package indirect enum RemoteOutcome: Sendable, Equatable {
  /// The entity as the backend stored it.
  case stored([UInt8])
  /// One result for each entity of a `createMany`, in its order.
  case storedMany([Result<[UInt8], StoreError>])
  /// How many were deleted; 0 when it was not there (404).
  case deleted(Int)
  /// What came of each write of a `batch`, in its order.
  case batch([Result<RemoteOutcome, StoreError>])
}

package struct ReadAnswer: Sendable, Equatable {
  /// When the backend began to evaluate the read, if it says so.
  package var startedAt: BackendMoment?
  package init(startedAt: BackendMoment?) { self.startedAt = startedAt }
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
  /// Hears how many entities a find will bring, where the backend can tell; nil: nobody wants to know.
  package var counted: Progress.Part?
  /// Hears of each write that will not be sent any more, and why.
  package var quarantined: @Sendable (_ id: String, StoreError) -> Void = { _, _ in }
  package var conflicts: ConflictStrategy
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

  /// What local work for this call may take: until its deadline, or until it is cancelled.
  package var budget: WorkBudget {
    WorkBudget(until: deadline) { [cancellation] in cancellation.isCancelled }
  }
}
