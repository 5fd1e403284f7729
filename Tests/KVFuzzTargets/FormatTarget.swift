// Predicate formats: the input is a format, a line feed, its arguments as JSON, a line feed, and an entity.
// What is accepted comes back from what is printed, as a format and as a filter, and selects the same.

import KVJSON
import KVQuery

func fuzzFormat(_ bytes: UnsafeBufferPointer<UInt8>) {
  let lines = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
  let format = String(decoding: lines[0], as: UTF8.self)
  let arguments = lines.count > 1 ? String(decoding: lines[1], as: UTF8.self) : ""
  guard let query = try? Query(format: format, arguments: arguments) else { return }
  let entity = lines.count > 2 ? Array(lines[2]) : Array(#"{"a":[{"b":1},null,"x"]}"#.utf8)
  check(query, readAs: try? Query(filter: query.filterText), entity)
  let (text, values) = query.filter.format
  check(query, readAs: try? Query(format: text, arguments: JSONValue.array(values).text), entity)
}

private func check(_ query: Query, readAs again: Query?, _ entity: [UInt8]) {
  guard let again else { fatalError("what is printed cannot be read: \(query.filterText)") }
  guard (try? EntityScanner.outline(of: entity)) != nil else { return }
  let first = try? Matcher(query.filter).matches(entity)
  let second = try? Matcher(again.filter).matches(entity)
  guard first == second else { fatalError("what is printed selects something else") }
}
