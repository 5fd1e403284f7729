/// Keeps what was used lately, up to twice `capacity` in the costs of the values: two generations, of which the older one is
/// forgotten once the younger one is full. What is used again moves into the younger one: it stays as long as less than
/// `capacity` of others comes between two uses. A value that costs more is kept as well, alone in its generation.
///
/// Each operation takes constant time, however many values there are. Not for several threads at a time. What is inlinable is so
/// that other rooms compile it for their types, which makes it three times as fast.
package struct RecentCache<Key: Hashable, Value> {
  @usableFromInline
  struct Generation {
    @usableFromInline var entries: [Key: (value: Value, cost: Int)] = [:]
    @usableFromInline var cost = 0

    @usableFromInline
    init() {}

    @inlinable
    mutating func remove(_ key: Key) -> (value: Value, cost: Int)? {
      guard let entry = entries.removeValue(forKey: key) else { return nil }
      cost -= entry.cost
      return entry
    }
  }

  @usableFromInline let capacity: Int
  @usableFromInline var young = Generation()
  @usableFromInline var old = Generation()

  package init(capacity: Int) { self.capacity = capacity }

  /// The cost of all values.
  package var cost: Int { young.cost + old.cost }

  package var values: [Value] {
    young.entries.values.map(\.value) + old.entries.values.map(\.value)
  }

  @inlinable
  package mutating func value(for key: Key) -> Value? {
    if let entry = young.entries[key] { return entry.value }
    guard let entry = old.remove(key) else { return nil }
    keep(entry.value, for: key, cost: entry.cost)
    return entry.value
  }

  /// Keeps a value in place of the one with the same key.
  @inlinable
  package mutating func keep(_ value: Value, for key: Key, cost: Int = 1) {
    _ = young.remove(key) ?? old.remove(key)
    if young.cost + cost > capacity { (old, young) = (young, Generation()) }
    young.entries[key] = (value, cost)
    young.cost += cost
  }

  @inlinable
  package mutating func remove(_ key: Key) { _ = young.remove(key) ?? old.remove(key) }

  @inlinable
  package mutating func removeAll() { (young, old) = (Generation(), Generation()) }
}

extension RecentCache.Generation: Sendable where Key: Sendable, Value: Sendable {}
extension RecentCache: Sendable where Key: Sendable, Value: Sendable {}
