import Testing

@testable import KVServer

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
    payload.truncate(to: 3)
    #expect(text(payload) == "abc")
    payload.truncate(to: 100)
    #expect(payload.count == 3 && payload.isComplete)
  }

  @Test("say so when there is no memory, and keep what they had")
  func exhaustion() {
    let payload = Payload("abc")
    #expect(!payload.reserve(Int.max - 1))
    #expect(!payload.isComplete)
    payload.append(byte: 1)
    #expect(text(payload) == "abc")
  }

  private func text(_ payload: Payload) -> String {
    payload.withBytes { String(decoding: $0, as: UTF8.self) }
  }
}
