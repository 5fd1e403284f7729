internal import KVBase

/// Runs `body` on so many threads at once, and gives what they return other than nil.
package func concurrently<R: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) -> R?
) -> [R] {
  let results = Monitor<[R]>([])
  let workers = (0..<count).map { number in
    Worker("test-\(number)") {
      if let result = body(number) { results.withLock { $0.append(result) } }
    }
  }
  for worker in workers { worker?.join() }
  return results.withLock { $0 }
}
