internal import KVJSON

extension FilterParser {
  /// Parses the value of `$text`: `{"$search":"…"}`, with MongoDB's options and, for all words, the one of its Atlas
  /// Search.
  static func textSearch(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> TextSearch
  {
    guard let object = value.objectValue, let text = object["$search"]?.stringValue else {
      throw QueryDecodingError("$text needs {\"$search\":\"words\"}", trail)
    }
    var options = TextSearch.Options()
    for member in object.members where member.name != "$search" {
      try options.read(member, trail + [.member(member.name)])
    }
    guard options.language == .none || options.folding == WordFolding() else {
      throw QueryDecodingError(
        "$language compares stems, so it cannot be used with $caseSensitive or"
          + " $diacriticSensitive", trail + [.member("$language")])
    }
    let here = trail + [.member("$search")]
    guard text.utf8.count <= TextSearch.longestText else {
      throw QueryDecodingError("$search must have at most \(TextSearch.longestText) bytes", here)
    }
    let search = TextSearch(text, options)
    guard !search.isTooLong else {
      throw QueryDecodingError(
        "$search must have at most \(TextSearch.maxWords) words, \(TextSearch.maxPhraseWords) of them in phrases",
        here)
    }
    return search
  }
}

extension TextSearch.Options {
  fileprivate mutating func read(
    _ member: JSONObject.Member, _ trail: FilterParser.Trail
  ) throws(QueryDecodingError) {
    switch (member.name, member.value) {
    case ("$caseSensitive", .bool(let keepsCase)): folding.keepsCase = keepsCase
    case ("$diacriticSensitive", .bool(let keepsMarks)): folding.keepsMarks = keepsMarks
    case ("$language", .string(let name)): language = try TextLanguage(name, trail)
    case ("$matchCriteria", .string("any")): needsAll = false
    case ("$matchCriteria", .string("all")): needsAll = true
    case ("$caseSensitive", _), ("$diacriticSensitive", _):
      throw QueryDecodingError("\(member.name) needs true or false", trail)
    case ("$language", _): throw QueryDecodingError("$language needs a name", trail)
    case ("$matchCriteria", _):
      throw QueryDecodingError("$matchCriteria must be \"any\" or \"all\"", trail)
    default: throw QueryDecodingError("unknown option \(member.name)", trail)
    }
  }
}

extension TextLanguage {
  init(_ name: String, _ trail: FilterParser.Trail) throws(QueryDecodingError) {
    switch name {
    case "none": self = .none
    case "english", "en": self = .english
    default: throw QueryDecodingError("the language must be \"none\" or \"english\"", trail)
    }
  }
}
