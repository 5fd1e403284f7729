internal import KVJSON

/// The part of an entity's texts that shows best why a search found it, with marks around what was found.
package struct SnippetStyle: Sendable, Equatable {
  /// What stands before and after each word or phrase that was found, as UTF-8.
  var start = Array("<b>".utf8)
  var end = Array("</b>".utf8)
  /// What stands for words that were left out.
  var ellipsis = Array("…".utf8)
  /// The largest number of words.
  var words = 20
  /// Where it looks; nil: in the texts that were searched.
  var path: Path?

  static let maxWords = 200

  /// The snippet of an entity; nil if nothing is found.
  func snippet(
    of entity: RawValue?, _ searches: [PlacedSearch], _ format: RecordFormat
  ) -> JSONValue? {
    var best: (window: SnippetWindow, text: [UInt8])?
    for search in searches {
      let placed = path.map { PlacedSearch(search: search.search, path: $0) } ?? search
      placed.eachText(of: entity, format) { text in
        let window = SnippetWindow(of: search.search, in: text, words: words)
        guard let window, best.map({ window.isBetter(than: $0.window) }) ?? true else { return }
        best = (window, write(window, of: text))
      }
    }
    return best.map { .string(String(decoding: $0.text, as: UTF8.self)) }
  }

  private func write(_ window: SnippetWindow, of text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var out = window.isAtStart ? [] : ellipsis
    var offset = window.bytes.lowerBound
    for mark in window.marks {
      out += text[offset..<mark.lowerBound]
      out += start
      out += text[mark]
      out += end
      offset = mark.upperBound
    }
    out += text[offset..<window.bytes.upperBound]
    if !window.isAtEnd { out += ellipsis }
    return out
  }
}
