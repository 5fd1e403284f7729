internal import KVJSON
internal import KVQuery
internal import KVSync

/// A condition, a sort order and a page of a collection. A query is a value. It is made from key paths, from a filter
/// in MongoDB's language, or from a predicate format in the syntax of `NSPredicate`.
///
///     people.find(\.age > 30 && \.city == "Reno")
///     people.find(Query(\.age > 30).sorted(by: \.name).limit(10))
///     people.find(try Query(format: "age > %@ AND name BEGINSWITH %@", 30, "A"))
///     people.find(try Query(filter: #"{"tags":{"$all":["a","b"]}}"#))
///
/// An invalid key path is reported by the call that uses the query.
public struct Query<Entity: Codable & Sendable>: Sendable {
  let built: Result<KVQuery.Query, KVStoreError>

  /// Selects everything.
  public init() { built = .success(KVQuery.Query()) }

  /// Returns the same query. It allows a sort order and a page after a condition of key paths.
  public init(_ condition: Query) { self = condition }

  /// Selects what a filter in MongoDB's language selects, such as `{"age":{"$gt":30}}`.
  public init(filter: String) throws(KVStoreError) {
    do throws(QueryError) { built = .success(try KVQuery.Query.shared(filter: filter)) } catch {
      throw KVStoreError(StoreError(error))
    }
  }

  /// Selects what a predicate format selects. Each `%@` and `%K` in it stands for the next argument.
  public init(format: String, _ arguments: any Encodable & Sendable...) throws(KVStoreError) {
    var values: [JSONValue] = []
    for argument in arguments { values.append(try JSONEncoding.value(of: argument)) }
    do throws(QueryError) {
      built = .success(
        try KVQuery.Query(format: format, arguments: JSONValue.array(values).text))
    } catch {
      throw KVStoreError(StoreError(error))
    }
  }

  init(_ predicate: () throws(KVStoreError) -> Predicate) {
    built = Result { () throws(KVStoreError) in KVQuery.Query(try predicate()) }
  }

  init(built: Result<KVQuery.Query, KVStoreError>) { self.built = built }

  /// Sorts by a member, after the sort keys that were given before. Null and missing members come first.
  public func sorted<Value>(
    by keyPath: KeyPath<Entity, Value>, ascending: Bool = true
  ) -> Query {
    changed { (query) throws(KVStoreError) in
      let path = Path(try MemberTable<Entity>.shared.name(of: keyPath))
      query.sort.append(.init(path, ascending: ascending))
    }
  }

  /// Compares and sorts texts as a language does, such as `"de"`, where the query does not say how yet: call it after the
  /// conditions and the sort keys.
  public func collated(
    by locale: String, ignoringCase: Bool = false, ignoringAccents: Bool = false
  ) -> Query {
    changed { (query) throws(KVStoreError) in
      do throws(QueryError) {
        query = try query.collated(
          by: locale, ignoringCase: ignoringCase, ignoringAccents: ignoringAccents)
      } catch {
        throw KVStoreError(StoreError(error))
      }
    }
  }

  /// Sorts by text score, best first, after the sort keys that were given before.
  public func sortedByRelevance() -> Query { changed { $0.sort.append(.textScore) } }

  /// Leaves out the first results.
  public func skip(_ count: Int) -> Query { changed { $0.skip = max(0, count) } }

  /// Limits the number of results; 0: no limit.
  public func limit(_ count: Int) -> Query {
    changed { $0.limit = KVQuery.Query.limit(max(0, count)) }
  }

  /// The whole query as text, for logs.
  public var text: String {
    switch built {
    case .success(let query): query.text
    case .failure(let error): error.description
    }
  }

  private func changed(_ change: (inout KVQuery.Query) throws(KVStoreError) -> Void) -> Query {
    Query(
      built: Result { () throws(KVStoreError) in
        var query = try built.get()
        try change(&query)
        return query
      })
  }

  /// Combines the conditions of queries, which have no pages.
  func combined(
    _ combination: KVQuery.Query.Combination, with others: [Query]
  ) -> Query {
    Query(
      built: Result { () throws(KVStoreError) in
        var parts: [KVQuery.Query] = []
        for part in [self] + others { parts.append(try part.unpaged()) }
        do throws(QueryError) { return try KVQuery.Query(combination, of: parts) } catch {
          throw KVStoreError(StoreError(error))
        }
      })
  }

  private func unpaged() throws(KVStoreError) -> KVQuery.Query {
    let query = try built.get()
    guard !query.isPaged, query.sort.isEmpty else {
      throw KVStoreError(.invalid, "A query with an order or a page cannot be part of another one.")
    }
    return query
  }
}
