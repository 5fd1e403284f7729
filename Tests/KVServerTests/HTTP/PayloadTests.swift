import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Payloads") struct PayloadTests {
  @Test("hold what was appended, in order, whatever its kind")
  func appending() {
    let payload = Payload("a")
    payload.append("bc" as StaticString)
    payload.append(byte: 0x64)
    payload.append([0x65, 0x66])
    payload.append(String("ghi"))
    payload.append(UnsafeRawBufferPointer(start: nil, count: 0))
    #expect(text(payload) == "abcdefghi")
    payload.discard()
    payload.append("j" as StaticString)
    #expect(text(payload) == "j" && payload.isComplete)
  }

  @Test("say so when there is no memory, and keep what they had")
  func exhaustion() {
    let payload = Payload("abc")
    #expect(!payload.reserve(Int.max - 1))
    #expect(!payload.isComplete)
    payload.append(byte: 1)
    #expect(text(payload) == "abc")
  }

  @Test("take their memory from a budget as they grow, and give it back")
  func budget() {
    let budget = MemoryBudget(limit: 10_000)
    var payload: Payload? = Payload(expecting: 6000, within: budget)
    #expect(budget.reserved == 0)
    for _ in 0..<60 { payload?.append([UInt8](repeating: 1, count: 100)) }
    #expect(payload?.count == 6000 && payload?.isComplete == true)
    #expect(budget.reserved == 6000)
    let other = Payload(expecting: 5000, within: budget)
    for _ in 0..<50 { other.append([UInt8](repeating: 1, count: 100)) }
    #expect(!other.isComplete && other.count < 5000)
    other.discard()
    #expect(budget.reserved == 6000)
    payload = nil
    #expect(budget.reserved == 0)
  }

  private func text(_ payload: Payload) -> String {
    payload.withBytes { String(decoding: $0, as: UTF8.self) }
  }
}
