internal import CKVStore
import Glibc
import KVBase
import KVTestSupport
import Testing

@testable import KVStoreC

/// Counts what comes back, whatever thread it comes on.
private final class Tally: Sendable {
  struct Counts { var started = 0, answered = 0, freed = 0, unexpected = 0 }
  private let counts = Monitor(Counts())
  func note(_ change: (inout Counts) -> Void) { counts.withLockNotifyingAll { change(&$0) } }
  var now: Counts { counts.withLock { $0 } }
}

private func tally(_ context: UnsafeMutableRawPointer?) -> Tally? {
  context.map { Unmanaged<Tally>.fromOpaque($0).takeUnretainedValue() }
}

/// The entry points from many threads at once: for the thread sanitizer, which the C programs cannot ask.
@Suite("Entry points") struct EntryPointTests {
  private func openedClient(_ directory: String, _ mode: String) -> OpaquePointer? {
    let options = """
      {"appKey":"kid","host":null,"dataDirectory":"\(directory)","durability":"normal",
       "callbacks":"\(mode)"}
      """
    var client: OpaquePointer?
    #expect(kv_client_open(options, -1, &client, nil) == Status.ok)
    return client
  }

  @Test("a client is closed while threads use all of it", arguments: ["thread", "pump"])
  func closing(mode: String) {
    for _ in 0..<5 {
      let directory = TemporaryDirectory(inMemory: true)
      let client = Handle(openedClient(directory.path, mode))
      var opened: OpaquePointer?
      #expect(kv_store_open(client.pointer, "things", "sync", nil, &opened, nil) == Status.ok)
      let (store, tally) = (Handle(opened), Tally())
      let hasBegun = Monitor(0)
      let workers = (0..<4).compactMap { number in
        Worker("entry") {
          hasBegun.withLockNotifyingAll { $0 += 1 }
          while use(store, number: number, tally: tally) {}
        }
      }
      _ = hasBegun.wait { $0 == 4 ? true : nil }
      for _ in 0..<20 { _ = kv_client_dispatch(client.pointer, 0, nil, nil) }
      #expect(kv_client_close(client.pointer) == Status.ok)
      let answered = tally.now.answered
      for worker in workers { worker.join() }
      #expect(tally.now.answered == answered)
      #expect(tally.now.freed == tally.now.started)
      #expect(tally.now.unexpected == 0)
    }
  }
}

/// One use of a store; false once it is closed.
private func use(_ store: Handle, number: Int, tally: Tally) -> Bool {
  var status: kv_status
  switch number {
  case 0: status = kv_store_save(store.pointer, "{}", 2, nil, nil, nil, nil)
  case 1:
    var text: UnsafeMutablePointer<CChar>?
    status = kv_store_find_by_id(store.pointer, "nobody", nil, &text, nil, nil)
    if status == KV_NOT_FOUND { status = Status.ok }
  case 2:
    var cursor: OpaquePointer?
    var json: UnsafePointer<CChar>?
    status = kv_store_find(store.pointer, nil, nil, &cursor, nil)
    while kv_cursor_next(cursor, &json, nil, nil) == Status.ok {}
    kv_cursor_close(cursor)
  default: status = save(store, tally)
  }
  if status != Status.ok, status != KV_MISUSE, status != KV_CANCELLED {
    tally.note { $0.unexpected += 1 }
  }
  return status != KV_MISUSE
}

/// A save with a callback and a request.
private func save(_ store: Handle, _ tally: Tally) -> kv_status {
  var request: OpaquePointer?
  tally.note { $0.started += 1 }
  let status = kv_store_save_async(
    store.pointer, "{}", 2, nil,
    { context, answer in KVStoreCTests.tally(context)?.note { $0.answered += 1 } },
    Unmanaged.passRetained(tally).toOpaque(),
    { context in
      guard let context else { return }
      Unmanaged<Tally>.fromOpaque(context).takeRetainedValue().note { $0.freed += 1 }
    }, &request, nil)
  _ = kv_request_wait(request, 0.001, nil, nil, nil)
  kv_request_free(request)
  return status
}
