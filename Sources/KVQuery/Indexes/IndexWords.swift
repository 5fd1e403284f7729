internal import KVJSON

/// Finds the words of an entity that go into an index of texts. Immutable; safe from any thread.
package final class IndexWords: Sendable {
  private let paths: [Path]

  /// From a JSON array of names, which is empty for all texts; nil for anything else.
  package init?(parsing text: String) {
    guard let names = (try? parseJSON(text))?.arrayValue else { return nil }
    paths = names.compactMap(\.stringValue).map { Path($0) }
    guard paths.count == names.count else { return nil }
  }

  /// The words with spaces between them.
  package func words(of entity: UnsafeRawBufferPointer) -> [UInt8] {
    guard let root = IndexKeys.root(entity) else { return [] }
    var out: [UInt8] = []
    let add = { (text: UnsafeBufferPointer<UInt8>) in
      for word in Words.split(text) {
        out += word
        out.append(UInt8(ascii: " "))
      }
    }
    if paths.isEmpty { root.eachTextOfEntity(add) }
    for path in paths { RawValue.eachText(of: root, at: path.components[...], add) }
    return out
  }
}
