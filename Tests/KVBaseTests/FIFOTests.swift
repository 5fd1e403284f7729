import KVBase
import Testing

@Suite("A queue") struct FIFOTests {
  @Test("What is taken first was put first, however adding and taking mix")
  func fifo() {
    var queue = FIFO<Int>()
    var (next, taken) = (0, 0)
    for round in 0..<200 {
      for _ in 0..<(round % 7) {
        queue.append(next)
        next += 1
      }
      for _ in 0..<(round % 5) where !queue.isEmpty {
        #expect(queue.popFirst() == taken)
        taken += 1
      }
      #expect(queue.count == next - taken)
    }
    while let number = queue.popFirst() {
      #expect(number == taken)
      taken += 1
    }
    #expect(taken == next && queue.isEmpty)
  }
}
