internal import KVBase

/// The last few thousand of what has been seen: memory for what is repeated, of a bounded size.
struct RecentKeys {
  private let most: Int
  private var known: Set<EntityKey> = []
  private var order = FIFO<EntityKey>()

  init(most: Int) { self.most = most }

  /// False if it was there already.
  mutating func insert(_ text: String) -> Bool {
    let key = EntityKey(text)
    guard known.insert(key).inserted else { return false }
    order.append(key)
    if order.count > most, let oldest = order.popFirst() { known.remove(oldest) }
    return true
  }
}
