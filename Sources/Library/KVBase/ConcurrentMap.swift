/// Runs `count` pieces of work, up to `threads` of them at a time, and gives what came of each in their order.
///
/// The calling thread works too; with one thread it does everything, in order. Should the system give no
/// further thread, those there are do the rest.
package func concurrentMap<R: Sendable>(
  _ count: Int, threads: Int, _ work: @escaping @Sendable (Int) -> R
) -> [R] {
  let results = Monitor<[R?]>(Array(repeating: nil, count: max(0, count)))
  let next = Monitor(0)
  let loop: @Sendable () -> Void = {
    while true {
      let index = next.withLock { next in
        defer { next += 1 }
        return next
      }
      guard index < count else { return }
      let result = work(index)
      results.withLock { $0[index] = result }
    }
  }
  let helpers = (1..<max(1, min(threads, count))).compactMap { _ in Worker("kv-map", loop) }
  loop()
  for helper in helpers { helper.join() }
  return results.withLock { $0.compactMap { $0 } }
}
