/// The words that the parts of a search consist of, each once and numbered, in which the words of a text are looked up.
struct TextVocabulary: Sendable {
  private typealias Entry = (word: [UInt8], number: Int)

  /// The whole words, in order.
  private var whole: [Entry] = []
  /// The prefixes, in order.
  private var prefixes: [Entry] = []
  /// The different lengths of the prefixes.
  private var prefixLengths: [Int] = []
  /// The stems, in order.
  private var stems: [Entry] = []
  /// The numbers of the words of each part.
  private(set) var parts: [[Int]] = []
  /// The parts that begin with each word.
  private(set) var partsByFirst: [[Int]] = []

  init(_ parts: [TextPart]) {
    var numbers: [TextPart.Term: Int] = [:]
    for (index, part) in parts.enumerated() {
      let terms = part.terms.map { term in
        if let known = numbers[term] { return known }
        numbers[term] = numbers.count
        partsByFirst.append([])
        return numbers.count - 1
      }
      self.parts.append(terms)
      partsByFirst[terms[0]].append(index)
    }
    for (term, number) in numbers { add(term, number) }
    whole.sort { $0.word.lexicographicallyPrecedes($1.word) }
    prefixes.sort { $0.word.lexicographicallyPrecedes($1.word) }
    stems.sort { $0.word.lexicographicallyPrecedes($1.word) }
    prefixLengths = Set(prefixes.map(\.word.count)).sorted()
  }

  private mutating func add(_ term: TextPart.Term, _ number: Int) {
    switch term.form {
    case .whole: whole.append((term.word, number))
    case .prefix: prefixes.append((term.word, number))
    case .stem: stems.append((term.word, number))
    }
  }

  /// Runs `body` with the numbers of all that a word of a text is.
  func lookUp(_ word: [UInt8], in language: TextLanguage, _ body: (Int) -> Void) {
    if let number = TextVocabulary.number(of: word[...], in: whole) { body(number) }
    for length in prefixLengths where length <= word.count {
      if let number = TextVocabulary.number(of: word[..<length], in: prefixes) { body(number) }
    }
    guard !stems.isEmpty else { return }
    let stem = language.stem(word)
    if let number = TextVocabulary.number(of: stem[...], in: stems) { body(number) }
  }

  private static func number(of word: ArraySlice<UInt8>, in entries: [Entry]) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      let entry = entries[middle]
      if entry.word[...] == word { return entry.number }
      if entry.word.lexicographicallyPrecedes(word) { low = middle + 1 } else { high = middle }
    }
    return nil
  }
}
