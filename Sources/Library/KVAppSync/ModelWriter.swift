internal import KVBase
internal import KVJSON
internal import KVModels
internal import KVSync

/// Carries out the writes of one model, for one call.
struct ModelWriter {
  private let remote: AppSyncRemote
  private let table: AppSyncRemote.Table
  private let call: Call

  init(_ remote: AppSyncRemote, _ table: AppSyncRemote.Table, call: Call) {
    (self.remote, self.table, self.call) = (remote, table, call)
  }

  func outcome(of write: RemoteWrite) throws(StoreError) -> RemoteOutcome {
    switch write {
    case .create(let record): return try create(record)
    case .createMany(let records):
      return .storedMany(
        records.map { record in
          Result { () throws(StoreError) in try create(record).record }
        })
    case .update(_, let record, .isMissing, _): return try create(record)
    case .update(_, let record, .version(let version), let base):
      return try update(
        record, from: try base.map(Self.object), try Self.number(version))
    case .update(_, let record, .matches(let filter, let version), let base):
      return try update(
        record, from: try base.map(Self.object), try Self.number(version),
        if: try table.filters.condition(filter))
    case .update(let id, let record, .none, _): return try replace(id, record)
    case .delete(let id, .version(let version)):
      return try delete(id, try Self.number(version))
    case .delete(let id, .matches(let filter, let version)):
      return try delete(id, try Self.number(version), if: try table.filters.condition(filter))
    case .delete(let id, .none), .delete(let id, .isMissing):
      return try deleteAny(id)
    case .change: throw .noOperators
    case .batch(let writes):
      return .batch(
        writes.map { write in
          Result { () throws(StoreError) in try outcome(of: write) }
        })
    }
  }

  // MARK: One write

  /// A duplicate is a `.conflict`; what was deleted there is made live again.
  private func create(_ record: [UInt8]) throws(StoreError) -> RemoteOutcome {
    let object = try Self.object(record)
    do throws(StoreError) {
      return try mutate(.create, table.records.creation(of: object))
    } catch {
      guard error.saysConditionFailed, let id = table.format.key(of: object),
        let item = try item(id), item["_deleted"]?.boolValue == true
      else { throw error }
      let version = item["_version"] ?? .null
      return try mutate(.update, table.records.update(of: object, from: nil, version))
    }
  }

  /// Updates a record; throws `.notFound` if it no longer exists.
  private func update(
    _ record: [UInt8], from base: JSONObject?, _ version: JSONValue,
    if condition: JSONObject? = nil
  ) throws(StoreError) -> RemoteOutcome {
    let input = table.records.update(of: try Self.object(record), from: base, version)
    if table.records.hasLists(input) { try check(version, of: input) }
    do throws(StoreError) {
      let outcome = try mutate(.update, input, if: condition)
      return try isMerged(outcome, version) ? .merged(outcome.record) : outcome
    } catch {
      // With a condition it may be there as well: the caller looks at it.
      throw error.saysConditionFailed && condition == nil ? error.asMissing : error
    }
  }

  /// Whether the backend had another version than the one that was named: each write makes the next one. It may be an older one,
  /// if the backend went back to a copy.
  private func isMerged(
    _ outcome: RemoteOutcome, _ version: JSONValue
  ) throws(StoreError) -> Bool {
    guard let version = version.intValue,
      let stored = table.format.version(of: try outcome.record).flatMap({ Int64($0.text) })
    else { return false }
    // Any number may come.
    return stored &- version != 1
  }

  /// Throws `.conflict` if the backend has another version. A backend that merges would append a list that it has
  /// already, because the answer to an earlier attempt was lost.
  private func check(
    _ version: JSONValue, of input: JSONObject
  ) throws(StoreError) {
    guard let id = table.format.key(of: input),
      let item = try item(id), item["_version"] != version
    else { return }
    var error = StoreError(.conflict, "The backend has another version of this record.")
    error.statedClass = .conflict
    throw error
  }

  /// Creates the record, or puts it in place of whatever is there: the backend has no write without a version.
  private func replace(
    _ id: String, _ record: [UInt8]
  ) throws(StoreError) -> RemoteOutcome {
    guard let item = try item(id) else {
      return try create(record)
    }
    let (base, isDeleted) = table.records.record(of: item)
    return try update(
      record, from: isDeleted ? nil : try Self.object(base), item["_version"] ?? .null)
  }

  private func delete(
    _ id: String, _ version: JSONValue, if condition: JSONObject? = nil
  ) throws(StoreError) -> RemoteOutcome {
    let input = table.records.deletion(of: try table.values(ofKey: id), version)
    do throws(StoreError) {
      let tombstone = try mutate(.delete, input, if: condition).record
      return .deleted(1, at: table.format.version(of: tombstone))
    } catch {
      guard error.saysConditionFailed, condition == nil else { throw error }
      return .deleted(0)
    }
  }

  private func deleteAny(
    _ id: String
  ) throws(StoreError) -> RemoteOutcome {
    guard let item = try item(id) else { return .deleted(0) }
    let version = item["_version"] ?? .null
    guard item["_deleted"]?.boolValue == true else { return try delete(id, version) }
    return .deleted(0, at: version.intValue.map { RecordVersion(String($0)) })
  }

  /// What the backend has under an id, a deletion included.
  private func item(_ id: String) throws(StoreError) -> JSONObject? {
    try remote.items([id], of: table, call).first ?? nil
  }

  private func mutate(
    _ mutation: ModelDocuments.Mutation, _ input: JSONObject, if condition: JSONObject? = nil
  ) throws(StoreError) -> RemoteOutcome {
    var variables: JSONObject = ["input": .object(input)]
    if let condition { variables["condition"] = .object(condition) }
    let data = try remote.service.data(
      table.documents.document(of: mutation, isConditional: condition != nil), variables,
      in: table.modes[mutation.operation] ?? [], isMutation: true, call: call)
    guard var item = data[table.documents.field(of: mutation)]?.objectValue,
      let key = table.format.key(of: item), table.isReadable(item),
      mutation == .delete || item["_deleted"]?.boolValue != true
    else { throw .badAnswer("The backend's answer does not have the record that was written.") }
    guard table.format.key(of: input)?.hasSameBytes(as: key) ?? true else {
      throw .badAnswer("The backend answered with another record than the one that was written.")
    }
    for name in table.documents.model.ownersByRule { item[name] = nil }
    return .stored(table.records.record(of: item).record)
  }

  // MARK: Values

  private static func object(_ record: [UInt8]) throws(StoreError) -> JSONObject {
    guard let object = try JSONValue.ifValid(record)?.objectValue else {
      throw StoreError(.corrupt, "A record that was to be sent is no JSON object.")
    }
    return object
  }

  private static func number(_ version: RecordVersion) throws(StoreError) -> JSONValue {
    guard let number = Int64(version.text) else {
      throw StoreError(.corrupt, "A record's _version is no integer.")
    }
    return .int(number)
  }
}

extension RemoteOutcome {
  fileprivate var record: [UInt8] {
    get throws(StoreError) {
      switch self {
      case .stored(let record), .merged(let record, _): return record
      case .storedMany, .deleted, .batch:
        throw .badAnswer("The backend did not store a new record.")
      }
    }
  }
}

extension StoreError {
  /// Whether a condition was not met, that there is such a record above all.
  fileprivate var saysConditionFailed: Bool { answer?.error == "ConditionalCheckFailedException" }

  fileprivate var asMissing: StoreError {
    var error = self
    (error.kind, error.statedClass) = (.notFound, .refused)
    return error
  }
}
