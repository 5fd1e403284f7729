internal import KVBase
package import KVJSON
package import KVQuery

/// What a fetch is to give, beside its query.
package struct ResultsRequest: Sendable {
  package enum Content: Sendable {
    /// The records.
    case records
    /// Their ids.
    case ids
    /// The query's fields, or all members but those that the format reserves.
    case members
    /// A row for each group that meets the condition.
    case groups(Grouping, having: Predicate?)
    /// How many there are, as the only row.
    case count
  }

  package var content = Content.records
  /// How many records are read together.
  package var batchSize = 100
  /// How many bytes of records are kept in memory.
  package var cacheBytes = 4 << 20
  /// Whether a list of the backend's gets the ids at once, and records when they are asked for. Nil: those of network
  /// stores do, which have nowhere to keep the whole answer.
  package var returnsFaults: Bool?

  package init() {}
}

// MARK: From JSON

extension ResultsRequest {
  private static let names = [
    "resultType", "fetchBatchSize", "cacheBytes", "distinct", "groupBy", "aggregates", "having",
    "returnsObjectsAsFaults",
  ]

  /// Reads `{"resultType":"dictionary","groupBy":["a"],"having":{…},"fetchBatchSize":100}`; all members are optional.
  /// `query`: what it is for; its fields are those that are distinct.
  package init(_ object: JSONObject, for query: Query) throws(StoreError) {
    for member in object.members where !Self.names.contains(where: member.name.hasSameBytes) {
      throw StoreError(.invalid, "There is no \(member.name) in a request for results.")
    }
    content = try Self.content(object, query)
    batchSize = try Self.number(object, "fetchBatchSize", in: 1...100_000) ?? batchSize
    cacheBytes = try Self.number(object, "cacheBytes", in: 0...1 << 40) ?? cacheBytes
    if let value = object["returnsObjectsAsFaults"] {
      guard let flag = value.boolValue else {
        throw Self.invalid("returnsObjectsAsFaults", "true or false")
      }
      returnsFaults = flag
    }
  }

  private static func content(
    _ object: JSONObject, _ query: Query
  ) throws(StoreError) -> Content {
    let type = object["resultType"]?.stringValue
    guard type != nil || object["resultType"] == nil else { throw invalid("resultType", "a text") }
    let isDistinct = object["distinct"]?.boolValue
    guard isDistinct != nil || object["distinct"] == nil else {
      throw invalid("distinct", "true or false")
    }
    let grouping = try grouping(object, isDistinct == true ? query.fields : nil)
    let having = try having(object)
    if type == "dictionary", let grouping { return .groups(grouping, having: having) }
    guard grouping == nil, having == nil else {
      throw StoreError(
        .invalid,
        "distinct, groupBy, aggregates and having need the resultType dictionary, having a groupBy."
      )
    }
    switch type {
    case nil, "object": return .records
    case "objectId": return .ids
    case "dictionary": return .members
    case "count": return .count
    default: throw invalid("resultType", "object, objectId, dictionary or count")
    }
  }

  /// `fields`: the members that are to be distinct; nil: none.
  private static func grouping(
    _ object: JSONObject, _ fields: [Path]?
  ) throws(StoreError) -> Grouping? {
    if let keys = object["groupBy"] ?? (object["aggregates"] == nil ? nil : .array([])) {
      var grouping = JSONObject()
      grouping["keys"] = keys
      for name in ["aggregates", "collation"] {
        if let value = object[name] { grouping[name] = value }
      }
      do throws(QueryError) { return try Grouping(parsing: grouping.text) } catch {
        throw StoreError(.invalid, error.message)
      }
    }
    guard let fields else { return nil }
    guard !fields.isEmpty else {
      throw StoreError(.invalid, "distinct needs the fields of the query.")
    }
    return Grouping(keys: fields, members: [])
  }

  private static func having(_ object: JSONObject) throws(StoreError) -> Predicate? {
    guard let having = object["having"] else { return nil }
    guard let filter = having.objectValue else { throw invalid("having", "a filter") }
    do throws(QueryError) { return try Query(filter: filter.text).filter } catch {
      throw StoreError(.invalid, "having: \(error.message)")
    }
  }

  private static func number(
    _ object: JSONObject, _ name: String, in range: ClosedRange<Int>
  ) throws(StoreError) -> Int? {
    guard let value = object[name] else { return nil }
    guard let number = value.intValue.flatMap({ Int(exactly: $0) }), range.contains(number) else {
      throw invalid(name, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private static func invalid(_ name: String, _ expected: String) -> StoreError {
    StoreError(.invalid, "\(name) is not \(expected).")
  }
}
