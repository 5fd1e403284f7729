/// English words without their endings: `running` and `runs` become `run`.
///
/// M. F. Porter's algorithm ("An algorithm for suffix stripping", 1980) with the amendments of its author, as in the
/// tokenizer `porter` of SQLite's FTS5, to which a test compares it. It is written here because a query means the same
/// without an index, in a process that has no connection to ask.
struct PorterStemmer {
  private var word: [UInt8]

  /// The stem of a word in lower case. Words of less than three bytes, or more than 64, are their own.
  static func stem(_ word: [UInt8]) -> [UInt8] {
    guard 3...64 ~= word.count else { return word }
    var stemmer = PorterStemmer(word: word)
    stemmer.removePlural()
    stemmer.removeParticiple()
    if stemmer.word.last == UInt8(ascii: "y"), stemmer.hasVowel(stemmer.word.count - 1) {
      stemmer.word[stemmer.word.count - 1] = UInt8(ascii: "i")
    }
    stemmer.replace(Self.doubleSuffixes) { $0.measure(of: $1) > 0 }
    stemmer.replace(Self.suffixes) { $0.measure(of: $1) > 0 }
    stemmer.replace(Self.endings) { $0.measure(of: $1) > 1 && $0.mayLoseEnding(at: $1) }
    stemmer.tidy()
    return stemmer.word
  }

  private typealias Suffix = (old: [UInt8], new: [UInt8])

  private static func table(_ text: String) -> [Suffix] {
    text.split(separator: " ").map { pair in
      let parts = pair.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      return (Array(parts[0]), parts.count > 1 ? Array(parts[1]) : [])
    }
  }

  // Of suffixes that end alike, the longer one stands first.

  private static let doubleSuffixes = table(
    """
    ational:ate tional:tion enci:ence anci:ance izer:ize logi:log bli:ble alli:al entli:ent eli:e ousli:ous \
    ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble
    """)
  private static let suffixes = table("icate:ic ative alize:al iciti:ic ical:ic ful ness")
  private static let endings = table(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize")

  // MARK: Steps

  private mutating func removePlural() {
    guard word.last == UInt8(ascii: "s") else { return }
    let isLong = ends(with: "sses") || (ends(with: "ies") && word.count > 3)
    if isLong { word.removeLast(2) } else if !endsExactly(with: "ss") { word.removeLast() }
  }

  /// `eed`, `ed` and `ing`; what is left gets its ending back: `hoping` is `hope`, `hopping` is `hop`.
  private mutating func removeParticiple() {
    if ends(with: "eed") {
      if measure(of: word.count - 3) > 0 { word.removeLast() }
      return
    }
    guard let ending = [2, 3].first(where: { ends(with: $0 == 2 ? "ed" : "ing") }),
      hasVowel(word.count - ending)
    else { return }
    word.removeLast(ending)
    let last = word[word.count - 1]
    if ends(with: "at") || ends(with: "bl") || ends(with: "iz") {
      word.append(UInt8(ascii: "e"))
    } else if word.count > 1, last == word[word.count - 2], !PorterStemmer.isVowel(last),
      !"lsz".utf8.contains(last)
    {
      word.removeLast()
    } else if measure(of: word.count) == 1, isShortSyllable(word.count) {
      word.append(UInt8(ascii: "e"))
    }
  }

  private mutating func replace(_ table: [Suffix], if allows: (PorterStemmer, Int) -> Bool) {
    guard
      let suffix = table.first(where: { word.count > $0.old.count && hasSuffix($0.old) })
    else { return }
    let length = word.count - suffix.old.count
    if allows(self, length) { word.replaceSubrange(length..., with: suffix.new) }
  }

  private func mayLoseEnding(at length: Int) -> Bool {
    !word[length...].elementsEqual("ion".utf8) || "st".utf8.contains(word[length - 1])
  }

  /// The last `e`, and one `l` of two.
  private mutating func tidy() {
    if word.last == UInt8(ascii: "e") {
      let length = word.count - 1
      let measure = measure(of: length)
      if measure > 1 || (measure == 1 && !isShortSyllable(length)) { word.removeLast() }
    }
    if endsExactly(with: "ll"), measure(of: word.count - 1) > 1 { word.removeLast() }
  }

  // MARK: Parts of words

  /// Whether it ends so, and there is more of it.
  private func ends(with suffix: StaticString) -> Bool {
    word.count > suffix.utf8CodeUnitCount && endsExactly(with: suffix)
  }

  private func endsExactly(with suffix: StaticString) -> Bool {
    suffix.withUTF8Buffer { word.count >= $0.count && word.suffix($0.count).elementsEqual($0) }
  }

  private func hasSuffix(_ suffix: [UInt8]) -> Bool {
    word.suffix(suffix.count).elementsEqual(suffix)
  }

  private static func isVowel(_ letter: UInt8) -> Bool { "aeiou".utf8.contains(letter) }

  /// How often vowels are followed by consonants in the first letters. `y` is a vowel after a consonant.
  private func measure(of length: Int) -> Int {
    var (count, wasConsonant, hadVowel) = (0, false, false)
    for letter in word[..<length] {
      let isVowel =
        PorterStemmer.isVowel(letter) || (wasConsonant && letter == UInt8(ascii: "y"))
      if !isVowel, hadVowel, !wasConsonant { count += 1 }
      (wasConsonant, hadVowel) = (!isVowel, hadVowel || isVowel)
    }
    return count
  }

  private func hasVowel(_ length: Int) -> Bool {
    word[..<length].enumerated().contains { index, letter in
      PorterStemmer.isVowel(letter) || (index > 0 && letter == UInt8(ascii: "y"))
    }
  }

  /// Whether the first letters end in consonant, vowel, consonant, the last of which is not w, x or y.
  private func isShortSyllable(_ length: Int) -> Bool {
    guard length > 0, !"wxy".utf8.contains(word[length - 1]) else { return false }
    var (pattern, wasConsonant) = (0, false)
    for letter in word[..<length] {
      let isVowel =
        PorterStemmer.isVowel(letter) || (wasConsonant && letter == UInt8(ascii: "y"))
      wasConsonant = !isVowel
      pattern = (pattern & 0b11) << 1 | (isVowel ? 0 : 1)
    }
    return pattern == 0b101
  }
}
