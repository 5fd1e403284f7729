/// Runs `count` pieces of work, up to `threads` of them at a time, and gives what came of each in their order.
///
/// The calling thread works too; with one thread it does everything, in order. Should the system give no
/// further thread, those there are do the rest.
package func together<R: Sendable>(
  _ count: Int, threads: Int, _ work: @escaping @Sendable (Int) -> R
) -> [R] {
  let results = Monitor<[R?]>(Array(repeating: nil, count: max(0, count)))
  let next = Monitor(0)
  let loop: @Sendable () -> Void = {
    while true {
      let place = next.peek { next in
        defer { next += 1 }
        return next
      }
      guard place < count else { return }
      let result = work(place)
      results.peek { $0[place] = result }
    }
  }
  let helpers = (1..<max(1, min(threads, count))).compactMap { _ in Worker("kv-together", loop) }
  loop()
  for helper in helpers { helper.join() }
  return results.peek { $0.compactMap { $0 } }
}
