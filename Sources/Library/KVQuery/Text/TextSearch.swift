internal import KVBase
internal import KVJSON

/// A `$text` search in MongoDB's notation: words and `prefixes*`, of which one or all have to be there; `"quoted words"`,
/// all of which have to follow each other somewhere; `-words` and `-"quoted words"`, which must be nowhere.
package struct TextSearch: Sendable, Equatable {
  package struct Options: Sendable, Equatable {
    /// Whether each of the words has to be there, and not just one.
    package var needsAll = false
    /// Whether words are compared by their stems.
    package var language = TextLanguage.none
    var folding = WordFolding()
  }

  package let text: String
  package let options: Options
  /// The parts of the search, each once.
  let parts: [TextPart]
  let vocabulary: TextVocabulary

  package init(_ text: String, _ options: Options = Options()) {
    (self.text, self.options) = (text, options)
    parts = TextPart.parse(text, options)
    vocabulary = TextVocabulary(parts)
  }

  package static func == (left: TextSearch, right: TextSearch) -> Bool {
    left.text.hasSameBytes(as: right.text) && left.options == right.options
  }

  /// The largest length of a text to search for, in bytes.
  static let longestText = 65_536
  /// The largest number of words in it.
  static let maxWords = 4_096
  /// The largest number of those that have to follow each other: at each position of a text it may take so many steps to see
  /// that they do not.
  static let maxPhraseWords = 512

  /// Whether it has more words than it may.
  var isTooLong: Bool {
    let counts = parts.map(\.terms.count)
    return counts.reduce(0, +) > TextSearch.maxWords
      || counts.filter { $0 > 1 }.reduce(0, +) > TextSearch.maxPhraseWords
  }

  /// Whether nothing can be found: there is nothing to look for.
  var isEmpty: Bool { !parts.contains { $0.role != .excluded } }
}

/// The language that words have their endings in.
package enum TextLanguage: String, Sendable {
  /// Each word is compared as it is.
  case none
  case english

  /// The form of a word in lower case that stands for all its forms.
  func stem(_ word: [UInt8]) -> [UInt8] {
    switch self {
    case .none: word
    case .english: PorterStemmer.stem(word)
    }
  }
}

extension TextSearch {
  /// Whether all that is asked of the texts of an entity is there.
  func holds(entity: RawValue, _ format: RecordFormat) -> Bool {
    var finding = TextFinding(self)
    entity.eachTextOfEntity(format) { finding.look(at: $0) }
    return finding.isMatch
  }

  /// Searches the texts at a path.
  func holds(_ value: RawValue?, at path: RawValue.Components) -> Bool {
    var finding = TextFinding(self)
    RawValue.eachText(of: value, at: path) { finding.look(at: $0) }
    return finding.isMatch
  }

  /// The FTS5 query: it finds everything that may match. The words hold nothing but letters and digits, so that nothing
  /// of the text is read as FTS5's syntax. `stems`: whether the index has a column of stems in the search's language.
  func expression(stems hasStems: Bool) -> String? {
    let required = parts.filter { $0.role == .required }
    let wanted = required.isEmpty ? parts.filter { $0.role == .optional } : required
    var expressions: [String] = []
    for part in wanted {
      guard let expression = part.expression(stems: hasStems) else {
        // What the index cannot tell may be left out only if something else is required.
        if required.isEmpty { return nil }
        continue
      }
      expressions.append(expression)
    }
    return expressions.isEmpty
      ? nil : expressions.joined(separator: required.isEmpty ? " OR " : " AND ")
  }

  var json: JSONObject {
    var object: JSONObject = ["$search": .string(text)]
    if options.needsAll { object["$matchCriteria"] = "all" }
    if options.language != .none { object["$language"] = .string(options.language.rawValue) }
    if options.folding.keepsCase { object["$caseSensitive"] = true }
    if options.folding.keepsMarks { object["$diacriticSensitive"] = true }
    return ["$text": .object(object)]
  }
}
