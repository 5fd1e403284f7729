internal import KVBase
internal import KVJSON
internal import KVModels
internal import KVSync

/// Turns records into the inputs of mutations, and what the backend sends into records: see `RecordCopier`.
struct ModelRecords: Sendable {
  private let primaryKey: [String]
  /// What a client may write, the key included.
  private let writable: [String]
  private let lists: Set<String>
  /// What every record has on the backend.
  private let certain: [String]

  init(_ model: Model) {
    primaryKey = model.primaryKey
    let fields = model.fields.filter { $0.relation == nil && !$0.isReadOnly }
    writable = fields.map(\.name)
    lists = Set(fields.filter(\.isList).map(\.name))
    let values = model.fields.filter { $0.relation == nil }
    certain =
      values.filter { $0.isRequired || $0.isReadOnly }.map(\.name) + ["_version", "_lastChangedAt"]
  }

  /// The record of an item of the backend's, and whether it is a deletion.
  func record(of item: JSONObject) -> (record: [UInt8], isDeleted: Bool) {
    JSONValue.object(item).bytes.withBorrowedBytes { bytes in
      var record: [UInt8] = []
      var copier = RecordCopier(ByteScanner(bytes))
      copier.copy(objectAt: 0, to: &record)
      return (record, copier.isDeletion)
    }
  }

  /// Whether an event has the whole record. It has what the mutation selected that caused it, and null for the rest.
  func isWhole(_ item: JSONObject) -> Bool { certain.allSatisfy { item[$0]?.isNull == false } }

  // MARK: Inputs

  /// The input of a creation: what there is.
  func creation(of record: JSONObject) -> JSONObject {
    input(writable.filter { record[$0]?.isNull == false }, of: record)
  }

  /// The input of an update: what differs from what it started from, null for what is gone. A list that is sent without a
  /// change would be there twice where the backend merges.
  ///
  /// `base` nil: it is unknown what it started from, and everything is sent.
  func update(
    of record: JSONObject, from base: JSONObject?, _ version: JSONValue
  ) -> JSONObject {
    let changed = writable.filter { name in
      if primaryKey.contains(name) { return true }
      guard let base else { return true }
      return (record[name] ?? .null) != (base[name] ?? .null)
    }
    var input = input(changed, of: record)
    input["_version"] = version
    return input
  }

  /// Whether the backend may add to what it has, where it merges.
  func hasLists(_ input: JSONObject) -> Bool {
    input.members.contains { lists.contains($0.name) && !$0.value.isNull }
  }

  func deletion(of key: [JSONValue], _ version: JSONValue) -> JSONObject {
    var input = JSONObject(zip(primaryKey, key).map { JSONObject.Member($0, $1) })
    input["_version"] = version
    return input
  }

  private func input(_ names: [String], of record: JSONObject) -> JSONObject {
    JSONObject(names.map { JSONObject.Member($0, record[$0] ?? .null) })
  }
}

extension RecordFormat {
  /// The key of a record; nil if it has none.
  func key(of record: JSONObject) -> String? { key(of: id.map { record[$0.name] ?? .null }) }
}
