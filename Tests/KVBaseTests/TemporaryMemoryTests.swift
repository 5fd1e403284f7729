import KVBase
import Testing

@Suite("Temporary memory") struct TemporaryMemoryTests {
  private struct Refusal: Error, Equatable { let number: Int }

  private func sum(to limit: Int) throws(Refusal) -> Int {
    try withTemporaryMemory(of: Int.self, capacity: limit) { (memory) throws(Refusal) in
      guard memory.count == limit else { throw Refusal(number: memory.count) }
      memory.initialize(repeating: 1)
      guard limit != 13 else { throw Refusal(number: limit) }
      return memory.reduce(0, +)
    }
  }

  @Test("has room for the values, on the stack or not", arguments: [0, 1, 1024, 100_000])
  func hasRoom(limit: Int) throws {
    #expect(try sum(to: limit) == limit)
  }

  @Test("passes on the error of its body with its type")
  func passesOnTheError() {
    #expect(throws: Refusal(number: 13)) { try sum(to: 13) }
  }
}
