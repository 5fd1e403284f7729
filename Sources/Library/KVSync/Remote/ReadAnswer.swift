/// What a backend says of the answer to a read.
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
