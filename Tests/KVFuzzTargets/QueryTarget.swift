// Queries: the input is a filter, a line feed, and an entity. What is accepted comes back from its own
// text; evaluating, sorting and projecting any bytes ends, and what is projected is an entity again.

import KVJSON
import KVQuery

func fuzzQuery(_ bytes: UnsafeBufferPointer<UInt8>) {
  let cut = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
  let text = String(decoding: bytes[..<cut], as: UTF8.self)
  let entity = Array(bytes[min(cut + 1, bytes.count)...])
  guard let query = try? Query(filter: text) else { return }
  let again = try? Query(filter: query.filterText)
  check(again?.filterText == query.filterText, "a filter does not survive printing")
  checkEvaluation(query, entity)
}

private func checkEvaluation(_ query: Query, _ entity: [UInt8]) {
  let matches = try? Matcher(query.filter).matches(entity)
  let opposite = try? Matcher(query.filter.negated).matches(entity)
  let isEntity = (try? EntityScanner.outline(of: entity)) != nil
  if isEntity, let matches, let opposite { check(matches != opposite, "neither or both match") }
  let paths = paths(of: query.filter)
  _ = Sorter(paths.map { Query.SortKey($0, ascending: false) }).key(of: entity)
  guard isEntity, !paths.isEmpty else { return }
  let projected = Projection(paths).apply(to: entity)
  check((try? EntityScanner.outline(of: projected)) != nil, "projecting breaks the entity")
}

private func paths(of predicate: Predicate) -> [Path] {
  switch predicate {
  case .everything, .nothing, .text, .comparison: []
  case .and(let parts), .or(let parts), .nor(let parts): parts.flatMap { paths(of: $0) }
  case .field(let path, _): [path]
  }
}
