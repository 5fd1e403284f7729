/// A dictionary that forgets what was not used for the longest time, so that it has a bound. One thread at a time.
///
/// Entries are in two generations: what is set or found is in the younger one. When that is full, the older one is
/// dropped and the younger one replaces it. So at least the last `limit` entries that were used are known, and
/// at most twice as many are kept.
struct RecentTable<Value> {
  private let limit: Int
  private var young: [Int: Value] = [:]
  private var old: [Int: Value] = [:]

  init(limit: Int) { self.limit = limit }

  subscript(_ key: Int) -> Value? {
    mutating get {
      if let value = young[key] { return value }
      guard let value = old[key] else { return nil }
      self[key] = value
      return value
    }
    set {
      old[key] = nil
      if young.count >= limit, young[key] == nil { (young, old) = ([:], young) }
      young[key] = newValue
    }
  }

  var count: Int { young.count + old.count }
}
