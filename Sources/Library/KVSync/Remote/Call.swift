package import KVBase
package import KVJSON

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
