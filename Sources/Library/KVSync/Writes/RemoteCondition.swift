package import KVJSON
package import KVQuery

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
