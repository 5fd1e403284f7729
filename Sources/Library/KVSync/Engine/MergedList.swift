internal import KVBase
internal import KVJSON

/// Lists that two sides have changed: what ours added is appended to theirs, what ours removed is removed there.
///
/// An element that both have added is there once, unless the list is appended to. The order is theirs.
enum MergedList {
  /// Nil if one of them is no list, or, without a rule, if ours has only another order. `base` nil: there was none.
  static func joined(
    _ base: [UInt8]?, _ ours: [UInt8], theirs bytes: [UInt8], by rule: MergeRules.Rule? = nil
  ) throws(StoreError) -> [UInt8]? {
    guard let base = try elements(base ?? Array("[]".utf8)), let ours = try elements(ours),
      let theirs = try elements(bytes)
    else { return nil }
    var (changes, others): ([[UInt8]: Int], [[UInt8]: Int]) = ([:], [:])
    for element in ours { changes[element.key, default: 0] += 1 }
    for element in theirs { others[element.key, default: 0] += 1 }
    for element in base {
      changes[element.key, default: 0] -= 1
      others[element.key, default: 0] -= 1
    }
    guard changes.values.contains(where: { $0 != 0 }) else {
      return rule == nil ? nil : bytes
    }
    var (added, removed): ([[UInt8]: Int], [[UInt8]: Int]) = ([:], [:])
    for (key, change) in changes {
      let other = others[key] ?? 0
      if change > 0 { added[key] = rule == .append ? change : max(0, change - max(0, other)) }
      if change < 0 { removed[key] = max(0, min(0, other) - change) }
    }
    var list = JSONArrayWriter()
    for element in theirs where !take(element.key, from: &removed) { list.add(json: element.text) }
    // Of several equal ones the last are new.
    var new: [[UInt8]] = []
    for element in ours.reversed() where take(element.key, from: &added) {
      new.append(element.text)
    }
    for text in new.reversed() { list.add(json: text) }
    return list.finish()
  }

  /// What a list was before `ours` was appended to it; the list itself if it does not end like that.
  static func before(_ list: [UInt8]?, appended ours: [UInt8]?) throws(StoreError) -> [UInt8]? {
    guard let bytes = list, let ours, let all = try elements(bytes), let end = try elements(ours),
      !end.isEmpty, all.count >= end.count, all.suffix(end.count).map(\.key) == end.map(\.key)
    else { return list }
    var rest = JSONArrayWriter()
    for element in all.dropLast(end.count) { rest.add(json: element.text) }
    return rest.finish()
  }

  private static func take(_ key: [UInt8], from counts: inout [[UInt8]: Int]) -> Bool {
    guard let count = counts[key], count > 0 else { return false }
    counts[key] = count - 1
    return true
  }

  /// The texts of the elements, and what they are compared by; nil: that is no list.
  private static func elements(
    _ bytes: [UInt8]
  ) throws(StoreError) -> [(text: [UInt8], key: [UInt8])]? {
    guard bytes.first == UInt8(ascii: "["), let values = try JSONValue.ifValid(bytes)?.arrayValue
    else { return nil }
    let texts = bytes.withBorrowedBytes { bytes -> [[UInt8]]? in
      let scanner = ByteScanner(bytes)
      guard var cursor = try? ElementCursor(scanner, at: 0) else { return nil }
      var texts: [[UInt8]] = []
      while let element = try? cursor.next() { texts.append(Array(bytes[element])) }
      return texts
    }
    guard let texts, texts.count == values.count else { return nil }
    return zip(texts, values).map { ($0, $1.bytes) }
  }
}
