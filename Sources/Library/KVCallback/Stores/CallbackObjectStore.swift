internal import KVBase
internal import KVJSON
internal import KVObjects
internal import KVQuery
internal import KVSync

/// A custom store as contexts have it. Every request ends at the timeout of its location, and when the store is closed.
final class CallbackObjectStore: ObjectStore {
  let metadata: ObjectStoreMetadata
  let backend: CallbackBackend
  let announcements: StoreAnnouncements
  /// Reads what a query selects, whatever of it the store evaluates itself.
  let remote: LocalFilteringRemote
  private let timeout: Double
  private let closing = Cancellation()

  init(_ store: CallbackStore, _ location: StoreLocation) throws(StoreError) {
    backend = store.backend
    announcements = store.announcements
    remote = layers(around: CallbackRemote(store.backend))
    timeout = location.timeout
    metadata = try store.load(
      location, call: Call(deadline: .after(seconds: location.timeout), cancellation: closing))
  }

  var call: Call { Call(deadline: .after(seconds: timeout), cancellation: closing) }

  func format(of collection: String) -> RecordFormat { backend.description.format }

  func close() { closing.cancel() }

  func follow(
    _ query: Query, in collection: String, _ signal: @escaping @Sendable () -> Void
  ) -> any FollowedObjects {
    FollowedStoreRecords(query, in: collection, of: self, signal)
  }

  // MARK: Ids

  var choosesIDs: Bool { backend.handler.handles(.obtainIDs) }

  func permanentIDs(
    for objects: [(collection: String, body: [UInt8])]
  ) throws(StoreError) -> [ObjectID] {
    let keys = try backend.obtainIDs(for: objects, call: call)
    return zip(objects, keys).map { ObjectID($0.collection, $1) }
  }

  // MARK: Saving

  func save(_ changes: ObjectSave) throws(StoreError) -> ObjectSaveOutcome {
    let expected = changes.updated + changes.deleted
    if !checksVersions {
      let conflicts = try conflicts(of: expected)
      guard conflicts.isEmpty else { return .conflicts(conflicts) }
    }
    let items =
      changes.inserted.map { item(.insert, $0) } + changes.updated.map { item(.update, $0) }
      + changes.deleted.map { item(.delete, $0) }
    switch try backend.save(items, call: call) {
    case .saved(let saved):
      return .saved(saved.compactMap { $0.record.map(values) })
    case .conflicts(let conflicts):
      return .conflicts(
        conflicts.map { .init(ObjectID($0.collection, $0.key), $0.record.map(values)) })
    }
  }

  /// Whether the store itself compares versions in the step in which it saves.
  private var checksVersions: Bool {
    backend.description.keepsConditions && !backend.description.format.version.isEmpty
  }

  /// The objects that have other versions than those that were read.
  private func conflicts(
    of changes: [ObjectSave.Change]
  ) throws(StoreError) -> [ObjectSaveOutcome.Stored] {
    let stored = try all(changes.map(\.id))
    return zip(changes, stored).compactMap { change, stored in
      change.version == stored?.version ? nil : .init(change.id, stored)
    }
  }

  private func item(
    _ operation: SaveItem.Operation, _ change: ObjectSave.Change
  ) -> SaveItem {
    SaveItem(
      operation: operation, collection: change.id.collection.text, key: change.id.key.text,
      record: operation == .delete ? nil : change.body,
      condition: operation == .insert ? .isMissing : condition(change))
  }

  private func condition(_ change: ObjectSave.Change) -> RemoteCondition {
    guard checksVersions else { return .none }
    // The body of an update has the version that was read; that of a deletion is empty, and an integer is its own number.
    if let version = backend.description.format.version(of: change.body) {
      return .version(version)
    }
    return change.version.map { .version(RecordVersion(String($0))) } ?? .none
  }

  /// What is stored of one object, with a number for its version.
  func values(_ record: [UInt8]) -> ObjectValues {
    guard let version = backend.description.format.version(of: record) else {
      return ObjectValues(record, version: record.fingerprint)
    }
    return ObjectValues(
      record, version: Int64(version.text) ?? Array(version.text.utf8).fingerprint)
  }
}

extension [UInt8] {
  /// A number that differs for different bytes, except for one of 2^63 pairs (FNV-1a).
  fileprivate var fingerprint: Int64 { Int64(FNV.hash(self) >> 1) }
}
