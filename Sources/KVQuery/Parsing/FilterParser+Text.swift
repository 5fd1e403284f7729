internal import KVJSON

extension FilterParser {
  /// Parses the value of `$text`: `{"$search":"…"}`, with MongoDB's options where they ask for what we do anyway.
  static func textSearch(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> TextSearch
  {
    guard let object = value.objectValue, let text = object["$search"]?.stringValue else {
      throw QueryDecodingError("$text needs {\"$search\":\"words\"}", trail)
    }
    for member in object.members {
      switch (member.name, member.value) {
      case ("$search", _), ("$caseSensitive", .bool(false)), ("$diacriticSensitive", .bool(false)),
        ("$language", .string("none")):
        continue
      case ("$caseSensitive", _), ("$diacriticSensitive", _), ("$language", _):
        throw QueryDecodingError(
          "$text takes no other \(member.name)", trail + [.member(member.name)])
      default:
        throw QueryDecodingError("unknown option \(member.name)", trail + [.member(member.name)])
      }
    }
    return TextSearch(text)
  }
}
