internal import KVBase
package import KVJSON

extension Query {
  /// The query with members that are computed of each result, as the modifier `computed` has them.
  package func computing(_ members: JSONValue) throws(QueryError) -> Query {
    var query = self
    do throws(QueryDecodingError) {
      query.computed = try Query.computed(members, [.member("computed")])
      try query.checkMeta()
    } catch {
      throw error.located(in: members.text)
    }
    return query
  }

  /// Reads `{"score":{"$meta":"textScore"},"excerpt":{"$meta":"snippet","words":10}}`.
  static func computed(
    _ value: JSONValue, _ trail: [QueryDecodingError.Step]
  ) throws(QueryDecodingError) -> [ComputedMember] {
    guard let object = value.objectValue else {
      throw QueryDecodingError("computed must be an object of names and $meta", trail)
    }
    var members: [ComputedMember] = []
    for member in object.members {
      let here = trail + [.member(member.name)]
      guard isComputable(member.name) else {
        throw QueryDecodingError(
          "a computed member needs a name without dots that is not reserved by the backend", here)
      }
      members.append(ComputedMember(member.name, try computedValue(member.value, here)))
    }
    return members
  }

  private static func isComputable(_ name: String) -> Bool {
    !name.isEmpty && !name.utf8.contains(UInt8(ascii: "."))
      && !RecordFormat.default.isReserved(name)
  }

  private static func computedValue(
    _ value: JSONValue, _ trail: [QueryDecodingError.Step]
  ) throws(QueryDecodingError) -> ComputedMember.Value {
    if value["$meta"]?.stringValue == "snippet" {
      return .snippet(try SnippetStyle(value.objectValue ?? [:], trail))
    }
    guard let meta = try Meta(value, trail) else {
      throw QueryDecodingError(
        "a computed member must be {\"$meta\":\"textScore\"}, \"geoNearDistance\" or \"snippet\"",
        trail)
    }
    return .meta(meta)
  }

  /// Refuses an order or a computed member that the filter does not provide.
  func checkMeta() throws(QueryDecodingError) {
    for key in sort {
      guard let meta = key.meta else { continue }
      try check(meta, [.member("sort"), .member(key.path.text)])
    }
    for member in computed {
      let trail = [QueryDecodingError.Step.member("computed"), .member(member.name.text)]
      switch member.value {
      case .meta(let meta): try check(meta, trail)
      case .snippet: try check(.textScore, trail)
      }
    }
  }

  private func check(
    _ meta: Meta, _ trail: [QueryDecodingError.Step]
  ) throws(QueryDecodingError) {
    switch meta {
    case .textScore:
      guard filter.searches.isEmpty else { return }
      throw QueryDecodingError("the filter has no $text", trail)
    case .geoNearDistance:
      guard filter.nearest == nil else { return }
      throw QueryDecodingError("the filter has no $nearSphere that applies to all results", trail)
    }
  }
}

extension Query.Meta {
  /// Reads `{"$meta":"textScore"}`; nil if it is no object.
  init?(_ value: JSONValue, _ trail: [QueryDecodingError.Step]) throws(QueryDecodingError) {
    guard let object = value.objectValue else { return nil }
    guard object.count == 1, let name = object["$meta"]?.stringValue,
      let meta = Query.Meta(rawValue: name)
    else {
      throw QueryDecodingError(
        "$meta must be \"\(Query.Meta.textScore.rawValue)\" or \"\(Query.Meta.geoNearDistance.rawValue)\"",
        trail)
    }
    self = meta
  }

  var json: JSONValue { ["$meta": .string(rawValue)] }
}

extension Query.ComputedMember {
  var json: JSONValue {
    switch value {
    case .meta(let meta): meta.json
    case .snippet(let style): .object(style.json)
    }
  }
}

extension SnippetStyle {
  init(_ object: JSONObject, _ trail: [QueryDecodingError.Step]) throws(QueryDecodingError) {
    self.init()
    for member in object.members {
      switch (member.name, member.value) {
      case ("$meta", _): break
      case ("start", .string(let text)): start = Array(text.utf8)
      case ("end", .string(let text)): end = Array(text.utf8)
      case ("ellipsis", .string(let text)): ellipsis = Array(text.utf8)
      case ("path", .string(let name)) where !name.isEmpty: path = Path(name)
      case ("words", .int(let count)) where 1...Int64(Self.maxWords) ~= count: words = Int(count)
      default:
        throw QueryDecodingError(
          "a snippet has start, end, ellipsis and path, which are strings, and words, which is at most"
            + " \(Self.maxWords)", trail + [.member(member.name)])
      }
    }
  }

  /// What differs from a snippet of which nothing is said.
  var json: JSONObject {
    let usual = SnippetStyle()
    var object: JSONObject = ["$meta": "snippet"]
    for (name, text, known) in [
      ("start", start, usual.start), ("end", end, usual.end),
      ("ellipsis", ellipsis, usual.ellipsis),
    ] where text != known {
      object[name] = .string(String(decoding: text, as: UTF8.self))
    }
    if words != usual.words { object["words"] = .int(Int64(words)) }
    if let path { object["path"] = .string(path.text) }
    return object
  }
}
