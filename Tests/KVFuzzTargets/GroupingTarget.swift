// Groups: the input is a grouping, or the JavaScript of a `_group` request, then entities, each after a line
// feed. What a grouping gives of them is what a backend makes of the function that it is sent, and does not
// depend on how the entities are printed.

import KVJSON
import KVQuery

func fuzzGrouping(_ bytes: UnsafeBufferPointer<UInt8>) {
  let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) }
  guard let first = lines.first else { return }
  let text = String(decoding: first, as: UTF8.self)
  let entities = Array(lines.dropFirst())
  if first.first == UInt8(ascii: "{") {
    if let grouping = try? Grouping(parsing: text) { check(grouping, entities) }
  } else if let function = ReduceFunction(text) {
    check(Grouping(keys: [Path("a")], members: function.members), entities)
  }
}

private func check(_ grouping: Grouping, _ lines: [[UInt8]]) {
  // Bytes of any kind end; only entities count below.
  _ = results(grouping, lines)
  let entities = lines.filter { (try? EntityScanner.outline(of: $0)) != nil }
  let found = results(grouping, entities)
  let printed = entities.compactMap { try? JSONValue(parsing: $0).bytes }
  guard printed.count == entities.count else { return }
  check(found == results(grouping, printed), "groups depend on how entities are printed")
  guard let remote = RemoteGrouping(grouping) else { return }
  guard let function = ReduceFunction(remote.reduce) else {
    fatalError("no backend understands \(remote.reduce)")
  }
  let sent = Grouping(keys: grouping.keys, members: function.members)
  guard let answer = try? JSONValue(parsing: text(results(sent, entities))).arrayValue else {
    fatalError("the answer to \(remote.reduce) is none")
  }
  let received = remote.results(answer.compactMap(\.objectValue))
  check(text(received) == text(found), "\(text(received)) from a backend, here \(text(found))")
}

private func results(_ grouping: Grouping, _ entities: [[UInt8]]) -> [JSONObject] {
  var groups = Groups(grouping)
  for entity in entities { groups.add(entity) }
  return groups.results
}

private func text(_ results: [JSONObject]) -> String {
  JSONValue.array(results.map { .object($0) }).text
}
