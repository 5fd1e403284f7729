package import KVSync

/// What a save of a context does with objects that have been changed since the context read them. It has nothing to do with the
/// option `conflicts`, which speaks of the backend.
package enum MergePolicy: String, Sendable, CaseIterable {
  /// The save fails with `.conflict`, and nothing is written.
  case error
  /// Property by property: where both sides have changed one, the stored value stays.
  case storeTrumps
  /// Property by property: where both sides have changed one, the context's value is written.
  case objectTrumps
  /// The whole object is written as the context has it.
  case overwrite
  /// The context's changes of the object are dropped.
  case rollback

  /// Throws `.invalid` for an unknown name.
  package init(named name: String) throws(StoreError) {
    guard let policy = Self.allCases.first(where: { $0.rawValue == name }) else {
      let names = Self.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw StoreError(.invalid, "The option \"mergePolicy\" must be one of \(names).")
    }
    self = policy
  }
}

/// How a conflict ends.
package enum MergeResolution: Sendable, Equatable {
  /// The object is written like this over what is stored; nil: it is deleted.
  case write([UInt8]?)
  /// The context's changes are dropped: the object is what is stored.
  case useStored
}

extension MergePolicy {
  /// What the policy makes of a conflict; nil: the save fails.
  func resolution(of conflict: MergeConflict) throws(StoreError) -> MergeResolution? {
    // Both sides have deleted it, or all that was changed are members that the backend makes.
    if let agreed = try conflict.agreement() { return agreed }
    switch self {
    case .error: return nil
    case .rollback: return .useStored
    case .overwrite: return try conflict.writingObject()
    case .storeTrumps:
      // A deletion is no property: the stored state of the object stays.
      guard conflict.object != nil, conflict.stored != nil else { return .useStored }
      return try conflict.merged(winner: .stored)
    case .objectTrumps:
      guard conflict.object != nil, conflict.stored != nil else {
        return try conflict.writingObject()
      }
      return try conflict.merged(winner: .object)
    }
  }
}
