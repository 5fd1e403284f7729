internal import CKVStore
import Glibc
import KVBase
import KVSync
import KVTestSupport
import Testing

@testable import KVStoreC

/// What a subscriber saw, and what it does when it is called.
private final class Listener: Sendable {
  struct Seen { var events: [String] = [], freed = 0, isInside = false }
  let seen = Monitor(Seen())
  let action = Monitor<(@Sendable () -> Void)?>(nil)

  var callback: EventCallback {
    EventCallback(
      EventHandlers { context, event in
        guard let context, let event else { return }
        let listener = Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        let error = event.pointee.error.flatMap { kv_error_message($0) }
        let text = (event.pointee.json ?? error).map { String(cString: $0) }
        listener.seen.withLockNotifyingAll {
          $0.isInside = true
          $0.events.append(text ?? "")
        }
        listener.action.withLock { $0 }?()
        listener.seen.withLockNotifyingAll { $0.isInside = false }
      }, Unmanaged.passRetained(self).toOpaque(),
      free: { context in
        guard let context else { return }
        let listener = Unmanaged<Listener>.fromOpaque(context).takeRetainedValue()
        listener.seen.withLockNotifyingAll { $0.freed += 1 }
      })
  }

  func wait(for count: Int) {
    _ = seen.wait(until: .after(seconds: 60)) { $0.events.count >= count ? true : nil }
  }

  func waitUntilFreed() -> Bool {
    seen.wait(until: .after(seconds: 60)) { $0.freed > 0 ? true : nil } ?? false
  }
}

private final class Source: EventSource {
  let ends = Monitor(0)
  func end() { ends.withLockNotifyingAll { $0 += 1 } }
}

/// A client without a backend and one subscription on it.
private final class Scene: Sendable {
  let directory = TemporaryDirectory(inMemory: true)
  let handle: Handle
  let client: ClientObject
  let (listener, source) = (Listener(), Source())
  let subscription: SubscriptionObject
  let subscribed: Handle

  init(_ mode: String = "thread") throws {
    let options = """
      {"appKey":"kid","host":null,"dataDirectory":"\(directory.path)","durability":"normal",
       "callbacks":"\(mode)"}
      """
    var opened: OpaquePointer?
    #expect(kv_client_open(options, -1, &opened, nil) == Status.ok)
    handle = Handle(opened)
    client = try ClientObject.borrow(opened)
    var out: OpaquePointer?
    var made: SubscriptionObject?
    try client.subscribe(listener.callback, handle: HandleOutput(&out, named: "subscription_out")) {
      [source] in
      made = $0
      return source
    }
    subscription = try #require(made)
    subscribed = Handle(out)
  }

  deinit { kv_client_close(handle.pointer) }

  func deliver(_ text: String) { subscription.deliver { .success(Array(text.utf8)) } }
}

@Suite("Subscriptions") struct SubscriptionTests {
  @Test("events come in order, errors too; closing frees the context once and ends the source")
  func order() throws {
    let scene = try Scene()
    for number in 0..<100 { scene.deliver("\(number)") }
    scene.subscription.deliver { .failure(StoreError(.network, "gone")) }
    scene.subscription.deliver { nil }
    scene.listener.wait(for: 101)
    #expect(kv_subscription_close(scene.subscribed.pointer) == Status.ok)
    #expect(kv_subscription_close(scene.subscribed.pointer) == KV_MISUSE)
    #expect(kv_subscription_close(nil) == Status.ok)
    let seen = scene.listener.seen.withLock { $0 }
    #expect(seen.events == (0..<100).map(String.init) + ["gone"])
    #expect(seen.freed == 1)
    #expect(scene.source.ends.withLock { $0 } == 1)
    #expect(!scene.subscription.deliver { nil })
  }

  @Test("closing waits for the callback that runs, and drops what waits")
  func closingWaits() throws {
    let scene = try Scene()
    let mayEnd = Monitor(false)
    scene.listener.action.withLockNotifyingAll { $0 = { _ = mayEnd.wait { $0 ? true : nil } } }
    scene.deliver("1")
    scene.deliver("2")
    scene.listener.wait(for: 1)
    let isClosed = Monitor(false)
    let closer = Worker("closer") {
      kv_subscription_close(scene.subscribed.pointer)
      #expect(scene.listener.seen.withLock { !$0.isInside })
      isClosed.withLockNotifyingAll { $0 = true }
    }
    // Closing has begun once nothing more is taken.
    while scene.subscription.deliver({ nil }) { sched_yield() }
    #expect(isClosed.withLock { !$0 })
    mayEnd.withLockNotifyingAll { $0 = true }
    closer?.join()
    #expect(scene.listener.seen.withLock { $0.events == ["1"] && $0.freed == 1 })
  }

  @Test("closed inside its own callback, that call is the last", arguments: ["thread", "pump"])
  func closingInside(mode: String) throws {
    let scene = try Scene(mode)
    let subscribed = scene.subscribed
    scene.listener.action.withLockNotifyingAll {
      $0 = { kv_subscription_close(subscribed.pointer) }
    }
    scene.deliver("1")
    scene.deliver("2")
    _ = kv_client_dispatch(scene.handle.pointer, 0, nil, nil)
    #expect(scene.listener.waitUntilFreed())
    #expect(scene.listener.seen.withLock { $0.events == ["1"] && $0.freed == 1 })
  }

  @Test("closing the client ends it, inside its own callback too", arguments: [false, true])
  func closingTheClient(isInside: Bool) throws {
    let scene = try Scene()
    let client = scene.handle
    if isInside {
      scene.listener.action.withLockNotifyingAll { $0 = { kv_client_close(client.pointer) } }
    }
    scene.deliver("1")
    scene.listener.wait(for: 1)
    if !isInside { kv_client_close(client.pointer) }
    #expect(scene.listener.waitUntilFreed())
    #expect(scene.listener.seen.withLock { $0.events == ["1"] && $0.freed == 1 })
    #expect(scene.source.ends.withLock { $0 } == 1)
    #expect(kv_subscription_close(scene.subscribed.pointer) == KV_MISUSE)
  }

  @Test("one that fails to begin gives its context back and no handle")
  func failing() throws {
    let scene = try Scene()
    let listener = Listener()
    var out: OpaquePointer? = scene.subscribed.pointer
    #expect(throws: StoreError(.invalid, "no")) {
      try scene.client.subscribe(
        listener.callback, handle: HandleOutput(&out, named: "subscription_out")
      ) {
        (_) throws(StoreError) in throw StoreError(.invalid, "no")
      }
    }
    #expect(out == nil)
    #expect(listener.seen.withLock { $0.freed == 1 && $0.events.isEmpty })
  }

  @Test("a thousand are opened, told and closed by several threads, and nothing comes late")
  func races() throws {
    let scene = try Scene()
    let late = concurrently(4) { _ -> Int? in
      var late = 0
      for _ in 0..<250 {
        let listener = Listener()
        var out: OpaquePointer?
        let source = Source()
        _ = try? scene.client.subscribe(
          listener.callback, handle: HandleOutput(&out, named: "subscription_out")
        ) {
          subscription in
          for _ in 0..<3 { subscription.deliver { .success([0x7B, 0x7D]) } }
          return source
        }
        kv_subscription_close(out)
        let count = listener.seen.withLock { $0.events.count }
        let isFreed = listener.seen.withLock { $0.freed == 1 }
        if !isFreed || count > 3 || source.ends.withLock({ $0 }) != 1 { late += 1 }
        if listener.seen.withLock({ $0.isInside || $0.events.count != count }) { late += 1 }
      }
      return late
    }
    #expect(late.reduce(0, +) == 0)
  }
}
