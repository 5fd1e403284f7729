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
    if let known = recent.withLock({ $0.queries.value(for: texts) }) { return known }
    let query = try Query(filter: filter, modifiers: modifiers)
    recent.withLock { if $0.users > 0 { $0.queries.keep(query, for: texts) } }
    return query
  }

  /// The query of a template with its constants. `parse` reads its texts.
  private static func shaped(
    _ template: FilterTemplate, _ modifiers: RecordID, parse: () throws(QueryError) -> Query
  ) throws(QueryError) -> Query {
    let key = Template(filter: template.text, modifiers: modifiers)
    let known = recent.withLock { $0.shapes.value(for: key) }
    if let query = known?.shape?.query(template.constants) { return query }
    let query = try parse()
    guard known == nil else { return query }
    let shape = QueryShape(query, template.constants)
    recent.withLock { if $0.users > 0 { $0.shapes.keep(KnownShape(shape: shape), for: key) } }
    return shape?.query(template.constants) ?? query
  }

  /// What a query is made of, compared by bytes.
  fileprivate struct Texts: Hashable, Sendable {
    /// Longer ones, a list of thousands of ids for example, hardly come twice, and would take memory.
    static let maxCount = 1024

    let filter: RecordID
    let modifiers: RecordID

    var count: Int { filter.text.utf8.count + modifiers.text.utf8.count }
  }

  /// The same without the constants of the filter.
  fileprivate struct Template: Hashable, Sendable {
    let filter: [UInt8]
    let modifiers: RecordID
  }

  /// The shape of the filters of a template; nil: they have none.
  fileprivate struct KnownShape: Sendable {
    let shape: QueryShape?
  }

  fileprivate struct Recent: Sendable {
    var users = 0
    var queries = RecentCache<Texts, Query>(capacity: 64)
    var shapes = RecentCache<Template, KnownShape>(capacity: 64)
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
