import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// The invariant that everything else about lost answers rests on.
@Suite("Two requests for one entity") struct SendGateTests {
  /// Everything that sends something for the entity `x`.
  enum Sender: CaseIterable {
    case push, save, saveMany, remove, savePastQueue, saveManyPastQueue, removePastQueue,
      removeByQuery,
      removeByQueryPastQueue

    func send(_ fixture: TestEngine, _ call: Call) throws {
      let (queued, forced) = (
        fixture.options(.silentLocalThenNetwork, call), fixture.options(.forceNetwork, call)
      )
      let entity = Array(#"{"_id":"x","n":2}"#.utf8)
      let outline = try EntityScanner.outline(of: entity)
      let many = Array(#"[{"_id":"x","n":2},{"_id":"y","n":2}]"#.utf8)
      let outlines = try EntityScanner.outlines(ofArray: many)
      let query = try Query(filter: #"{"n":1}"#)
      let engine = fixture.engine
      switch self {
      case .push: _ = try engine.push(call)
      case .save: _ = try entity.withUnsafeBytes { try engine.save($0, outline, options: queued) }
      case .savePastQueue:
        _ = try entity.withUnsafeBytes { try engine.save($0, outline, options: forced) }
      case .saveMany:
        _ = try many.withUnsafeBytes { try engine.saveMany($0, outlines, options: queued) }
      case .saveManyPastQueue:
        _ = try many.withUnsafeBytes { try engine.saveMany($0, outlines, options: forced) }
      case .remove: _ = try engine.remove(id: "x", options: queued)
      case .removePastQueue: _ = try engine.remove(id: "x", options: forced)
      case .removeByQuery: _ = try engine.remove(query, queued)
      case .removeByQueryPastQueue: _ = try engine.remove(query, forced)
      }
    }
  }

  private static let soon = 0.02

  @Test("never overlap, whoever sends them", arguments: Sender.allCases, Sender.allCases)
  func noOverlap(_ first: Sender, _ second: Sender) throws {
    let fixture = try TestEngine(.auto)
    try fixture.publish(["_id": "x", "n": 0])
    _ = try fixture.engine.pull(Query(), Call())
    try fixture.save(["_id": "x", "n": 1], .forceLocal)
    let underWay = Monitor(0)
    let maximum = Monitor(0)
    fixture.remote.duringWrite = { [unowned fixture] in
      let depth = underWay.withLock { count -> Int in
        count += 1
        return count
      }
      defer { underWay.withLock { $0 -= 1 } }
      maximum.withLock { $0 = max($0, depth) }
      // The first request is under way: the second one has to wait for its end, which its deadline does not
      // let it.
      guard depth == 1 else { return }
      _ = try? second.send(fixture, Call(deadline: .after(seconds: Self.soon)))
    }
    _ = try? first.send(fixture, Call())
    #expect(maximum.withLock { $0 } == 1)
  }

  @Test("never overlap when threads send them at once, through engines of different stores")
  func threads() throws {
    let fixture = try TestEngine(.auto)
    let other = CollectionEngine(
      collection: TestEngine.collection, type: .network, local: nil,
      remote: layers(around: fixture.remote), sendGate: fixture.sendGate, writer: { "ana" })
    try fixture.save(["_id": "x", "n": 1], .forceLocal)
    struct UnderWay {
      var now = 0
      var maximum = 0
      var total = 0
    }
    let underWay = Monitor(UnderWay())
    fixture.remote.duringWrite = {
      underWay.withLockNotifyingAll { requests in
        requests.now += 1
        requests.total += 1
        requests.maximum = max(requests.maximum, requests.now)
      }
      // As long as another one may come in, which a broken gate lets in at once.
      _ = underWay.wait(until: .after(seconds: Self.soon)) { $0.now > 1 ? true : nil }
      underWay.withLock { $0.now -= 1 }
    }
    let failures = Monitor<[String]>([])
    let engines = [fixture.engine, other]
    let threads = (0..<6).map { number in
      Worker("test-send-\(number)") {
        for round in 0..<3 {
          let entity = Array(#"{"_id":"x","n":\#(number * 10 + round)}"#.utf8)
          do {
            let outline = try EntityScanner.outline(of: entity)
            let options = CallOptions(
              readPolicy: .forceNetwork, writePolicy: .forceNetwork, call: Call(), ttl: nil)
            _ = try entity.withUnsafeBytes {
              try engines[number % 2].save($0, outline, options: options)
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
    }
    for thread in threads { thread?.join() }
    fixture.remote.duringWrite = {}
    #expect(failures.withLock { $0 }.isEmpty)
    #expect(underWay.withLock { ($0.total, $0.maximum) } == (18, 1))
  }

  // MARK: The gate itself

  @Test("a request for any entity waits for all, and goes before those that come later")
  func exclusive() throws {
    let gate = SendGate()
    let order = Monitor<[String]>([])
    let late = Call(deadline: .after(seconds: Self.soon))
    var threads: [Worker?] = []
    try gate.sending(["a"], Call()) { () throws(StoreError) in
      #expect(failure { try gate.sendingAny(late) {} }?.kind == .timeout)
      try gate.sending(["b"], late) { () throws(StoreError) in }
      let waits = Monitor(false)
      let any = Worker("test-any") {
        waits.withLockNotifyingAll { $0 = true }
        try? gate.sendingAny(Call()) { () throws(StoreError) in order.withLock { $0.append("any") }
        }
      }
      threads.append(any)
      _ = waits.wait { $0 ? true : nil }
      // Until that one has got in line others still pass; from then on none does.
      while failure({ try gate.sending(["b"], late) {} }) == nil {}
      let one = Worker("test-one") {
        try? gate.sending(["b"], Call()) { () throws(StoreError) in
          order.withLock { $0.append("b") }
        }
      }
      threads.append(one)
    }
    for thread in threads { thread?.join() }
    #expect(order.withLock { $0 } == ["any", "b"])
    try gate.sending(["a", "b"], late) { () throws(StoreError) in }
  }
}

extension TestEngine {
  fileprivate func options(_ write: WritePolicy, _ call: Call) -> CallOptions {
    CallOptions(readPolicy: .forceLocal, writePolicy: write, call: call, ttl: nil)
  }
}
