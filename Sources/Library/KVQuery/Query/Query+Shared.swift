internal import KVBase

extension Query {
  /// The query of a filter and modifiers, as `init(filter:modifiers:)` reads them. While there is a `RecentQueries`, texts that
  /// were read lately are not read again, and the plan that was made of such a query is found in it: programs make the same
  /// query each time they need it. Texts that differ only in the constants of the filter are not parsed again either: they
  /// share a `QueryShape`.
  package static func shared(
    filter: String?, modifiers: String? = nil
  ) throws(QueryError) -> Query {
    let texts = Texts(filter: RecordID(filter ?? ""), modifiers: RecordID(modifiers ?? ""))
    guard texts.count <= Texts.maxCount else {
      return try Query(filter: filter, modifiers: modifiers)
    }
    if let template = FilterTemplate(texts.filter.text) {
      return try shaped(template, texts.modifiers) { () throws(QueryError) in
        try Query(filter: filter, modifiers: modifiers)
      }
    }
    if let known = Recent.known(texts)?.query { return known }
    let query = try Query(filter: filter, modifiers: modifiers)
    Recent.keep(Known(query: query), for: texts)
    return query
  }

  /// The query of a template with its constants. `parse` reads its texts.
  private static func shaped(
    _ template: FilterTemplate, _ modifiers: RecordID, parse: () throws(QueryError) -> Query
  ) throws(QueryError) -> Query {
    let key = Texts(filter: RecordID(template.text), modifiers: modifiers)
    if let known = Recent.known(key) {
      if let query = known.shape?.query(template.constants) { return query }
      return try parse()
    }
    let query = try parse()
    let shape = QueryShape(query, template.constants)
    Recent.keep(Known(shape: shape), for: key)
    return shape?.query(template.constants) ?? query
  }

  /// What a query is made of, compared by bytes; of the filter perhaps only its template.
  fileprivate struct Texts: Hashable, Sendable {
    /// Longer ones, a list of thousands of ids for example, hardly come twice, and would take memory.
    static let maxCount = 1024

    let filter: RecordID
    let modifiers: RecordID

    var count: Int { filter.text.utf8.count + modifiers.text.utf8.count }
  }

  /// What is known of texts that were read lately: their query, or the shape of the filters of a template; neither: these
  /// have none. Not an enumeration: valgrind takes the tag of one with two such payloads for uninitialised.
  fileprivate struct Known: Sendable {
    var query: Query?
    var shape: QueryShape?
  }

  fileprivate struct Recent: Sendable {
    var users = 0
    /// A template has bytes that no JSON has, so it never is the text of another filter.
    var known = RecentCache<Texts, Known>(capacity: 64)

    static func known(_ texts: Texts) -> Known? { recent.withLock { $0.known.value(for: texts) } }

    static func keep(_ known: Known, for texts: Texts) {
      recent.withLock { if $0.users > 0 { $0.known.keep(known, for: texts) } }
    }
  }

  fileprivate static let recent = Monitor(Recent())
}

/// Lets `Query.shared` keep queries for as long as this object exists. Each client has one, so that nothing is left in memory
/// once the last client is closed.
package final class RecentQueries: Sendable {
  package init() { Query.recent.withLock { $0.users += 1 } }

  deinit {
    Query.recent.withLock { recent in
      recent.users -= 1
      if recent.users == 0 { recent = Query.Recent() }
    }
  }
}
