internal import KVBase
internal import KVJSON

/// A `$text` search in MongoDB's notation: words, some of which have to be there; `"quoted words"`, all of
/// which have to follow each other somewhere; `-words` and `-"quoted words"`, which must be nowhere.
package struct TextSearch: Sendable, Equatable {
  package let text: String
  /// The words of which one has to be there, unless there are phrases.
  let words: [[UInt8]]
  let phrases: [[[UInt8]]]
  let excluded: [[[UInt8]]]

  package init(_ text: String) {
    self.text = text
    var (words, phrases, excluded): ([[UInt8]], [[[UInt8]]], [[[UInt8]]]) = ([], [], [])
    for part in TextSearch.parts(of: text) {
      let found = Words.split(part.text)
      guard !found.isEmpty else { continue }
      if part.isExcluded {
        excluded.append(found)
      } else if part.isQuoted {
        phrases.append(found)
      } else {
        words += found
      }
    }
    (self.words, self.phrases, self.excluded) = (words, phrases, excluded)
  }

  package static func == (left: TextSearch, right: TextSearch) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  /// Whether nothing can be found: there is nothing to look for.
  var isEmpty: Bool { words.isEmpty && phrases.isEmpty }

  private static func parts(
    of text: String
  ) -> [(text: String, isQuoted: Bool, isExcluded: Bool)] {
    var parts: [(text: String, isQuoted: Bool, isExcluded: Bool)] = []
    var rest = Substring(text).unicodeScalars
    while let first = rest.first {
      guard !first.properties.isWhitespace else {
        rest.removeFirst()
        continue
      }
      let isExcluded = first == "-"
      if isExcluded { rest.removeFirst() }
      let isQuoted = rest.first == "\""
      if isQuoted { rest.removeFirst() }
      let part = rest.prefix { isQuoted ? $0 != "\"" : !$0.properties.isWhitespace && $0 != "\"" }
      rest = rest[part.endIndex...]
      if isQuoted, !rest.isEmpty { rest.removeFirst() }
      parts.append((String(part), isQuoted, isExcluded))
    }
    return parts
  }

  /// The FTS5 query: it finds everything that may match. The words hold nothing but letters and digits.
  var expression: String {
    func quoted(_ words: [[UInt8]]) -> String {
      "\"\(words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " "))\""
    }
    return phrases.isEmpty
      ? words.map { quoted([$0]) }.joined(separator: " OR ")
      : phrases.map(quoted).joined(separator: " AND ")
  }

  /// The parts of the search that some texts, one after the other, contain.
  struct Finding {
    private let search: TextSearch
    private var hasWord = false
    private var hasExcluded = false
    private var missing: [[[UInt8]]]

    init(_ search: TextSearch) {
      self.search = search
      missing = search.phrases
    }

    mutating func look(at text: UnsafeBufferPointer<UInt8>) {
      guard !hasExcluded else { return }
      let words = Words.split(text)
      hasWord = hasWord || search.words.contains { words.contains($0) }
      missing.removeAll { Finding.contains(words, $0) }
      hasExcluded = search.excluded.contains { Finding.contains(words, $0) }
    }

    var isMatch: Bool {
      !search.isEmpty && !hasExcluded && missing.isEmpty && (hasWord || !search.phrases.isEmpty)
    }

    private static func contains(_ words: [[UInt8]], _ phrase: [[UInt8]]) -> Bool {
      guard words.count >= phrase.count else { return false }
      return (0...(words.count - phrase.count)).contains { start in
        words[start..<start + phrase.count].elementsEqual(phrase)
      }
    }
  }
}

extension TextSearch {
  /// Whether all that is asked of the texts of an entity is there.
  func holds(entity: RawValue, _ format: RecordFormat) -> Bool {
    var finding = Finding(self)
    entity.eachTextOfEntity(format) { finding.look(at: $0) }
    return finding.isMatch
  }

  /// Searches the texts at a path.
  func holds(_ value: RawValue?, at path: RawValue.Components) -> Bool {
    var finding = Finding(self)
    RawValue.eachText(of: value, at: path) { finding.look(at: $0) }
    return finding.isMatch
  }

  var json: JSONObject { ["$text": ["$search": .string(text)]] }
}
