internal import KVBase
internal import KVHTTP
internal import KVJSON
package import KVSync
internal import KVTransport

extension KinveyRemote {
  package func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    let headers: KinveyHeaders
    do throws(StoreError) {
      headers = try service.headers(try service.userCredentials(), call)
    } catch {
      for index in writes.indices { outcome(index, .failure(error)) }
      return
    }
    let indices = writes.indices.filter { index in
      guard let error = writes[index].urlError else { return true }
      outcome(index, .failure(error))
      return false
    }
    service.transport.exchangeAll(
      indices.count, concurrency: service.configuration.connections, until: call.deadline,
      cancellation: call.cancellation
    ) { (number) throws(TransportError) in
      do throws(StoreError) {
        return try request(
          for: writes[indices[number]], in: collection, headers: headers, tokens: call.tokens)
      } catch {
        throw TransportError.outOfMemory
      }
    } outcome: {
      let index = indices[$0]
      let write = writes[index]
      if case .success(let response) = $1 {
        service.extensions.observe(
          write: response.head, isStored: write.isUpdate && response.head.isSuccess)
      }
      call.progress.update { $0.bytesDone &+= UInt64(write.byteCount) }
      let result = self.outcome(of: write, $1, hiding: headers.secrets)
      call.answered((try? $1.get())?.head.data)
      if case .batch = write, case .failure(let error) = result, error.kind == .unsupported {
        service.extensions.refusedBatch()
      }
      if Self.refusesOperators(write, result) {
        service.extensions.refusedOperators(in: collection)
      }
      outcome(index, result)
    }
  }

  private func request(
    for write: RemoteWrite, in collection: String, headers: KinveyHeaders,
    tokens: [RecordID: String]
  ) throws(StoreError) -> HTTPRequest {
    func url(_ id: String...) -> String { service.endpoint.url(.data, [collection] + id) }
    return switch write {
    case .create(let entity):
      service.request(
        "POST", url(), headers: headers, body: Self.body(entity, creating: write.created)
      ).with(tokens.list(for: [MultiInsert.id(of: entity)]))
    case .createMany(let entities):
      try service.request(
        "POST", url(), headers: headers,
        body: Self.body(entities.jsonArray(or: StoreError.noMemory), creating: write.created)
      ).with(service.extensions.keepsTokens ? tokens.list(for: entities.map(MultiInsert.id)) : nil)
    case .update(let id, let entity, let condition, _):
      service.request("PUT", url(id), headers: headers, body: body(entity, if: condition))
        .with(condition).with(tokens[RecordID(id)])
    case .delete(let id, _) where KinveyEndpoint.Family.data.hasOperation(id):
      service.request("DELETE", self.url(of: id, in: collection), headers: headers)
    case .delete(let id, let condition):
      service.request("DELETE", url(id), headers: headers)
        .with(condition).with(tokens[RecordID(id)])
    case .change(let id, let updates):
      service.request("PATCH", url(id), headers: headers, body: .bytes(updates))
        .with(tokens[RecordID(id)])
    case .batch(let writes):
      try service.request(
        "POST", url("_batch"), headers: headers,
        body: Self.body(WriteBatch.body(of: writes), creating: write.created)
      ).with(tokens.list(for: writes.map(\.id)))
    }
  }

  /// A backend that compares versions and keeps no tokens takes an update that is sent again for a conflict: so the transport
  /// must not do that unnoticed.
  private func body(_ entity: [UInt8], if condition: RemoteCondition) -> HTTPBody {
    condition == .none || !keepsConditions || keepsTokens ? .bytes(entity) : .once(entity)
  }

  /// A create that is repeated is recognised by its id. Without one it would happen twice.
  private static func body(_ bytes: [UInt8], creating entities: [[UInt8]]) -> HTTPBody {
    entities.allSatisfy { MultiInsert.id(of: $0) != nil } ? .bytes(bytes) : .once(bytes)
  }

  // MARK: Outcomes

  /// Whether operators were refused, alone or in a batch.
  private static func refusesOperators(
    _ write: RemoteWrite, _ result: Result<RemoteOutcome, StoreError>
  ) -> Bool {
    switch (write, result) {
    case (.change, .failure(let error)): error.kind == .unsupported
    case (.batch(let writes), .success(.batch(let results))):
      zip(writes, results).contains { refusesOperators($0, $1) }
    default: false
    }
  }

  private func outcome(
    of write: RemoteWrite, _ result: Result<HTTPResponse, TransportError>, hiding secrets: [String]
  ) -> Result<RemoteOutcome, StoreError> {
    if case .success(let response) = result, response.head.isSuccess {
      do throws(StoreError) { try service.check(response.head) } catch { return .failure(error) }
    }
    return Self.outcome(of: write, result, hiding: secrets)
  }

  private static func outcome(
    of write: RemoteWrite, _ result: Result<HTTPResponse, TransportError>, hiding secrets: [String]
  ) -> Result<RemoteOutcome, StoreError> {
    let response: HTTPResponse
    switch result {
    case .success(let answer): response = answer
    case .failure(let error): return .failure(StoreError(error))
    }
    guard response.head.isSuccess else {
      let error = KinveyErrors.error(response.head, response.body, hiding: secrets)
      switch write {
      case .delete where error.saysNotThere: return .success(.deleted(0))
      case .change where [405, 501].contains(response.head.status):
        var unsupported = error
        (unsupported.kind, unsupported.statedClass) = (.unsupported, nil)
        return .failure(unsupported)
      case .batch where error.saysNoSuchRoute:
        var unsupported = error
        (unsupported.kind, unsupported.statedClass) = (.unsupported, nil)
        return .failure(unsupported)
      default: return .failure(error)
      }
    }
    do throws(StoreError) {
      return .success(try outcome(of: write, response, hiding: secrets))
    } catch {
      return .failure(error)
    }
  }

  private static func outcome(
    of write: RemoteWrite, _ response: HTTPResponse, hiding secrets: [String]
  ) throws(StoreError) -> RemoteOutcome {
    switch write {
    case .create(let entity):
      return .stored(try response.stored(as: MultiInsert.id(of: entity)))
    case .update(let id, _, _, _), .change(let id, _):
      return .stored(try response.stored(as: id))
    case .createMany(let entities):
      return .storedMany(try MultiInsert.results(for: entities, response, hiding: secrets))
    case .delete: return .deleted(try response.deletedCount())
    case .batch(let writes):
      // Each is what a request of its own would have been answered.
      let answers = try WriteBatch.answers(in: response)
      return .batch(
        writes.enumerated().map { index, write in
          guard index < answers.count, let answer = answers[index] else {
            return .failure(
              KinveyErrors.unusable(
                response.head, "The backend's answer has no result for this write."))
          }
          return outcome(of: write, .success(answer), hiding: secrets)
        })
    }
  }
}

extension HTTPRequest {
  /// The same with a token by which our server recognises it when it comes again; others ignore that.
  func with(_ token: String?) -> HTTPRequest {
    guard let token else { return self }
    var request = self
    request.headers.append(HTTPHeader("X-Kvstored-Write-Token", token))
    return request
  }

  /// The same, to be carried out only if the condition holds: an extension of our server, which others
  /// ignore.
  func with(_ condition: RemoteCondition) -> HTTPRequest {
    var request = self
    switch condition {
    case .none: break
    case .version(let version), .matches(_, let version):
      request.headers.append(HTTPHeader("If-Match", "\"\(version)\""))
    case .isMissing: request.headers.append(HTTPHeader("If-None-Match", "*"))
    }
    return request
  }
}

extension HTTPResponse {
  /// The stored entity. It must have the id that was sent: anything else would end up in the wrong
  /// row.
  fileprivate func stored(as id: String?) throws(StoreError) -> [UInt8] {
    let storedId = try entityId()
    guard id.map({ $0.utf8.elementsEqual(storedId.utf8) }) ?? true else {
      throw KinveyErrors.unusable(head, "The backend stored the entity under another id.")
    }
    return body
  }
}

extension StoreError {
  /// Whether the entity to be deleted no longer exists.
  fileprivate var saysNotThere: Bool {
    answer?.error == "EntityNotFound" || answer?.error == "CollectionNotFound"
  }

  /// The backend knows no such path.
  fileprivate var saysNoSuchRoute: Bool { answer?.status == 404 && answer?.error == "NotFound" }
}

extension [RecordID: String] {
  /// The tokens of writes to these entities, as the header of a request takes them; nil: none has one.
  fileprivate func list(for ids: [String?]) -> String? {
    let tokens = ids.map { id in id.flatMap { self[RecordID($0)] } }
    guard tokens.contains(where: { $0 != nil }) else { return nil }
    return tokens.map { $0 ?? "" }.joined(separator: ",")
  }
}

extension RemoteWrite {
  /// Why it cannot be sent: no URL leads to what it changes.
  fileprivate var urlError: StoreError? {
    switch self {
    case .create, .createMany, .batch: nil
    case .update(let id, _, _, _), .change(let id, _): KinveyEndpoint.Family.data.error(ofID: id)
    // One that is named like an operation is deleted by a query.
    case .delete(let id, _): id.isEmpty ? KinveyEndpoint.Family.data.error(ofID: id) : nil
    }
  }

  /// The id of the one entity that it writes; nil: the backend chooses it, or there are several.
  fileprivate var id: String? {
    switch self {
    case .create(let entity): MultiInsert.id(of: entity)
    case .update(let id, _, _, _), .delete(let id, _), .change(let id, _): id
    case .createMany, .batch: nil
    }
  }

  fileprivate var isUpdate: Bool { if case .update = self { true } else { false } }

  /// The entities that it creates by POST.
  fileprivate var created: [[UInt8]] {
    switch self {
    case .create(let entity): [entity]
    case .createMany(let entities): entities
    case .batch(let writes): writes.flatMap(\.created)
    case .update, .delete, .change: []
    }
  }

  /// How many bytes its entities have.
  var byteCount: Int {
    switch self {
    case .create(let entity), .update(_, let entity, _, _): entity.count
    case .createMany(let entities): entities.reduce(0) { $0 + $1.count }
    case .change(_, let updates): updates.count
    case .delete: 0
    case .batch(let writes): writes.reduce(0) { $0 + $1.byteCount }
    }
  }
}
