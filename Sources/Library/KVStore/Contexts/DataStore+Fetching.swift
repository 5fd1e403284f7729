internal import KVClient
internal import KVQuery
internal import KVSync

extension DataStore {
  /// Fetches what a query selects, as a list that loads little by little.
  ///
  /// `batchSize`: how many entities are read together. `cacheBytes`: how much of what was read is kept. `returnsFaults`:
  /// of a read of the backend, the ids come at once, and the entities of a batch when one of them is touched, with one
  /// request; nil: in network stores.
  public func results(
    _ query: Query<Entity> = Query(), batchSize: Int = 100, cacheBytes: Int = 4 << 20,
    returnsFaults: Bool? = nil, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Results<Entity> {
    var request = ResultsRequest()
    request.batchSize = max(1, batchSize)
    request.cacheBytes = max(0, cacheBytes)
    request.returnsFaults = returnsFaults
    return try await results(request, query, options: options)
  }

  /// The ids of what a query selects; no entity is read for them.
  public func ids(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Results<String> {
    var request = ResultsRequest()
    request.content = .ids
    request.batchSize = 1000
    request.cacheBytes = 1 << 20
    return try await results(request, query, options: options)
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
    _ request: ResultsRequest, _ query: Query<Entity>, options: CallOptions
  ) async throws(KVStoreError) -> Results<Row> {
    let query = try query.built.get()
    let fetched = try await reading(options) { (core, run) throws(StoreError) in
      try core.fetch(request, query, run: run).value
    }
    return Results(fetched, of: self)
  }
}
