internal import KVCollation
internal import KVJSON

extension Query {
  /// Reads `{"sort":{…},"skip":n,"limit":n,"fields":[…],"computed":{…},"collation":{…}}`, for the filter that the query has.
  mutating func apply(modifiers text: String) throws(QueryError) {
    guard !text.isEmpty else { return }
    let value = try parseJSON(text)
    do throws(QueryDecodingError) {
      try apply(value)
    } catch {
      throw error.located(in: text)
    }
  }

  private mutating func apply(_ value: JSONValue) throws(QueryDecodingError) {
    guard let object = value.objectValue else {
      throw QueryDecodingError("modifiers must be a JSON object", [])
    }
    var collation: Collation?
    for member in object.members {
      let trail = [QueryDecodingError.Step.member(member.name)]
      switch member.name {
      case "sort": sort = try Query.sortKeys(member.value, trail)
      case "skip": skip = try Query.count(member.value, trail)
      case "limit":
        limit = member.value.isNull ? nil : Query.limit(try Query.count(member.value, trail))
      case "fields": fields = try Query.paths(member.value, trail)
      case "computed": computed = try Query.computed(member.value, trail)
      case "collation": collation = try Collation(member.value, trail)
      default: throw QueryDecodingError("unknown modifier \(member.name)", trail)
      }
    }
    if let collation { self = collated(by: collation) }
    try checkMeta()
  }

  /// The query in the order of a locale, as the modifier `collation` has it.
  package func collated(
    by locale: String, ignoringCase: Bool, ignoringAccents: Bool
  ) throws(QueryError) -> Query {
    let object: JSONObject = [
      "locale": .string(locale), "ignoreCase": .bool(ignoringCase),
      "ignoreAccents": .bool(ignoringAccents),
    ]
    do throws(QueryDecodingError) {
      return collated(by: try Collation(.object(object), []))
    } catch {
      throw error.located(in: JSONValue.object(object).text)
    }
  }

  /// The query that compares and orders texts as a language does, where it does not say already how.
  func collated(by collation: Collation) -> Query {
    var query = self
    query.filter = filter.collated(by: collation)
    for index in sort.indices where sort[index].meta == nil && sort[index].collation == nil {
      query.sort[index].collation = collation
    }
    return query
  }

  /// Takes the order from `{"name":1,"other":-1}`, as text: what arrives in a query string.
  package mutating func sort(parsing text: String) throws(QueryError) {
    let value = try parseJSON(text)
    do throws(QueryDecodingError) {
      sort = try Query.sortKeys(value, [])
      try checkMeta()
    } catch {
      throw error.located(in: text)
    }
  }

  /// A projection from `name,other.part`.
  package static func fields(parsing text: String) -> [Path] {
    text.parts(between: ",").filter { !$0.isEmpty }.map { Path(String($0)) }
  }

  private static func sortKeys(
    _ value: JSONValue, _ trail: [QueryDecodingError.Step]
  ) throws(QueryDecodingError) -> [SortKey] {
    guard let object = value.objectValue else {
      throw QueryDecodingError("sort must be an object such as {\"name\":1}", trail)
    }
    var keys: [SortKey] = []
    for member in object.members {
      let here = trail + [.member(member.name)]
      switch member.value.intValue {
      case 1: keys.append(SortKey(Path(member.name)))
      case -1: keys.append(SortKey(Path(member.name), ascending: false))
      default:
        if let object = member.value.objectValue, object["$collation"] != nil {
          keys.append(try collatedKey(member.name, object, at: here))
          continue
        }
        guard let meta = try Meta(member.value, here) else {
          throw QueryDecodingError("a sort direction must be 1 or -1", here)
        }
        keys.append(SortKey(Path(member.name), meta))
      }
    }
    return keys
  }

  /// Reads `{"$order":-1,"$collation":{"locale":"de"}}`; the order may be left out.
  private static func collatedKey(
    _ name: String, _ object: JSONObject, at trail: [QueryDecodingError.Step]
  ) throws(QueryDecodingError) -> SortKey {
    var key = SortKey(Path(name))
    for member in object.members {
      let here = trail + [.member(member.name)]
      switch (member.name, member.value) {
      case ("$order", .int(1)): key.ascending = true
      case ("$order", .int(-1)): key.ascending = false
      case ("$order", _): throw QueryDecodingError("a sort direction must be 1 or -1", here)
      case ("$collation", let value): key.collation = try Collation(value, here)
      default: throw QueryDecodingError("unknown member \(member.name) of a sort key", here)
      }
    }
    return key
  }

  /// The limit for a given number: 0 is no limit, as in MongoDB.
  package static func limit(_ number: Int) -> Int? { number == 0 ? nil : number }

  private static func count(_ value: JSONValue, _ trail: [QueryDecodingError.Step])
    throws(QueryDecodingError) -> Int
  {
    guard let number = value.intValue, number >= 0, let count = Int(exactly: number) else {
      throw QueryDecodingError("must be an integer that is not negative", trail)
    }
    return count
  }

  private static func paths(_ value: JSONValue, _ trail: [QueryDecodingError.Step])
    throws(QueryDecodingError) -> [Path]
  {
    guard let names = value.arrayValue else {
      throw QueryDecodingError("fields must be an array", trail)
    }
    var paths: [Path] = []
    for (index, name) in names.enumerated() {
      guard let text = name.stringValue, !text.isEmpty, !text.contains(",") else {
        throw QueryDecodingError("a field must be a name", trail + [.element(index)])
      }
      paths.append(Path(text))
    }
    return paths
  }
}

/// Small JSON, with errors as this room reports them.
func parseJSON(_ text: String) throws(QueryError) -> JSONValue {
  do throws(JSONError) {
    return try JSONValue(parsing: text)
  } catch {
    if error.reason == .noMemory { throw QueryError.noMemory }
    throw QueryError(.json, error.message, at: error.position)
  }
}
