import KVBase
import KVSync
import Testing

@testable import KVStoreC

/// An object that counts how many of its kind are alive.
private final class Probe: HandleObject {
  static let kind = HandleKind.query
  let living: Monitor<Int>

  init(_ living: Monitor<Int>) {
    self.living = living
    living.withLock { $0 += 1 }
  }

  deinit { living.withLockNotifyingAll { $0 -= 1 } }
}

/// Whether no probe lives, now or in a moment: another test that counts handles holds each of them for an instant.
private func areGone(_ living: Monitor<Int>) -> Bool {
  living.wait(until: .after(seconds: 60)) { $0 == 0 ? true : nil } ?? false
}

private final class Other: HandleObject {
  static let kind = HandleKind.store
}

@Suite("Handles") struct HandleTableTests {
  @Test("a handle leads to its object and keeps it alive until it is closed")
  func lifetime() throws {
    let living = Monitor(0)
    let handle = try Probe(living).open()
    #expect(living.withLock { $0 } == 1)
    #expect(try Probe.borrow(handle.pointer).living === living)
    _ = try Probe.close(handle.pointer)
    #expect(areGone(living))
    #expect(throws: StoreError(.misuse, "The query is closed.")) {
      try Probe.borrow(handle.pointer)
    }
    #expect(throws: StoreError(.misuse, "The query is closed.")) { try Probe.close(handle.pointer) }
  }

  @Test("an object that is in use when its handle is closed lives on until then")
  func inUse() throws {
    let living = Monitor(0)
    let handle = try Probe(living).open()
    var borrowed: Probe? = try Probe.borrow(handle.pointer)
    _ = try Probe.close(handle.pointer)
    #expect(living.withLock { $0 } == 1)
    #expect(borrowed != nil)
    borrowed = nil
    #expect(areGone(living))
  }

  @Test("NULL, foreign and wrongly typed handles are told apart")
  func defects() throws {
    let handle = try Other().open()
    defer { HandleTable.discard(handle) }
    func message(_ bits: UInt) -> String? {
      do throws(StoreError) {
        _ = try Probe.borrow(OpaquePointer(bitPattern: bits))
        return nil
      } catch { return error.message }
    }
    #expect(message(0) == "The query is NULL.")
    #expect(message(UInt(handle.bits)) == "The query is a store.")
    for foreign: UInt in [1, 2, 3, 8, 0x7FFF_FFFF_F000, .max, .max - 1, 0xDEAD_BEEF] {
      #expect(message(foreign) == "The query is not a handle of this library.")
    }
  }

  @Test("no handle is a number that an aligned pointer could be, and none comes twice")
  func numbers() throws {
    let living = Monitor(0)
    var seen: Set<Handle> = []
    for _ in 0..<5000 {
      let handle = try Probe(living).open()
      #expect(handle.bits & 1 == 1)
      #expect(seen.insert(handle).inserted)
      HandleTable.discard(handle)
    }
  }

  @Test("more handles than a chunk holds are found and counted")
  func many() throws {
    let living = Monitor(0)
    let handles = try (0..<3000).map { _ in try Probe(living).open() }
    // Other tests open and close handles meanwhile: at least our own are there.
    #expect(HandleTable.count(.query) >= 3000)
    for handle in handles { #expect(try Probe.borrow(handle.pointer).living === living) }
    for handle in handles { HandleTable.discard(handle) }
    #expect(areGone(living))
  }

  @Test("of many threads that close a handle while others use it, one succeeds")
  func races() throws {
    let living = Monitor(0)
    for _ in 0..<200 {
      let handle = try Probe(living).open()
      let closed = Monitor(0)
      let workers = (0..<4).compactMap { number in
        Worker("race") {
          for _ in 0..<20 { _ = try? Probe.borrow(handle.pointer) }
          if number > 0, (try? Probe.close(handle.pointer)) != nil { closed.withLock { $0 += 1 } }
          for _ in 0..<20 { _ = try? Probe.borrow(handle.pointer) }
        }
      }
      for worker in workers { worker.join() }
      #expect(closed.withLock { $0 } == 1)
    }
    #expect(areGone(living))
  }
}
