internal import KVBase
package import KVQuery

/// The indexes of collections, which the administrator chooses, or `AutomaticIndexes`. Only `IndexBuilder` and one request at a
/// time need to make progress with them: everything is stored, and whoever comes next goes on.
package protocol IndexStore: Sendable {
  /// In the order in which they were added.
  func indexes(of collection: CollectionKey) throws(ServerError) -> [CollectionIndex]

  /// Adds an index, which `buildNext` fills; the collection is made if there is none. One of the same name and keys stays as it is; with
  /// other keys, or if there are `CollectionIndex.maxCount`, this throws.
  func add(_ spec: IndexSpec, to collection: CollectionKey) throws(ServerError)

  /// Ends the use of an index, whose rows `buildNext` may still have to remove. False: there is none of this name.
  func remove(_ name: String, from collection: CollectionKey) throws(ServerError) -> Bool

  /// Does a step of the work that is left, in a transaction of its own: others write before and after it. False: there is no
  /// work.
  func buildNext() throws(ServerError) -> Bool

  /// Adds an index that nobody has asked for, which `buildNext` fills as well. True if it is there now; false if it is not to
  /// be: there are too many, or another one has its keys. One that comes to take more than `rules` allow is removed while it
  /// is filled.
  func addAutomatic(
    _ spec: IndexSpec, to collection: CollectionKey, within rules: IndexLedger.Rules
  ) throws(ServerError) -> Bool

  /// Removes such an index; false if another server has used it in the last minutes, so it stays.
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
    state = shape == .unusable ? .unusable : isReady ? .ready : .building
  }

  /// Whether `IndexStore.add` has to make an index beside those that a collection has; else it is there already.
  package static func isNew(
    _ spec: IndexSpec, beside known: [IndexSpec]
  ) -> Result<Bool, ServerError> {
    if let other = known.first(where: { $0.name.hasSameBytes(as: spec.name) }) {
      guard other == spec else {
        return .failure(
          ServerError(.inputValidationFailed, "there is an index \(spec.name) with other keys"))
      }
      return .success(false)
    }
    guard known.count(where: { $0.automatic == nil }) < maxCount else {
      return .failure(
        ServerError(.inputValidationFailed, "a collection has at most \(maxCount) indexes"))
    }
    return .success(true)
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
