internal import KVBase

/// The last few thousand of what has been seen: memory for what is repeated, of a bounded size.
struct RecentKeys {
  private let capacity: Int
  private var known: Set<RecordID> = []
  private var order = FIFO<RecordID>()

  init(capacity: Int) { self.capacity = capacity }

  /// False if it was there already.
  mutating func insert(_ text: String) -> Bool {
    let key = RecordID(text)
    guard known.insert(key).inserted else { return false }
    order.append(key)
    if order.count > capacity, let oldest = order.popFirst() { known.remove(oldest) }
    return true
  }
}
