/// Where in a text the parts of a search are.
struct TextHits {
  /// A word of the text that is one of the search's.
  private struct Word {
    /// The number of the word in the text.
    let index: Int
    /// The number of the term in the vocabulary.
    let term: Int
  }

  /// A part of the search that the text has.
  struct Hit {
    let part: Int
    /// The words of the text, by their numbers.
    let words: Range<Int>
  }

  /// In the order in which they begin.
  private(set) var hits: [Hit] = []
  /// The number of words that the text has.
  private(set) var wordCount = 0

  init(of search: TextSearch, in text: UnsafeBufferPointer<UInt8>) {
    var reader = WordReader(text, search.options.folding)
    var found: [Word] = []
    while reader.next() {
      search.vocabulary.lookUp(reader.word, in: search.options.language) {
        found.append(Word(index: wordCount, term: $0))
      }
      wordCount += 1
    }
    for (index, word) in found.enumerated() {
      for part in search.vocabulary.partsByFirst[word.term]
      where TextHits.follow(search.vocabulary.parts[part].dropFirst(), found[index...]) {
        let end = word.index + search.vocabulary.parts[part].count
        hits.append(Hit(part: part, words: word.index..<end))
      }
    }
  }

  /// Whether these terms are the words after the first one.
  private static func follow(_ terms: ArraySlice<Int>, _ found: ArraySlice<Word>) -> Bool {
    guard let first = found.first else { return false }
    var rest = found
    for (index, term) in zip((first.index + 1)..., terms) {
      rest = rest.drop { $0.index < index }
      guard rest.prefix(while: { $0.index == index }).contains(where: { $0.term == term }) else {
        return false
      }
    }
    return true
  }
}

/// The parts of a search that some texts, one after the other, have.
struct TextFinding {
  private let search: TextSearch
  private var isFound: [Bool]
  private var hasExcluded = false

  init(_ search: TextSearch) {
    self.search = search
    isFound = search.parts.map { _ in false }
  }

  mutating func look(at text: UnsafeBufferPointer<UInt8>) {
    guard !hasExcluded else { return }
    for hit in TextHits(of: search, in: text).hits {
      isFound[hit.part] = true
      hasExcluded = hasExcluded || search.parts[hit.part].role == .excluded
    }
  }

  var isMatch: Bool {
    guard !hasExcluded else { return false }
    let roles = search.parts.map(\.role)
    guard roles.contains(.required) else {
      return zip(roles, isFound).contains { $0 == .optional && $1 }
    }
    return zip(roles, isFound).allSatisfy { $0 != .required || $1 }
  }
}
