import KVBase
import KVSync
import KVTestSupport
import Testing

@testable import KVStore

@Suite struct EventBufferTests {
  @Test("What nobody reads is dropped, and the reader is told once")
  func dropped() async {
    let buffer = EventBuffer<Int>(limit: 3, missed: -1)
    for event in 1...10 { buffer.send(event) }
    #expect(await buffer.next() == 1)
    buffer.send(11)
    buffer.end()
    var rest: [Int] = []
    while let event = await buffer.next() { rest.append(event) }
    #expect(rest == [2, 3, -1])
    buffer.send(12)
    #expect(await buffer.next() == nil)
  }

  @Test("Once the reader has caught up, it is told of everything again")
  func caughtUp() async {
    let buffer = EventBuffer<Int>(limit: 1, missed: -1)
    for event in 1...3 { buffer.send(event) }
    #expect(await buffer.next() == 1)
    #expect(await buffer.next() == -1)
    buffer.send(4)
    #expect(await buffer.next() == 4)
  }

  @Test("A task that is cancelled while it reads the state stops the sender")
  func cancelledWhileReading() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    let isStopped = Monitor(false)
    let (reading, read) = AsyncStream.makeStream(of: Void.self)
    let mayReturn = Gate()
    let source = SignalledSource(EventBuffer<Void>.signals(), of: client) {
      () throws(StoreError) -> Int? in
      read.yield()
      mayReturn.wait()
      throw .taskCancelled
    } end: {
      isStopped.withLock { $0 = true }
    }
    let task = Task { try await source.next() }
    for await _ in reading { break }
    task.cancel()
    mayReturn.open()
    #expect(try await task.value == nil)
    #expect(isStopped.withLock { $0 })
    withExtendedLifetime(source) {}
    await client.close()
  }

  @Test("Ending stops the sender, once, also after the end")
  func end() async {
    let (stopped, stop) = AsyncStream.makeStream(of: Int.self)
    let buffer = EventBuffer<Int>()
    buffer.onEnd { stop.yield(1) }
    buffer.end()
    buffer.end()
    buffer.onEnd { stop.yield(2) }
    stop.finish()
    var calls: [Int] = []
    for await call in stopped { calls.append(call) }
    #expect(calls == [1, 2])
  }
}
