internal import KVQuery

/// The query that a URL's parameters describe.
enum QueryParameters {
  static func read(_ call: AuthenticatedRequest) throws(ServerError) -> Query {
    var query: Query
    do throws(QueryError) {
      query = try Query(filter: call["query"])
      if let sort = call["sort"], !sort.isEmpty { try query.sort(parsing: sort) }
    } catch {
      throw ServerError(error)
    }
    if let fields = call["fields"] { query.fields = Query.fields(parsing: fields) }
    query.skip = try number("skip", call) ?? 0
    query.limit = try number("limit", call).flatMap(Query.limit)
    return query
  }

  private static func number(_ name: String, _ call: AuthenticatedRequest) throws(ServerError)
    -> Int?
  {
    guard let text = call[name] else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw ServerError(
        .parameterValueOutOfRange, "\(name) must be a number that is not negative")
    }
    return number
  }
}

extension ServerError {
  /// The error for a query that a client sent and that cannot be used.
  init(_ error: QueryError) {
    let position = error.position.map { " (byte \($0))" } ?? ""
    let code: Code =
      switch error.kind {
      case .json: .jsonParseError
      case .noMemory: .internalErrorRetry
      case .syntax, .budget, .exhausted, .unsupported: .invalidQuerySyntax
      }
    self.init(code, error.message + position)
  }
}
