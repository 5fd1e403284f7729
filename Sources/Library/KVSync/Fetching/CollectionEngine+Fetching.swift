internal import KVBase
internal import KVJSON
package import KVQuery

extension CollectionEngine {
  /// What a query finds, for reading little by little. With the policy `both` it is the backend's answer.
  ///
  /// `groups`: the same query with the names that the rows of groups have. `later`: how a list of faults reads.
  package func fetch(
    _ request: ResultsRequest, _ query: Query, groups: Query, options: CallOptions,
    later: @escaping LaterRead
  ) throws(StoreError) -> Answered<FetchedResults> {
    let found = try source(of: request, query, groups: groups, options: options, later: later)
    let results = FetchedResults(
      found.value, batchSize: request.batchSize, cacheBytes: request.cacheBytes)
    return Answered(results, isLocal: found.isLocal)
  }

  /// The same as where the records come from. `later` nil: all come at once.
  package func source(
    of request: ResultsRequest, _ query: Query, groups: Query, options: CallOptions,
    later: LaterRead? = nil
  ) throws(StoreError) -> Answered<any RecordSource> {
    let query = query.of(format)
    func records(as form: RecordForm) throws(StoreError) -> Answered<any RecordSource> {
      try reading(options, { _ in }) { (options) throws(StoreError) in
        try localRecords(query, as: form, options)
      } remotely: { (options) throws(StoreError) in
        if let later, try listsFirst(request, query, as: form, options: options) {
          return try faults(of: query, as: form, options: options, later: later)
        }
        return try remoteRecords(query, as: form, options)
      }
    }
    switch request.content {
    case .records: return try records(as: .body(query.projection))
    case .ids: return try records(as: .id)
    case .members: return try records(as: .body(query.contentProjection))
    case .groups(let grouping, let having):
      let found = try group(.numbers(grouping), query.selection, options: options)
      let rows = try GroupRows(having: having, groups).rows(of: found.value)
      return Answered(try HeldRecords(rows), isLocal: found.isLocal)
    case .count:
      let found = try count(query, options)
      return Answered(
        try HeldRecords([JSONValue.int(Int64(found.value)).bytes]), isLocal: found.isLocal)
    }
  }

  private func localRecords(
    _ query: Query, as form: RecordForm, _ options: CallOptions
  ) throws(StoreError) -> any RecordSource {
    guard let local else { return try HeldRecords([]) }
    let rows = try local.rows(
      of: query, in: collection, writtenSince: writtenSince(options), within: options.call.budget)
    return LocalRecords(local: local, collection: collection, rows: rows, form: form, query: query)
  }

  /// The backend's answer, read from the local store, where it is then, or held in memory.
  private func remoteRecords(
    _ query: Query, as form: RecordForm, _ options: CallOptions
  ) throws(StoreError) -> any RecordSource {
    let remote = try backend(for: "read from the network")
    guard let local else { return try held(query, as: form, remote, call: options.call) }
    let refresher = Refresher(self, local, remote: remote, call: options.call)
    let rows: RecordRows
    if query.isPaged {
      // What a page left out is not here: only its own ids tell what it had.
      let refreshed = try refresher.refreshWhole(query, collectingIds: true)
      rows = try local.rows(of: refreshed.ids ?? [], in: collection).present
    } else {
      _ = try refresher.refresh(query, options.refreshing)
      rows = try local.rows(
        of: query, in: collection, writtenSince: nil, within: options.call.budget)
    }
    return LocalRecords(
      local: local, collection: collection, rows: rows, form: form,
      query: query.isPaged ? nil : query)
  }

  private func held(
    _ query: Query, as form: RecordForm, _ remote: any Remote, call: Call
  ) throws(StoreError) -> HeldRecords {
    let cursor = try answer(query, remote, call: call)
    defer { cursor.close() }
    let records = FetchedBatch(from: 0)
    while let block = try cursor.block() {
      while let text = block.next() {
        let record = UnsafeRawBufferPointer(text)
        switch form {
        case .body(nil): try records.append(record, .unchanged)
        case .body(let projection?): try records.append(projection.apply(to: record), .unchanged)
        case .id: try records.append(JSONValue.string(try id(of: record)).bytes, .unchanged)
        }
      }
    }
    return HeldRecords(records)
  }

  private func id(of record: UnsafeRawBufferPointer) throws(StoreError) -> String {
    guard let id = (try? EntityScanner.outline(of: record, format))?.id else {
      throw .entityWithoutId
    }
    return id
  }
}
