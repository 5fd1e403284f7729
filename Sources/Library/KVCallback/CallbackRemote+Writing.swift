internal import KVBase
internal import KVJSON
package import KVSync

extension CallbackRemote {
  /// Sends each request's writes together, up to `requestsAtOnce` requests at a time, and waits for them in their order.
  package func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    guard !backend.handler.handles(.save) else {
      return save(writes, in: collection, call: call, outcome: outcome)
    }
    var begun = FIFO<(index: Int, request: Result<PendingRequest, StoreError>)>()
    func finishFirst() {
      guard let (index, request) = begun.popFirst() else { return }
      outcome(
        index,
        Result { () throws(StoreError) in
          try self.outcome(of: writes[index], try AnswerObject(request.get().wait(call)))
        })
    }
    for index in writes.indices {
      if begun.count == description.requestsAtOnce { finishFirst() }
      begun.append(
        (
          index,
          Result { () throws(StoreError) in
            if call.cancellation.isCancelled {
              throw StoreError(.cancelled, "The call was cancelled.")
            }
            return try backend.begin(.write, request(writes[index], in: collection))
          }
        ))
    }
    while begun.count > 0 { finishFirst() }
  }

  // MARK: Requests

  private func request(
    _ write: RemoteWrite, in collection: String
  ) throws(StoreError) -> [UInt8] {
    var request = JSONObjectWriter()
    request.add("collection", .string(collection))
    request.add(
      "writes", json: try write.singles.map(element(of:)).jsonArray(or: StoreError.noMemory))
    return request.bytes
  }

  private func element(of write: RemoteWrite) throws(StoreError) -> [UInt8] {
    switch write {
    case .create(let record):
      let (id, record) = try identified(record)
      return element("create", id: id, record: record, if: .none)
    case .update(let id, let record, let condition, _):
      return element("update", id: id, record: record, if: condition)
    case .delete(let id, let condition): return element("delete", id: id, if: condition)
    case .createMany, .batch: throw StoreError(.internal, "A batch cannot contain a batch.")
    case .change: throw .noOperators
    }
  }

  /// A new record with its id, which is made here if it has none: what is repeated must be known again.
  func identified(_ record: [UInt8]) throws(StoreError) -> (id: String, [UInt8]) {
    let format = description.format
    let outline: EntityOutline
    do throws(JSONError) { outline = try EntityScanner.outline(of: record, format) } catch {
      throw StoreError(.invalid, error.message)
    }
    if let id = outline.id { return (id, record) }
    let id = Identifier.entity()
    return (
      id,
      record.withUnsafeBytes {
        EntityEditing.inserting(id: id, into: $0, outline: outline, format: format)
      }
    )
  }

  private func element(
    _ operation: String, id: String, record: [UInt8]? = nil, if condition: RemoteCondition
  ) -> [UInt8] {
    var element = JSONObjectWriter(reservingCapacity: (record?.count ?? 0) + 128)
    element.add("op", .string(operation))
    element.add("id", description.idValue(ofKey: id))
    switch condition {
    case .none: break
    case .version(let version), .matches(_, let version):
      element.add("if", json: description.versionText(version).utf8)
    case .isMissing: element.add("if", .null)
    }
    if let record { element.add("record", json: record) }
    return element.bytes
  }

  // MARK: Outcomes

  /// What an answer says of each write. Where it ends too early the rest is undecided; it never has more.
  private func outcome(
    of write: RemoteWrite, _ answer: AnswerObject
  ) throws(StoreError) -> RemoteOutcome {
    let ranges = try answer.elements("results")
    let singles = write.singles
    guard ranges.count <= singles.count else {
      throw .badAnswer("The backend's answer has more results than there were writes.")
    }
    let results = singles.indices.map { index in
      Result { () throws(StoreError) in
        guard index < ranges.count else {
          throw .badAnswer("The backend's answer has no result for this write.")
        }
        return try result(of: singles[index], answer.object(at: ranges[index]))
      }
    }
    switch write {
    case .batch: return .batch(results)
    case .createMany:
      return .storedMany(results.map { $0.flatMap { (outcome) in outcome.storedRecord } })
    case .create, .update, .delete, .change: return try results[0].get()
    }
  }

  private func result(
    of write: RemoteWrite, _ result: AnswerObject
  ) throws(StoreError) -> RemoteOutcome {
    if let record = result.range("stored") {
      guard !write.isDelete else {
        throw .badAnswer("The backend stored an entity that was to be deleted.")
      }
      return .stored(try result.record(at: record))
    }
    if result.has("deleted") {
      guard write.isDelete else {
        throw .badAnswer("The backend deleted an entity that was to be stored.")
      }
      guard result.range("deleted") != nil else { throw .unfitMember("deleted", "true or false") }
      return .deleted(try result.bool("deleted") ? 1 : 0)
    }
    if result.has("conflict") {
      if let range = result.range("conflict") { try check(result.record(at: range), write) }
      throw .refused(.conflict, "The backend has another version of this entity.")
    }
    if let range = result.range("refused") { throw try .refusal(result.object(at: range)) }
    if let range = result.range("later") { throw try .postponement(result.object(at: range)) }
    throw .badAnswer("The backend's answer has an unknown result of a write.")
  }
}

extension CallbackRemote {
  /// Throws `.proto` unless a record is of this backend's format, and the one that a write is about.
  private func check(_ record: [UInt8], _ write: RemoteWrite) throws(StoreError) {
    guard let id = description.format.key(of: record) else { throw .entityWithoutId }
    guard write.id.map({ $0.hasSameBytes(as: id) }) ?? true else {
      throw .badAnswer(
        "The backend answered with a different record than the one that was written.")
    }
  }
}

extension RemoteWrite {
  /// The id of the record; nil where it is not known outside of the body.
  fileprivate var id: String? {
    switch self {
    case .update(let id, _, _, _), .delete(let id, _): id
    case .change(let id, _): id
    case .create, .createMany, .batch: nil
    }
  }

  /// The writes that it consists of.
  fileprivate var singles: [RemoteWrite] {
    switch self {
    case .createMany(let records): records.map { .create($0) }
    case .batch(let writes): writes.flatMap(\.singles)
    case .create, .update, .delete, .change: [self]
    }
  }

  fileprivate var isDelete: Bool {
    if case .delete = self { true } else { false }
  }
}

extension RemoteOutcome {
  /// The record of a create.
  var storedRecord: Result<[UInt8], StoreError> {
    guard case .stored(let record) = self else {
      return .failure(.badAnswer("The backend did not store a new entity."))
    }
    return .success(record)
  }
}
