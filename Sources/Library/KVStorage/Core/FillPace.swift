internal import KVSQLite

/// How many entities are added to a new index in one transaction: few while others write and wait for it, and twice as
/// many each time while no others write. The more are added at once, the fewer times each page of the index is written.
struct FillPace {
  private static let fewest: Int64 = 2_000
  /// More are not added at once, however little each one takes: the next ones may have a thousand times as many entries. So many
  /// are sorted in memory.
  static let most: Int64 = 20_000

  /// What the file looked like to the connection that writes.
  private struct Mark: Equatable {
    let epoch: Int
    let changes: Int
  }

  /// Nanoseconds that a transaction should not take longer than.
  private let longest: Int64
  private var count = fewest
  /// After the last step; nil: there was none.
  private var mark: Mark?

  init(longest: Int64 = 250_000_000) { self.longest = longest }

  /// Begins a step: gives how many entities to add.
  mutating func begin(on db: borrowing Connection) -> Int64 {
    if let mark, mark != Self.mark(of: db) { count = Self.fewest }
    return count
  }

  /// Ends it, in the same transaction.
  mutating func end(on db: borrowing Connection) { mark = Self.mark(of: db) }

  /// Takes in how many nanoseconds the transaction took.
  mutating func took(_ nanoseconds: Int64) {
    if nanoseconds > longest {
      count = max(Self.fewest, count / 2)
    } else if nanoseconds < longest / 2 {
      count = min(Self.most, count * 2)
    }
  }

  private static func mark(of db: borrowing Connection) -> Mark {
    Mark(epoch: db.epoch, changes: db.totalChanges)
  }
}
