internal import KVBase
internal import KVJSON
internal import KVObjects
internal import KVSync

/// One change of a save, which a custom store makes together with the others or not at all.
struct SaveItem {
  enum Operation { case insert, update, delete }

  let operation: Operation
  let collection: String
  /// The key of the record.
  let key: String
  /// The whole record; nil for a deletion.
  let record: [UInt8]?
  /// What the store must have for the save to be carried out.
  let condition: RemoteCondition
}

/// What a custom store says of a save.
enum SaveAnswer {
  /// Everything was written. By the items: the record as it is now, nil of a deletion; whether a record to be deleted existed.
  case saved([(record: [UInt8]?, existed: Bool)])
  /// Nothing was written, because the store has other versions of these; nil: no record.
  case conflicts([(collection: String, key: String, record: [UInt8]?)])
}

extension CallbackBackend {
  /// Has a store write changes in one step.
  func save(_ items: [SaveItem], call: Call) throws(StoreError) -> SaveAnswer {
    let answer = try exchange(.save, try request(items), call: call)
    if answer.has("conflicts") {
      let conflicts = try conflicts(answer, items)
      guard !conflicts.isEmpty else { throw .unfitMember("conflicts", "an array with a conflict") }
      return .conflicts(conflicts)
    }
    if let refused = answer.range("refused") { throw try .refusal(answer.object(at: refused)) }
    return .saved(try saved(answer, items))
  }

  // MARK: The request

  private func request(_ items: [SaveItem]) throws(StoreError) -> [UInt8] {
    var request = JSONObjectWriter()
    for (name, operation) in SaveItem.Operation.names {
      let elements = items.filter { $0.operation == operation }.map(element)
      request.add(name, json: try elements.jsonArray(or: StoreError.noMemory))
    }
    return request.bytes
  }

  private func element(of item: SaveItem) -> [UInt8] {
    var element = JSONObjectWriter(reservingCapacity: (item.record?.count ?? 0) + 128)
    element.add("collection", .string(item.collection))
    element.add("id", description.idValue(ofKey: item.key))
    switch item.condition {
    case .none: break
    case .version(let version), .matches(_, let version):
      element.add("if", json: description.versionText(version).utf8)
    case .isMissing: element.add("if", .null)
    }
    if let record = item.record { element.add("record", json: record) }
    return element.bytes
  }

  // MARK: The answer

  private func saved(
    _ answer: AnswerObject, _ items: [SaveItem]
  ) throws(StoreError) -> [(record: [UInt8]?, existed: Bool)] {
    // The request has the items in this order.
    let order = SaveItem.Operation.names.flatMap { name in
      items.indices.filter { items[$0].operation == name.operation }
    }
    var saved: [(record: [UInt8]?, existed: Bool)] = items.map { ($0.record, true) }
    let written = order.filter { items[$0].record != nil }
    if answer.has("saved") {
      let ranges = try answer.elements("saved")
      guard ranges.count == written.count else {
        throw .badAnswer(
          "The store saved \(written.count) records and answered with \(ranges.count).")
      }
      for (range, index) in zip(ranges, written)
      where answer.bytes[range].first != UInt8(ascii: "n") {
        saved[index].record = try checked(answer.record(at: range), is: items[index].key)
      }
    }
    if answer.has("deleted") {
      let deleted = order.filter { items[$0].record == nil }
      let flags = try answer.value("deleted")?.arrayValue?.compactMap(\.boolValue) ?? []
      guard flags.count == deleted.count else {
        throw .unfitMember("deleted", "an array with true or false for each deletion")
      }
      for (flag, index) in zip(flags, deleted) { saved[index].existed = flag }
    }
    return saved
  }

  private func conflicts(
    _ answer: AnswerObject, _ items: [SaveItem]
  ) throws(StoreError) -> [(collection: String, key: String, record: [UInt8]?)] {
    try answer.elements("conflicts").map { (range) throws(StoreError) in
      let conflict = try answer.object(at: range)
      let collection = try conflict.text("collection") ?? ""
      guard let id = try conflict.value("id"), let key = description.key(ofID: id),
        items.contains(where: {
          $0.key.hasSameBytes(as: key) && $0.collection.hasSameBytes(as: collection)
        })
      else { throw .badAnswer("The store reported a conflict of a record that was not saved.") }
      let record = try conflict.range("record").map { (range) throws(StoreError) in
        try checked(conflict.record(at: range), is: key)
      }
      return (collection, key, record)
    }
  }

  /// Throws `.proto` unless a record is the one with a key.
  private func checked(_ record: [UInt8], is key: String) throws(StoreError) -> [UInt8] {
    guard let id = description.format.key(of: record) else { throw .entityWithoutId }
    guard id.hasSameBytes(as: key) else {
      throw .badAnswer("The store answered with a different record than the one that was saved.")
    }
    return record
  }

  // MARK: Ids

  /// Has a store choose the ids of new records, which have none yet. Gives their keys, in the order of the records.
  func obtainIDs(
    for records: [(collection: String, body: [UInt8])], call: Call
  ) throws(StoreError) -> [String] {
    let objects = records.map { (collection, body) in
      var object = JSONObjectWriter(reservingCapacity: body.count + 64)
      object.add("collection", .string(collection))
      object.add("record", json: body)
      return object.bytes
    }
    var request = JSONObjectWriter()
    request.add("objects", json: try objects.jsonArray(or: StoreError.noMemory))
    let answer = try exchange(.obtainIDs, request.bytes, call: call)
    let ids = try answer.value("ids")?.arrayValue ?? []
    var seen: Set<ObjectID> = []
    let keys = ids.enumerated().compactMap { (index, id) -> String? in
      guard index < records.count, let key = description.key(ofID: id) else { return nil }
      return seen.insert(ObjectID(records[index].collection, key)).inserted ? key : nil
    }
    guard ids.count == records.count, keys.count == records.count else {
      throw .badAnswer("The store did not choose a different id for each new record.")
    }
    return keys
  }
}

extension SaveItem.Operation {
  /// The members of a request, in their order.
  fileprivate static var names: [(name: String, operation: SaveItem.Operation)] {
    [("inserted", .insert), ("updated", .update), ("deleted", .delete)]
  }
}
