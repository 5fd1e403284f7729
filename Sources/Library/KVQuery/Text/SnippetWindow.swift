/// Some words of a text, one after the other, in which there is as much of a search as possible.
struct SnippetWindow {
  /// The words, with what is between them.
  private(set) var bytes: Range<Int>
  /// The matches of the search, in order; none overlaps another.
  private(set) var marks: [Range<Int>] = []
  let isAtStart: Bool
  let isAtEnd: Bool
  /// How many different parts of the search are in it, and how many in all.
  private let merit: (different: Int, all: Int)

  /// Nil if the text has nothing that is searched for.
  init?(of search: TextSearch, in text: UnsafeBufferPointer<UInt8>, words limit: Int) {
    let found = TextHits(of: search, in: text)
    let hits = found.hits.filter { search.parts[$0.part].role != .excluded }
    guard let best = SnippetWindow.densest(hits, limit) else { return nil }
    merit = best.merit
    let inside = hits[best.hits]
    let start = hits[best.hits.lowerBound].words.lowerBound
    let end = inside.map(\.words.upperBound).max() ?? start
    // What is found stands in the middle, unless the text ends.
    let centred = start - max(0, limit - (end - start)) / 2
    let first = max(0, min(centred, found.wordCount - limit))
    let words = SnippetWindow.ranges(of: first..<first + limit, in: text, search.options.folding)
    isAtStart = first == 0
    isAtEnd = first + limit >= found.wordCount
    bytes =
      (isAtStart ? 0 : words[0].lowerBound)..<(isAtEnd ? text.count : words[limit - 1].upperBound)
    for hit in inside {
      let last = min(hit.words.upperBound - first, words.count) - 1
      let mark = words[hit.words.lowerBound - first].lowerBound..<words[last].upperBound
      if mark.lowerBound >= marks.last?.upperBound ?? 0 { marks.append(mark) }
    }
  }

  /// Where these words of a text are, as many of them as there are.
  private static func ranges(
    of wanted: Range<Int>, in text: UnsafeBufferPointer<UInt8>, _ folding: WordFolding
  ) -> [Range<Int>] {
    var reader = WordReader(text, folding)
    var ranges: [Range<Int>] = []
    var index = 0
    while index < wanted.upperBound, reader.next() {
      if index >= wanted.lowerBound { ranges.append(reader.range) }
      index += 1
    }
    return ranges
  }

  func isBetter(than other: SnippetWindow) -> Bool {
    merit.different == other.merit.different
      ? merit.all > other.merit.all : merit.different > other.merit.different
  }

  /// The hits within so many words that are of the most different parts, the first of these. One pass.
  private static func densest(
    _ hits: [TextHits.Hit], _ limit: Int
  ) -> (hits: Range<Int>, merit: (different: Int, all: Int))? {
    var best: (hits: Range<Int>, merit: (different: Int, all: Int))?
    var counts: [Int: Int] = [:]
    var first = 0
    for (index, hit) in hits.enumerated() {
      counts[hit.part, default: 0] += 1
      while first < index, hit.words.upperBound - hits[first].words.lowerBound > limit {
        let part = hits[first].part
        counts[part] = counts[part, default: 1] == 1 ? nil : counts[part, default: 1] - 1
        first += 1
      }
      let merit = (different: counts.count, all: index - first + 1)
      if merit > best?.merit ?? (0, 0) { best = (first..<index + 1, merit) }
    }
    return best
  }
}
