/// A set of row numbers, which takes a bit for each number up to the largest one.
struct RowSet {
  private var words: [UInt64] = []

  /// Adds a row number, which must not be negative.
  mutating func insert(_ row: Int64) {
    let (word, bit) = (Int(row >> 6), UInt64(1) << UInt64(row & 63))
    if word >= words.count {
      words.append(contentsOf: repeatElement(0, count: max(word + 1 - words.count, words.count)))
    }
    words[word] |= bit
  }

  func contains(_ row: Int64) -> Bool {
    let word = Int(row >> 6)
    return word < words.count && words[word] & (1 << UInt64(row & 63)) != 0
  }
}
