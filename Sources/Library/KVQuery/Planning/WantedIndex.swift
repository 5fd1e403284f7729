internal import KVBase
internal import KVCollation
internal import KVJSON

extension Query {
  /// The largest number of members that have one value each in an index that is made without being asked for.
  private static let maxEqualMembers = 3

  /// What would find the entities that the filter selects, or the first ones in the order, without looking at all of them; nil
  /// if no ordered index does. Queries that differ in their constants want the same one.
  ///
  /// The members that have to be equal to something come first, then one with a range, or those of the order if there is a
  /// limit.
  package var wantedIndex: IndexSpec? {
    let order = wantedOrder
    return IndexSpec(automatic: wantedKeys(in: order), order)
  }

  /// The order of texts that the index would have: that of the filter's comparisons, or of the sort.
  private var wantedOrder: Collation? {
    let tests = filter.conjunction.tests
    if let compared = tests.lazy.compactMap(\.test.uncollated.collation).first { return compared }
    let isByCodePoint = tests.contains {
      KeyCondition($0.test, number: nil, in: nil) != nil && $0.test.comparesTexts
    }
    return isByCodePoint || limit == nil ? nil : sort.first?.collation
  }

  private func wantedKeys(in order: Collation?) -> [IndexSpec.Key] {
    var equal: [Path] = []
    var range: Path?
    for (path, test) in filter.conjunction.tests {
      guard let condition = KeyCondition(test, number: nil, in: order),
        !format.isReserved(path.top.text)
      else { continue }
      if condition.form == .range {
        range = range ?? path
      } else if !equal.contains(path) {
        equal.append(path)
      }
    }
    equal.sort { RecordID($0.text) < RecordID($1.text) }
    var keys = equal.prefix(Self.maxEqualMembers).map { IndexSpec.Key(path: $0, ascending: true) }
    let isUsed = { (path: Path) in keys.contains { $0.path == path } }
    if let range, !isUsed(range) {
      keys.append(IndexSpec.Key(path: range, ascending: true))
    } else if limit != nil, !keys.isEmpty || filter == .everything {
      guard let sorted = sortedMembers(in: order), keys.count + sorted.count <= IndexSpec.maxKeys
      else { return keys }
      keys += sorted.filter { !isUsed($0.path) }
    }
    return keys
  }

  /// The sort as keys of an index; nil if something is computed, belongs to the format, or is in another order.
  private func sortedMembers(in order: Collation?) -> [IndexSpec.Key]? {
    var keys: [IndexSpec.Key] = []
    for key in sort {
      guard let path = key.indexedMember(in: order), !format.isReserved(path.top.text) else {
        return nil
      }
      keys.append(IndexSpec.Key(path: path, ascending: key.ascending))
    }
    return keys
  }
}
