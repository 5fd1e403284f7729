internal import KVJSON

/// How well entities fit the searches of a filter: MongoDB's formula, so it depends on the entity and the query alone,
/// and is the same with an index, without, and on a server that shows others something else.
///
/// For each text, each word, prefix or phrase counts `(2 - 2^(1 - n)) * (1/2 + n / 2w)`, if it is there n times in w
/// words; a tenth more if the text is nothing else.
struct TextScore: Sendable {
  let searches: [PlacedSearch]
  let format: RecordFormat

  func score(of entity: RawValue?) -> Double {
    var score = 0.0
    for search in searches {
      search.eachText(of: entity, format) { score += TextScore.score(of: search.search, in: $0) }
    }
    return score
  }

  private static func score(
    of search: TextSearch, in text: UnsafeBufferPointer<UInt8>
  ) -> Double {
    let found = TextHits(of: search, in: text)
    var counts = search.parts.map { _ in 0 }
    for hit in found.hits { counts[hit.part] += 1 }
    var score = 0.0
    for (part, count) in zip(search.parts, counts) where count > 0 && part.role != .excluded {
      let frequency = 2 - Double(sign: .plus, exponent: 1 - min(count, 64), significand: 1)
      let share = 0.5 + 0.5 * Double(count) / Double(found.wordCount)
      let isAlone = part.terms.count == found.wordCount
      score += frequency * share * (isAlone ? 1.1 : 1)
    }
    return score
  }
}

/// A search of a filter, and where it searches.
struct PlacedSearch: Sendable {
  let search: TextSearch
  /// The path that is searched; nil: all texts.
  let path: Path?

  func eachText(
    of entity: RawValue?, _ format: RecordFormat, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    if let path {
      RawValue.eachText(of: entity, at: path.components[...], body)
    } else {
      entity?.eachTextOfEntity(format, body)
    }
  }
}
