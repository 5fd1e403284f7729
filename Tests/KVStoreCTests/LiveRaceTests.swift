internal import CKVStore
import Glibc
import KVBase
import KVServer
import KVServerCore
import KVServerHTTP
import KVTestSupport
import Testing

@testable import KVStoreC

/// What one subscription was told, and whether that came in time.
private final class Witness: Sendable {
  struct Seen { var isReady = false, changes: [String] = [], freed = 0, inside = 0, missed = 0 }
  let seen = Monitor(Seen())

  private func receive(_ event: UnsafePointer<kv_event>?) {
    let text = event?.pointee.json.map { String(cString: $0) } ?? ""
    seen.withLockNotifyingAll { seen in
      if text.hasPrefix(#"{"event":"ready""#) { seen.isReady = true }
      if text.hasPrefix(#"{"event":"missed""#) { seen.missed += 1 }
      if text.hasPrefix(#"{"event":"change""#) { seen.changes.append(text) }
    }
  }

  private static func at(_ context: UnsafeMutableRawPointer?) -> Witness? {
    context.map { Unmanaged<Witness>.fromOpaque($0).takeUnretainedValue() }
  }

  private static let handler: kv_event_fn = { context, event in
    guard let witness = Witness.at(context) else { return }
    witness.seen.withLockNotifyingAll { $0.inside += 1 }
    witness.receive(event)
    witness.seen.withLockNotifyingAll { $0.inside -= 1 }
  }

  /// Gives a subscription with this as the context of all four handlers.
  func subscribe(to store: Handle, _ out: inout OpaquePointer?) -> kv_status {
    kv_store_subscribe(
      store.pointer, nil, Self.handler, Self.handler, Self.handler, Self.handler,
      Unmanaged.passRetained(self).toOpaque(),
      { context in
        guard let context else { return }
        Unmanaged<Witness>.fromOpaque(context).takeRetainedValue().seen.withLockNotifyingAll {
          $0.freed += 1
        }
      }, &out, nil)
  }
}

/// A real server, a client that listens, and one that writes.
private final class LiveScene: Sendable {
  let directory = TemporaryDirectory(inMemory: true)
  let server: Server
  let reader: Handle
  let writer: Handle

  init() throws {
    var configuration = Server.Configuration(data: directory.file("server"))
    configuration.listen = ListenAddress(host: "127.0.0.1", port: 0)
    configuration.apps = [.init(key: "kid", secret: "secret", masterSecret: "master")]
    configuration.passwordCost = 1
    configuration.isDurable = false
    // Tests sign up many users from one address, with short passwords, and change them as original SDKs do.
    configuration.passwordLength = 1
    configuration.asksOldPassword = false
    configuration.useLimits.signUpsPerHour = 0
    server = try Server(configuration)
    reader = try Self.client("reader", in: directory, of: server)
    writer = try Self.client("writer", in: directory, of: server)
    try #require(kv_live_register(reader.pointer, nil, nil) == Status.ok)
  }

  deinit {
    kv_client_close(reader.pointer)
    kv_client_close(writer.pointer)
    server.stop(graceSeconds: 0)
  }

  private static func client(
    _ name: String, in directory: TemporaryDirectory, of server: Server
  ) throws -> Handle {
    let options = """
      {"appKey":"kid","appSecret":"secret","host":"http://\(server.address)","durability":"normal",
       "dataDirectory":"\(directory.file(name))"}
      """
    var client: OpaquePointer?
    try #require(kv_client_open(options, -1, &client, nil) == Status.ok)
    let handle = Handle(client)
    try #require(kv_user_signup(client, nil, 0, nil, nil, nil, nil) == Status.ok)
    return handle
  }

  func store(_ client: Handle, _ collection: String) throws -> Handle {
    var store: OpaquePointer?
    try #require(
      kv_store_open(client.pointer, collection, "network", nil, &store, nil) == Status.ok)
    return Handle(store)
  }
}

/// Subscriptions that come and go while messages arrive: for the thread sanitizer, which the C programs cannot ask.
@Suite("Live races") struct LiveRaceTests {
  @Test(
    "a thousand subscriptions come and go, nothing comes late, and who stays is told everything once"
  )
  func comeAndGo() throws {
    let scene = try LiveScene()
    let collections = ["a", "b", "c"]
    let stores = try collections.map { try scene.store(scene.reader, $0) }
    let stays = Witness()
    var staying: OpaquePointer?
    #expect(stays.subscribe(to: stores[0], &staying) == Status.ok)
    #expect(stays.seen.wait(until: .after(seconds: 60)) { $0.isReady ? true : nil } == true)
    let written = try collections.map { try scene.store(scene.writer, $0) }
    let isOver = Monitor(false)
    let count = Monitor(0)
    let writer = Worker("writer") {
      for number in 0..<Int.max {
        guard !isOver.withLock({ $0 }) else { return }
        for store in written {
          let entity = #"{"_id":"\#(number)"}"#
          #expect(kv_store_save(store.pointer, entity, -1, nil, nil, nil, nil) == Status.ok)
        }
        count.withLockNotifyingAll { $0 = number + 1 }
      }
    }
    let wrong = concurrently(4) { thread -> Int? in
      (0..<250).map { Self.comeAndGo(stores[(thread + $0) % 3], waits: $0 % 125 == 0) }.reduce(0, +)
    }
    isOver.withLockNotifyingAll { $0 = true }
    writer?.join()
    #expect(wrong.reduce(0, +) == 0)
    let wanted = count.withLock { $0 }
    let received = stays.seen.wait(until: .after(seconds: 60)) {
      $0.changes.count >= wanted ? $0 : nil
    }
    let seen = received ?? stays.seen.withLock { $0 }
    #expect(seen.missed == 0)
    #expect(seen.changes.map(Self.id) == (0..<wanted).map(String.init))
    kv_subscription_close(staying)
    #expect(stays.seen.withLock { $0.freed == 1 && $0.inside == 0 })
  }

  /// The id of a change.
  private static func id(_ change: String) -> String {
    let parts = change.split(separator: "\"id\":\"", maxSplits: 1)
    return parts.last.map { String($0.prefix { $0 != "\"" }) } ?? ""
  }

  /// One that is closed at once, or when it is ready; gives how much was wrong.
  private static func comeAndGo(_ store: Handle, waits: Bool) -> Int {
    let witness = Witness()
    var subscription: OpaquePointer?
    guard witness.subscribe(to: store, &subscription) == Status.ok else { return 1 }
    if waits {
      let isReady = witness.seen.wait(until: .after(seconds: 60)) { $0.isReady ? true : nil }
      if isReady == nil { return 1 }
    }
    guard kv_subscription_close(subscription) == Status.ok else { return 1 }
    let seen = witness.seen.withLock { $0 }
    let isRight = seen.freed == 1 && seen.inside == 0
    for _ in 0..<50 { sched_yield() }
    return isRight && witness.seen.withLock { $0.changes.count == seen.changes.count } ? 0 : 1
  }

  @Test("the client is closed while subscriptions come and go: each context is freed once")
  func closing() throws {
    for _ in 0..<3 {
      let scene = try LiveScene()
      let store = try scene.store(scene.reader, "a")
      let written = try scene.store(scene.writer, "a")
      let begun = Monitor(0)
      let workers = Monitor<[Witness]>([])
      let threads = (0..<4).compactMap { number in
        Worker("entry") {
          while true {
            let witness = Witness()
            var subscription: OpaquePointer?
            let status = witness.subscribe(to: store, &subscription)
            workers.withLockNotifyingAll { $0.append(witness) }
            begun.withLockNotifyingAll { $0 += 1 }
            guard status == Status.ok else { break }
            if number % 2 == 0 { kv_subscription_close(subscription) }
          }
        }
      }
      for number in 0..<10 {
        let entity = #"{"_id":"\#(number)"}"#
        #expect(kv_store_save(written.pointer, entity, -1, nil, nil, nil, nil) == Status.ok)
      }
      _ = begun.wait { $0 > 40 ? true : nil }
      #expect(kv_client_close(scene.reader.pointer) == Status.ok)
      let received = workers.withLock { $0.map { $0.seen.withLock { $0.changes.count } } }
      for thread in threads { thread.join() }
      let seen = workers.withLock { $0.map { $0.seen.withLock { $0 } } }
      #expect(seen.allSatisfy { $0.freed == 1 && $0.inside == 0 })
      #expect(zip(received, seen).allSatisfy { $0 == $1.changes.count })
    }
  }
}
