internal import KVBase
package import KVQuery

/// The indexes of collections, which the administrator chooses, or `AutomaticIndexes`. Only `IndexBuilder` and one request at a
/// time need to make progress with them: everything is stored, and the next call goes on.
package protocol IndexStore: Sendable {
  /// In the order in which they were added.
  func indexes(of collection: CollectionKey) throws(ServerError) -> [CollectionIndex]

  /// Adds an index, which `buildNext` fills; the collection is made if there is none. One of the same name and keys stays as it is; with
  /// other keys, or if there are `CollectionIndex.maxCount`, this throws. An automatic one with the same keys becomes this one, as
  /// far as it is filled.
  func add(_ spec: IndexSpec, to collection: CollectionKey) throws(ServerError)

  /// Ends the use of an index, whose rows `buildNext` may still have to remove. False: no index has this name.
  func remove(_ name: String, from collection: CollectionKey) throws(ServerError) -> Bool

  /// Does a step of the work that is left, in a transaction of its own: others write before and after it. False: there is no
  /// work.
  func buildNext() throws(ServerError) -> Bool

  /// Adds an automatic index, which `buildNext` fills as well. True if it is there now; false if it is not to
  /// be: there are too many, or another one has its keys. One that comes to take more than `rules` allow is removed while it
  /// is filled.
  func addAutomatic(
    _ spec: IndexSpec, to collection: CollectionKey, within rules: IndexLedger.Rules
  ) throws(ServerError) -> Bool

  /// Removes such an index; false if another server has used it in the last minutes, so it stays. One that has become the
  /// administrator's stays too, and is no automatic one any more.
  func removeAutomatic(_ name: String, from collection: CollectionKey) throws(ServerError) -> Bool

  /// Tells other servers that an index is used.
  func recordUse(of name: String, in collection: CollectionKey) throws(ServerError)

  /// About how many entities a collection has.
  func size(of collection: CollectionKey) throws(ServerError) -> Int

  /// How the indexes of a collection answer a query now; nil: not at all.
  func use(for query: Query, in collection: CollectionKey) throws(ServerError) -> IndexUse?
}

/// An index of a collection.
package struct CollectionIndex: Sendable {
  package enum State: String, Sendable {
    /// The index is being filled; no query uses it.
    case building
    case ready
    /// An entity has a value that cannot be in it, such as a number beyond 64-bit floating point. No query uses it.
    case unusable
  }

  /// The largest number of indexes of one collection that the administrator may add: each costs every write.
  package static let maxCount = 16

  package let spec: IndexSpec
  package let state: State

  package init(_ spec: IndexSpec, isReady: Bool, shape: IndexShape) {
    self.spec = spec
    state =
      shape == .unusable
      ? .unusable : isReady && shape.isUsable && !spec.isOutdated ? .ready : .building
  }

  /// What adding an index comes to.
  package enum Addition: Equatable, Sendable {
    case make
    /// It is there already.
    case nothing
    /// The automatic index of this name has its keys, and gets its name.
    case takeOver(String)
  }

  /// What `IndexStore.add` has to do beside the indexes that a collection has.
  package static func addition(
    of spec: IndexSpec, beside known: [IndexSpec]
  ) -> Result<Addition, ServerError> {
    let alike = known.first { $0.automatic != nil && !$0.isOutdated && $0.hasKeys(of: spec) }
    if let other = known.first(where: { $0.name.hasSameBytes(as: spec.name) }), other != alike {
      guard other.renewed == spec else {
        return .failure(
          ServerError(.inputValidationFailed, "there is an index \(spec.name) with other keys"))
      }
      return .success(.nothing)
    }
    guard known.count(where: { $0.automatic == nil }) < maxCount else {
      return .failure(
        ServerError(.inputValidationFailed, "a collection has at most \(maxCount) indexes"))
    }
    return .success(alike.map { .takeOver($0.name) } ?? .make)
  }

  /// Whether `IndexStore.addAutomatic` has to make an index beside those that a collection has; nil: it is there already.
  package static func isNew(
    automatic spec: IndexSpec, beside known: [IndexSpec], within rules: IndexLedger.Rules
  ) -> Bool? {
    if let other = known.first(where: { $0.name.hasSameBytes(as: spec.name) }) {
      return other.automatic == nil ? false : nil
    }
    return known.count { $0.automatic != nil } < rules.maxIndexes
      && !known.contains { $0.hasKeys(of: spec) }
  }
}
