// Regular expressions: the input is a byte of options, an expression up to the first line feed, and a text, which is
// any bytes. Reading and searching end, and what is literal text with wildcards, for which we search ourselves,
// is found exactly where PCRE2 finds it.

import KVJSON
import KVQuery

func fuzzRegex(_ input: UnsafeBufferPointer<UInt8>) {
  guard let flags = input.first, let end = input.firstIndex(of: UInt8(ascii: "\n")), end > 0 else {
    return
  }
  let options = zip("imsx", [1, 2, 4, 8]).filter { flags & $1 != 0 }.map { String($0.0) }.joined()
  let source = String(decoding: input[1..<end], as: UTF8.self)
  let text = String(decoding: input[(end + 1)...], as: UTF8.self)
  check(source, options: options, in: text)
}

private func check(_ source: String, options: String, in text: String) {
  let entity = JSONValue.object(["a": .string(text)]).bytes
  // What begins with a look ahead is left to PCRE2. Verbs, which have to come first, may make a difference.
  guard let found = matches(source, options: options, entity: entity),
    !Array(source.utf8).contains(verb),
    let again = matches("(?=)(?:\(source))", options: options, entity: entity)
  else { return }
  guard found == again else { fatalError("\(source) is found by one search, and not by the other") }
}

private let verb = Array("(*".utf8)

extension [UInt8] {
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    indices.contains { self[$0...].starts(with: part) }
  }
}

/// Nil for what is no expression, and for what takes too many steps.
private func matches(_ source: String, options: String, entity: [UInt8]) -> Bool? {
  let test: JSONObject = ["$regex": .string(source), "$options": .string(options)]
  let filter: JSONValue = .object(["a": .object(test)])
  guard let query = try? Query(filter: filter.text) else { return nil }
  return try? query.matcher?.matches(entity)
}
