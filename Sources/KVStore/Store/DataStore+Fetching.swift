internal import KVClient
internal import KVQuery
internal import KVSync

extension DataStore {
  /// Fetches what a query selects, as a list that loads little by little.
  ///
  /// `batchSize`: how many entities are read together. `cacheBytes`: how much of what was read is kept.
  public func results(
    _ query: Query<Entity> = Query(), batchSize: Int = 100, cacheBytes: Int = 4 << 20,
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Results<Entity> {
    try await results(
      .records, query, batchSize: batchSize, cacheBytes: cacheBytes, options: options)
  }

  /// The ids of what a query selects; no entity is read for them.
  public func ids(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Results<String> {
    try await results(.ids, query, batchSize: 1000, cacheBytes: 1 << 20, options: options)
  }

  /// Groups what a query selects, as `group(by:)` does, and gives the rows that another query selects of them, with its
  /// order and page.
  ///
  ///     struct City: Codable, Sendable { var city: String?; var people: Int }
  ///     let large: Results<City> = try await people.results(
  ///       by: [\.city], .count("people"), having: Query(\.people > 5).sorted(by: \.people))
  public func results<Group: Codable & Sendable>(
    by keys: [PartialKeyPath<Entity>], _ numbers: Aggregate<Entity>...,
    having rows: Query<Group> = Query(), where query: Query<Entity> = Query(),
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Results<Group> {
    var paths: [Path] = []
    for key in keys { paths.append(Path(try MemberTable<Entity>.shared.name(of: key))) }
    var members: [Grouping.Member] = []
    for number in numbers { members.append(try number.member.get()) }
    let (query, rows) = (try query.built.get(), try rows.built.get())
    var request = ResultsRequest()
    request.content = .groups(Grouping(keys: paths, members: members), having: rows.filter)
    let wanted = request
    let fetched = try await reading(options) { (core, run) throws(StoreError) in
      try core.fetch(wanted, query, rows: rows, run: run).value
    }
    return Results(fetched, of: self)
  }

  private func results<Row>(
    _ content: ResultsRequest.Content, _ query: Query<Entity>, batchSize: Int,
    cacheBytes: Int, options: CallOptions
  ) async throws(KVStoreError) -> Results<Row> {
    let query = try query.built.get()
    var request = ResultsRequest()
    request.content = content
    request.batchSize = max(1, batchSize)
    request.cacheBytes = max(0, cacheBytes)
    let wanted = request
    let fetched = try await reading(options) { (core, run) throws(StoreError) in
      try core.fetch(wanted, query, run: run).value
    }
    return Results(fetched, of: self)
  }
}
