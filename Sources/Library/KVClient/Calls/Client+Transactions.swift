package import KVBase
package import KVJSON
internal import KVQuery
internal import KVStorage
package import KVSync

extension Client {
  /// How often a transaction is tried, unless the options say something else.
  private static let defaultRetries = 100
  /// The first pause after a conflict in seconds, and the longest one.
  private static let pauses = (first: 0.0002, longest: 0.05)

  /// `options`: `tag`, and for `transact` `retries` and `timeout`; see kv_transaction_begin.
  package func beginTransaction(_ options: JSONObject?) throws(StoreError) -> Transaction {
    try transaction(options).begin()
  }

  /// Runs `body` in a transaction and commits it; again from its beginning if something that it has read has
  /// changed meanwhile, after a short random pause, as long as the options allow. What `body` throws comes out, and
  /// nothing is written.
  package func transact<R>(
    _ options: JSONObject?, cancellation: Cancellation,
    body: (Transaction) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let (begin, retries, deadline) = try transaction(options)
    let call = Call(deadline: deadline, cancellation: cancellation)
    let clock = SystemRetryClock()
    var attempt = 0
    while true {
      let transaction = try begin()
      defer { transaction.close() }
      let result = try body(transaction)
      do throws(StoreError) {
        try transaction.commit()
        return result
      } catch {
        guard error.kind == .conflict, attempt < retries else { throw error }
        let pause = Retry.pause(
          after: attempt, first: Self.pauses.first, longest: Self.pauses.longest,
          share: clock.random())
        guard try clock.wait(pause, call) else { throw error }
        attempt += 1
      }
    }
  }

  private func transaction(
    _ options: JSONObject?
  ) throws(StoreError) -> (
    begin: () throws(StoreError) -> Transaction, retries: Int, deadline: Deadline
  ) {
    var reader = OptionReader(options ?? [:])
    let tag = try ClientOptions.tag(&reader) ?? self.options.tag
    let retries = try reader.integer("retries", 0...1_000_000) ?? Self.defaultRetries
    let seconds = try reader.seconds("timeout") ?? 60
    try reader.finish()
    let begin = { [self] () throws(StoreError) in
      try Transaction(try storage(tag), context)
    }
    return (begin, retries, .after(seconds: seconds))
  }
}
