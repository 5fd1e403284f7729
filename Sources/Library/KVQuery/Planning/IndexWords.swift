package import KVJSON

/// Finds the words of an entity that go into an index of texts. Immutable; safe from any thread.
package final class IndexWords: Sendable {
  private let paths: [Path]
  /// The layout, which says which members are left out where all texts are wanted.
  private let format: RecordFormat
  /// The language whose stems are indexed in place of the words.
  private let language: TextLanguage

  /// Reads a JSON array of names, which is empty for all texts of the default format, or an object with the members that
  /// another format reserves, `{"reserved":["id"]}`; or `{"language":"english","of":…}` with either, for the stems. Nil
  /// for anything else.
  package init?(parsing text: String) {
    guard var value = try? parseJSON(text) else { return nil }
    if let name = value["language"]?.stringValue {
      guard let known = TextLanguage(rawValue: name), let inner = value["of"] else { return nil }
      (language, value) = (known, inner)
    } else {
      language = .none
    }
    if let reserved = value["reserved"]?.arrayValue?.compactMap(\.stringValue) {
      paths = []
      format = RecordFormat(id: reserved.map { .init($0) })
      return
    }
    guard let names = value.arrayValue else { return nil }
    paths = names.compactMap(\.stringValue).map { Path($0) }
    format = .default
    guard paths.count == names.count else { return nil }
  }

  /// The text that asks for an index of these paths, or of all texts if there are none.
  package static func text(of paths: [Path], _ format: RecordFormat) -> String {
    guard paths.isEmpty, format != .default else { return IndexKeys.text(of: paths) }
    let reserved = format.reservedNames.map { JSONValue.string($0) }
    return JSONValue.object(["reserved": .array(reserved)]).text
  }

  /// The text that asks for the stems of the words.
  package static func text(
    ofStemsIn language: TextLanguage, _ paths: [Path], _ format: RecordFormat
  ) -> String {
    var object = JSONObjectWriter()
    object.add("language", .string(language.rawValue))
    object.add("of", json: text(of: paths, format).utf8)
    return String(decoding: object.bytes, as: UTF8.self)
  }

  /// The words, or their stems, with spaces between them.
  package func words(of entity: UnsafeRawBufferPointer) -> [UInt8] {
    guard let root = RawValue(entity: entity) else { return [] }
    var out: [UInt8] = []
    let add = { [language] (text: UnsafeBufferPointer<UInt8>) in
      var words = WordReader(text)
      while words.next() {
        out += language.stem(words.word)
        out.append(UInt8(ascii: " "))
      }
    }
    if paths.isEmpty { root.eachTextOfEntity(format, add) }
    for path in paths { RawValue.eachText(of: root, at: path.components[...], add) }
    return out
  }
}
