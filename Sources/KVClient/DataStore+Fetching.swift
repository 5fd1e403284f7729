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
    let logouts = context.openResults.logouts
    let found = try perform("fetch", as: .read, run) { (options) throws(StoreError) in
      try engine.fetch(request, named(query), groups: rows ?? query, options: options)
    }
    context.openResults.add(found.value, begunAfter: logouts)
    return found
  }
}
