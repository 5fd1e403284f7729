internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync
internal import KVTransport

/// Kinvey's data operations: see `Remote`.
///
/// Reads fall back to the application's credentials while no user is logged in; writes fail with `noUser`
/// then.
package final class KinveyRemote: IDPagedRemote {
  let service: KinveyService

  package init(_ service: KinveyService) { self.service = service }

  package var keepsConditions: Bool { service.extensions.keepsConditions }
  package var keepsTokens: Bool { service.extensions.keepsTokens }
  package var comparesByLanguage: Bool { service.extensions.comparesByLanguage }
  package func carriesOutOperators(in collection: String) -> Bool {
    service.extensions.carriesOutOperators(in: collection)
  }

  package var limits: RemoteLimits {
    var limits = RemoteLimits()
    limits.connections = service.configuration.connections
    limits.recordsPerAnswer = Self.silentLimit.records
    limits.createsPerRequest = 100
    limits.bytesPerID = 255
    limits.bytesPerEntity = service.extensions.maxEntityBytes
    // Their names make an address long.
    limits.idsPerQuery = 100
    limits.writesPerBatch = service.extensions.maxBatchWrites
    return limits
  }

  // MARK: Reading

  package func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let url = service.endpoint.url(.data, [collection], query: items(of: query))
    let answer = try records(url, isCollated: !query.isRemote, call, receive: receive)
    // A query for certain ids wants to know which of them exist.
    if answer.lacksDamaged, query.namedIDs != nil {
      throw StoreError(.server, "The backend's copy of a requested entity is damaged.")
    }
    return answer
  }

  package func find(
    id: String, in collection: String, call: Call
  ) throws(StoreError) -> [UInt8] {
    guard !KinveyEndpoint.Family.data.hasOperation(id) else {
      return try findByQuery(id: id, in: collection, call)
    }
    let url = try service.endpoint.url(.data, collection, id: id)
    let answer = try service.exchange(
      "GET", url, as: try service.userOrAppCredentials(), for: .entities, call: call)
    guard try answer.entityId().hasSameBytes(as: id) else {
      throw KinveyErrors.unusable(answer.head, "The backend answered with another entity.")
    }
    call.answered(answer.head.data)
    return answer.body
  }

  /// For an id that no URL leads to.
  private func findByQuery(
    id: String, in collection: String, _ call: Call
  ) throws(StoreError) -> [UInt8] {
    let answer = try service.exchange(
      "GET", url(of: id, in: collection), as: try service.userOrAppCredentials(), for: .entities,
      call: call)
    let found: [EntityOutline]
    do throws(JSONError) { found = try EntityScanner.outlines(ofArray: answer.body) } catch {
      throw KinveyErrors.unusable(
        answer.head, "The backend's answer is not an array", cause: error)
    }
    guard let entity = found.first else {
      throw StoreError(.notFound, "There is no entity with this id.")
    }
    call.answered(answer.head.data)
    return try [UInt8](answer.body[entity.range], or: StoreError.noMemory)
  }

  /// The collection, restricted to one entity by a query.
  func url(of id: String, in collection: String) -> String {
    let filter = Query(.field(.id, [.equal(.string(id))])).filterText
    return service.endpoint.url(.data, [collection], query: [.init("query", filter)])
  }

  package func count(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> CountAnswer {
    let items = filterItems(of: query)
    let url = service.endpoint.url(.data, [collection, "_count"], query: items)
    let answer = try service.exchange(
      "GET", url, as: try service.userOrAppCredentials(), isCollated: !query.isRemote, call: call)
    return CountAnswer(count: try answer.count(), startedAt: answer.head.requestStart)
  }

  // MARK: Deleting

  package func remove(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> Int {
    // A delete without a filter is refused: everything has to be said.
    let items = [KinveyEndpoint.QueryItem("query", filterText(of: query))]
    let url = service.endpoint.url(.data, [collection], query: items)
    return try service.exchange("DELETE", url, as: try service.userCredentials(), call: call)
      .count()
  }

  // MARK: Query strings

  /// In the order in which the original client writes them.
  private func items(of query: Query) -> [KinveyEndpoint.QueryItem] {
    var items = filterItems(of: query)
    if let sort = query.sortText { items.append(.init("sort", sort)) }
    if let fields = query.fieldsText { items.append(.init("fields", fields)) }
    if query.skip > 0 { items.append(.init("skip", String(query.skip))) }
    if let limit = query.limit { items.append(.init("limit", String(limit))) }
    return items
  }

  func filterItems(of query: Query) -> [KinveyEndpoint.QueryItem] {
    query.filter == .everything ? [] : [.init("query", filterText(of: query))]
  }

  private func filterText(of query: Query) -> String { condition(query).text }

  /// The filter as this backend is to be asked.
  func condition(_ query: Query) -> JSONObject {
    service.configuration.sendsOriginalForms ? query.originalFilter : query.filter.json
  }
}

extension HTTPHead {
  /// When the backend began to evaluate the read; nil if it does not say, or not as a moment. Only our server tells
  /// which data it has.
  var requestStart: BackendMoment? {
    guard let text = self["X-Kinvey-Request-Start"], Timestamp(text) != nil else { return nil }
    return BackendMoment(text, data)
  }

  /// Which data the backend has; nil if it does not say.
  var data: BackendData? {
    self["X-Kvstored-Data-Epoch"].map {
      BackendData(epoch: $0, restored: self["X-Kvstored-Data-Restored"])
    }
  }
}
