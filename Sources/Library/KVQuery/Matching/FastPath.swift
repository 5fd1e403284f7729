internal import CScan
internal import Glibc
internal import KVJSON

/// The form that most predicates have, made flat: comparisons of members, at the top or inside of objects, with
/// numbers, texts, booleans and null, all of which have to hold. It decides without touching a reference count.
///
/// Of values that need more than a look (arrays, escapes, long numbers) it says nothing, and the tree decides.
///
/// `@unchecked Sendable`: what the pointers lead to is written once, before anybody else has them.
final class FastPath: @unchecked Sendable {
  /// The accepted orders of a value relative to the operand.
  private struct Orders: OptionSet {
    let rawValue: UInt8
    static let less = Orders(rawValue: 1)
    static let equal = Orders(rawValue: 2)
    static let greater = Orders(rawValue: 4)

    func contains(order: Int) -> Bool {
      contains(order < 0 ? .less : order > 0 ? .greater : .equal)
    }
  }

  private struct Entry {
    let slot: Int
    /// The names that lead from the top-level member to the one that is compared.
    let rest: UnsafeBufferPointer<kv_member_name>
    let orders: Orders
    let kind: RawValue.Kind
    let bool: Bool
    let number: Number
    let text: UnsafeBufferPointer<UInt8>
  }

  private let entries: UnsafeMutableBufferPointer<Entry>
  /// Own the names of `Entry.rest`.
  private let names: [NameTable]

  /// Prepares a predicate; nil for one of another form. `slots`: the numbers of the members.
  init?(_ predicate: Predicate, _ slots: [[UInt8]: Int]) {
    var found: [Entry] = []
    var names: [NameTable] = []
    let isFlat = FastPath.add(predicate, slots, to: &found, names: &names)
    self.names = names
    guard isFlat, !found.isEmpty else {
      found.forEach { $0.text.deallocate() }
      return nil
    }
    entries = .allocate(capacity: found.count)
    _ = entries.initialize(from: found)
  }

  deinit {
    entries.forEach { $0.text.deallocate() }
    entries.deallocate()
  }

  private static func add(
    _ predicate: Predicate, _ slots: [[UInt8]: Int], to entries: inout [Entry],
    names: inout [NameTable]
  ) -> Bool {
    switch predicate {
    case .and(let parts): return parts.allSatisfy { add($0, slots, to: &entries, names: &names) }
    case .field(let path, let tests):
      guard let slot = slots[path.components[0].name] else { return false }
      let table = NameTable(path.components.dropFirst().map(\.name))
      names.append(table)
      let rest = UnsafeBufferPointer(start: table.first, count: table.names.count)
      return tests.allSatisfy { test in
        guard let entry = entry(slot, rest, of: test) else { return false }
        entries.append(entry)
        return true
      }
    case .everything, .nothing, .or, .nor, .text, .comparison: return false
    }
  }

  private static func entry(
    _ slot: Int, _ rest: UnsafeBufferPointer<kv_member_name>, of test: Test
  ) -> Entry? {
    switch test {
    case .equal(let value): entry(slot, rest, orders: .equal, value: value)
    case .compare(.less, let value): entry(slot, rest, orders: .less, value: value)
    case .compare(.lessOrEqual, let value):
      entry(slot, rest, orders: [.less, .equal], value: value)
    case .compare(.greater, let value): entry(slot, rest, orders: .greater, value: value)
    case .compare(.greaterOrEqual, let value):
      entry(slot, rest, orders: [.greater, .equal], value: value)
    default: nil
    }
  }

  private static func entry(
    _ slot: Int, _ rest: UnsafeBufferPointer<kv_member_name>, orders: Orders,
    value: JSONValue
  ) -> Entry? {
    guard value.kind != .array, value.kind != .object else { return nil }
    let bytes = Array((value.stringValue ?? "").utf8)
    let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
    _ = text.initialize(from: bytes.isEmpty ? [0] : bytes)
    return Entry(
      slot: slot, rest: rest, orders: orders, kind: value.kind, bool: value == .bool(true),
      number: Number(value) ?? .int(0), text: UnsafeBufferPointer(rebasing: text[..<bytes.count]))
  }

  /// Whether all tests hold; nil if that takes more than a look.
  @inline(__always)
  func verdict(_ scanner: ByteScanner, _ slots: UnsafeBufferPointer<kv_span>) -> Bool? {
    for entry in entries {
      var found = slots[entry.slot]
      let mustLook = kv_follow(scanner.base, entry.rest.baseAddress, entry.rest.count, &found)
      guard mustLook == 0 else { return nil }
      guard found.end != 0 else {
        // What is missing compares as null.
        guard entry.kind == .null, entry.orders.contains(.equal) else { return false }
        continue
      }
      let value = RawValue(scanner, Range(uncheckedBounds: (found.start, found.end)))
      let kind = value.kind
      guard kind != .array else { return nil }
      guard kind == entry.kind else { return false }
      guard let order = FastPath.order(of: value, to: entry) else { return nil }
      guard entry.orders.contains(order: order) else { return false }
    }
    return true
  }

  /// Compares a value of the operand's kind.
  @inline(__always)
  private static func order(of value: RawValue, to entry: Entry) -> Int? {
    switch entry.kind {
    case .number: return Number.compare(value.number, entry.number)
    case .string: return order(of: value, to: entry.text)
    case .bool: return (value.bool ? 1 : 0) - (entry.bool ? 1 : 0)
    case .null: return 0
    case .object, .array: return nil
    }
  }

  /// Returns the bytes of a text; nil for one with escapes.
  @inline(__always)
  private static func order(
    of value: RawValue, to text: UnsafeBufferPointer<UInt8>
  ) -> Int? {
    let start = value.scanner.base + value.range.lowerBound + 1
    let count = value.range.count - 2
    guard count >= 0, memchr(start, 0x5C, count) == nil else { return nil }
    return ValueEncoding.compare(UnsafeBufferPointer(start: start, count: count), text)
  }
}
