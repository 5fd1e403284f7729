/// A part of a search: a word, the beginning of one, or several words that follow each other.
struct TextPart: Sendable, Hashable {
  enum Role: Sendable {
    /// At least one optional part has to match, unless some part is required.
    case optional
    case required
    case excluded
  }

  /// What one word of a text is compared with.
  struct Term: Sendable, Hashable {
    enum Form: Sendable {
      case whole
      case prefix
      case stem
    }

    var word: [UInt8]
    var form = Form.whole
  }

  let role: Role
  /// The terms of the part: at least one.
  let terms: [Term]

  /// The parts of a text that is searched for, each once. Any text has some meaning: what is neither a word nor a sign
  /// in its place separates words.
  static func parse(_ text: String, _ options: TextSearch.Options) -> [TextPart] {
    var known: Set<TextPart> = []
    return SearchPiece.all(of: text)
      .flatMap { parts(of: $0, options) }
      .filter { known.insert($0).inserted }
  }

  private static func parts(
    of piece: SearchPiece, _ options: TextSearch.Options
  ) -> [TextPart] {
    var groups = groups(of: piece, options.folding)
    if !piece.isQuoted, options.language != .none {
      for index in groups.indices where groups[index].count == 1 {
        groups[index][0].stem(options.language)
      }
    }
    let role: Role =
      piece.isExcluded
      ? .excluded : piece.isQuoted || options.needsAll ? .required : .optional
    return groups.map { TextPart(role: role, terms: $0) }
  }

  /// The words, those together that have to stand together: all of them if the piece is a whole, else those with
  /// nothing between them, as in scripts without spaces.
  private static func groups(of piece: SearchPiece, _ folding: WordFolding) -> [[Term]] {
    Array(piece.text.utf8).withUnsafeBufferPointer { text in
      var words = WordReader(text, folding)
      var groups: [[Term]] = []
      var end = -1
      while words.next() {
        let term = Term(word: words.word)
        if !groups.isEmpty, piece.isWhole || words.range.lowerBound == end {
          groups[groups.count - 1].append(term)
        } else {
          groups.append([term])
        }
        end = words.range.upperBound
      }
      if piece.isPrefix, end == text.count, var last = groups.popLast() {
        last[last.count - 1].form = .prefix
        groups.append(last)
      }
      return groups
    }
  }
}

extension TextPart {
  /// The part as FTS5 writes it; nil if the index does not tell. `stems`: whether it has a column of stems beside that
  /// of the words.
  func expression(stems hasStems: Bool) -> String? {
    let isStem = terms[0].form == .stem
    guard hasStems || !isStem else { return nil }
    let column = hasStems ? isStem ? "stems:" : "words:" : ""
    let words = terms.map { String(decoding: $0.plainWord, as: UTF8.self) }
    let isPrefix = terms[terms.count - 1].form == .prefix
    return "\(column)\"\(words.joined(separator: " "))\"\(isPrefix ? "*" : "")"
  }
}

extension TextPart.Term {
  /// The word as indexes have it: without case and marks.
  fileprivate var plainWord: [UInt8] {
    word.withUnsafeBufferPointer { word in
      var reader = WordReader(word)
      return reader.next() ? reader.word : []
    }
  }

  fileprivate mutating func stem(_ language: TextLanguage) {
    guard form == .whole else { return }
    self = TextPart.Term(word: language.stem(word), form: .stem)
  }
}

/// A piece of a text that is searched for, up to the next space or quotation mark.
private struct SearchPiece {
  let text: String
  let isQuoted: Bool
  let isExcluded: Bool
  /// Whether a `*` follows.
  let isPrefix: Bool

  /// Whether its words have to stand together.
  var isWhole: Bool { isQuoted || isExcluded }

  static func all(of text: String) -> [SearchPiece] {
    var pieces: [SearchPiece] = []
    var rest = text.unicodeScalars[...]
    while let first = rest.first {
      if first.properties.isWhitespace { rest.removeFirst() } else { pieces.append(next(&rest)) }
    }
    return pieces
  }

  /// A quotation that does not end goes to the end of the text.
  private static func next(_ rest: inout Substring.UnicodeScalarView) -> SearchPiece {
    let isExcluded = rest.removeFirst(if: "-")
    let isQuoted = rest.removeFirst(if: "\"")
    var text = rest.prefix {
      isQuoted ? $0 != "\"" : !$0.properties.isWhitespace && $0 != "\""
    }
    rest = rest[text.endIndex...]
    var isPrefix = false
    if text.last == "*" {
      isPrefix = true
      text.removeLast()
    }
    if isQuoted, rest.removeFirst(if: "\""), rest.removeFirst(if: "*") { isPrefix = true }
    return SearchPiece(
      text: String(text), isQuoted: isQuoted, isExcluded: isExcluded, isPrefix: isPrefix)
  }
}

extension Substring.UnicodeScalarView {
  fileprivate mutating func removeFirst(if wanted: Unicode.Scalar) -> Bool {
    guard first == wanted else { return false }
    removeFirst()
    return true
  }
}
