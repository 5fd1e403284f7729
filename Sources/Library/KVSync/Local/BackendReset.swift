package import KVJSON

/// What a client does with data that the backend has confirmed and has no more, because the backend went back to an older
/// copy of its data.
package enum BackendResetPolicy: String, Sendable, CaseIterable {
  /// It stays here and is set aside, for the application to decide.
  case keep
  /// It is queued again, on the condition that the backend has what it went back to.
  case resend
  /// What the backend has replaces it.
  case accept
}

/// A version, or a deletion, that the backend has confirmed and has no more.
package struct LostVersion: Sendable, Equatable {
  package var id: String
  /// Whether a deletion was confirmed: the backend has the entity again.
  package var isDeletion: Bool
  /// What was confirmed; of a deletion, what it removed.
  package var version: RecordVersion
  /// What the backend has now; nil: nothing.
  package var remoteVersion: RecordVersion?
  /// Whether it is queued again; else it is set aside.
  package var isQueued = false

  package init(
    id: String, isDeletion: Bool = false, version: RecordVersion, remoteVersion: RecordVersion?
  ) {
    self.id = id
    self.isDeletion = isDeletion
    self.version = version
    self.remoteVersion = remoteVersion
  }
}

/// What becomes of a change of a version that the backend has lost, whether or not it has it again.
package enum LostBaseFate: Sendable {
  /// It is sent over what the backend went back to, or over the version that another device has sent again.
  case sentAgain
  /// It is a conflict for the application to decide, whatever the strategy.
  case setAside
}

/// What the local data does about a backend that went back, and who hears of it.
package struct BackendResetRule: Sendable {
  package var policy: BackendResetPolicy
  /// Receives what was kept or queued, after it is stored: the collection and some of its entities. Must not wait.
  private var report: @Sendable (String, [LostVersion]) -> Void

  package init(
    _ policy: BackendResetPolicy = .accept,
    report: @escaping @Sendable (String, [LostVersion]) -> Void = { _, _ in }
  ) {
    self.policy = policy
    self.report = report
  }

  /// Says what was kept or queued, if anything was.
  package func tell(_ lost: [LostVersion], of collection: String) {
    if !lost.isEmpty { report(collection, lost) }
  }
}
