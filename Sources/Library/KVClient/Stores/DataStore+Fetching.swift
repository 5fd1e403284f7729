package import KVQuery
package import KVSync

extension DataStore {
  /// What a query finds, as a list that loads little by little: see kv_store_results.
  ///
  /// `rows`: the order and the page of the rows of groups; nil: those of the query.
  package func fetch(
    _ request: ResultsRequest, _ query: Query, rows: Query? = nil, run: Run
  ) throws(StoreError) -> Answered<FetchedResults> {
    var request = request
    if case .groups(let grouping, let having) = request.content {
      request.content = .groups(grouping.renamed(by: names), having: having)
    }
    let later: CollectionEngine.LaterRead = { [self] (body) throws(StoreError) in
      try perform("read batch", as: .read, Run(run.options), body: body)
    }
    let logouts = context.openResults.logouts
    let found = try perform("fetch", as: .read, run) { (options) throws(StoreError) in
      try engine.fetch(request, named(query), groups: rows ?? query, options: options, later: later)
    }
    context.openResults.add(found.value, begunAfter: logouts)
    return found
  }

  /// Brings records up to date with what the backend has of them, as the read policy says; for contexts.
  func update(ids: [String], run: Run) throws(StoreError) {
    _ = try perform("read batch", as: .read, run) { (options) throws(StoreError) in
      try engine.update(ids, options)
    }
  }
}
