internal import KVBase
internal import KVSync
internal import Synchronization

/// The objects that C holds, by handle. Safe from any thread; no operation takes a lock, so a child
/// process that fork() made may use it too (with handles of its own).
///
/// A look-up costs four atomic operations, about 20 ns. A chunk of slots is never freed: what was the
/// peak of open handles stays as 32 bytes each.
enum HandleTable {
  /// With it, neither a chunk nor the table of chunks has 64 KiB: allocations that large have to be able to fail.
  private static let chunkSize: UInt64 = 1536
  private static let chunkLimit = Int((Handle.slotLimit + chunkSize - 1) / chunkSize)

  private typealias Chunk = UnsafeMutablePointer<HandleSlot>

  /// The chunks made so far. `nonisolated(unsafe)`: the pointer never changes, the entries are atomic.
  nonisolated(unsafe) private static let chunks: UnsafeMutablePointer<Atomic<Chunk?>> = {
    let chunks = UnsafeMutablePointer<Atomic<Chunk?>>.allocate(capacity: chunkLimit)
    for index in 0..<chunkLimit { (chunks + index).initialize(to: Atomic(nil)) }
    return chunks
  }()

  /// How many slots were ever used.
  private static let used = Atomic<UInt64>(0)

  /// The list of free slots: a count of changes in the upper bits, so that a head which was taken and
  /// put back meanwhile is noticed; the first slot plus 1 in the lower 24.
  private static let free = Atomic<UInt64>(0)

  /// Makes a handle that keeps `object` alive; nil if 8 million are open.
  static func open(_ object: AnyObject, as kind: HandleKind) -> Handle? {
    guard let index = popFree() ?? nextUnused(), let slot = slot(index) else { return nil }
    slot.pointee.object = Unmanaged.passRetained(object)
    slot.pointee.process = .current
    let opening = HandleSlot.open | kind.rawValue << 24
    let word = slot.pointee.state.wrappingAdd(opening, ordering: .acquiringAndReleasing).newValue
    return Handle(generation: word >> 28, slot: index, kind: kind)
  }

  /// The object of an open handle of this kind.
  static func object(_ handle: Handle, of kind: HandleKind) throws(StoreError) -> AnyObject {
    guard handle.isMarked, handle.kind == kind.rawValue, let slot = slot(handle.slot) else {
      throw misuse(handle, of: kind)
    }
    let pinned = slot.pointee.state.wrappingAdd(1, ordering: .acquiring).oldValue
    defer { unpin(slot, handle.slot) }
    guard pinned & ~HandleSlot.pinMask == HandleSlot.opened(handle),
      slot.pointee.process.isCurrent, let object = slot.pointee.object
    else { throw misuse(handle, of: kind) }
    return object.takeUnretainedValue()
  }

  /// Closes a handle and returns its object. Of several callers one succeeds.
  static func close(_ handle: Handle, of kind: HandleKind) throws(StoreError) -> AnyObject {
    let object = try object(handle, of: kind)
    guard let slot = slot(handle.slot) else { throw misuse(handle, of: kind) }
    var word = slot.pointee.state.wrappingAdd(1, ordering: .acquiring).newValue
    defer { unpin(slot, handle.slot) }
    while true {
      guard word & ~HandleSlot.pinMask == HandleSlot.opened(handle) else {
        throw misuse(handle, of: kind)
      }
      let (done, seen) = slot.pointee.state.compareExchange(
        expected: word, desired: word ^ HandleSlot.open ^ HandleSlot.closing,
        ordering: .acquiringAndReleasing)
      if done { return object }
      word = seen
    }
  }

  /// Closes a handle of any kind, if it is open.
  static func discard(_ handle: Handle) {
    guard let kind = HandleKind(rawValue: handle.kind) else { return }
    _ = try? close(handle, of: kind)
  }

  /// How many handles of a kind (nil: of all kinds) this process has open. Looks at every slot.
  static func count(_ kind: HandleKind?) -> Int64 {
    var count: Int64 = 0
    for index in 0..<min(used.load(ordering: .acquiring), Handle.slotLimit) {
      guard let slot = slot(index) else { continue }
      let word = slot.pointee.state.wrappingAdd(1, ordering: .acquiring).oldValue
      let isOpen = word & HandleSlot.phaseMask == HandleSlot.open && slot.pointee.process.isCurrent
      if isOpen, kind == nil || word >> 24 & 0xF == kind?.rawValue { count += 1 }
      unpin(slot, index)
    }
    return count
  }

  // MARK: Slots

  private static func slot(_ index: UInt64) -> Chunk? {
    guard let chunk = chunks[Int(index / chunkSize)].load(ordering: .acquiring) else { return nil }
    return chunk + Int(index % chunkSize)
  }

  /// Releases a pin, and the slot too if it was the last pin of a closing one.
  private static func unpin(_ slot: Chunk, _ index: UInt64) {
    let word = slot.pointee.state.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
    let isLast = word & (HandleSlot.phaseMask | HandleSlot.pinMask) == HandleSlot.closing
    if isLast { recycle(slot, index, word) }
  }

  /// Makes a closing slot free, unless another thread has pinned it meanwhile, which will then do it.
  private static func recycle(_ slot: Chunk, _ index: UInt64, _ word: UInt64) {
    // Who wins this exchange is alone with the slot until it is open again.
    let generation = word >> 28 + 1
    let (done, _) = slot.pointee.state.compareExchange(
      expected: word, desired: generation << 28, ordering: .acquiringAndReleasing)
    guard done, let object = slot.pointee.object else { return }
    slot.pointee.object = nil
    // A slot whose generations are used up is never used again.
    if generation < Handle.generationLimit - 1 { pushFree(slot, index) }
    object.release()
  }

  private static func nextUnused() -> UInt64? {
    let index = used.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
    guard index < Handle.slotLimit else {
      used.wrappingSubtract(1, ordering: .relaxed)
      return nil
    }
    let entry = chunks + Int(index / chunkSize)
    guard entry.pointee.load(ordering: .acquiring) == nil else { return index }
    let chunk = makeChunk()
    let (isOurs, _) = entry.pointee.compareExchange(
      expected: nil, desired: chunk, ordering: .acquiringAndReleasing)
    if !isOurs {
      chunk.deinitialize(count: Int(chunkSize))
      chunk.deallocate()
    }
    return index
  }

  private static func makeChunk() -> Chunk {
    let chunk = Chunk.allocate(capacity: Int(chunkSize))
    var random = UInt64.random(in: .min ... .max)
    for offset in 0..<Int(chunkSize) {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      (chunk + offset).initialize(to: HandleSlot(generation: random >> 29 | 1))
    }
    return chunk
  }

  private static let headMask: UInt64 = (1 << 24) - 1

  private static func pushFree(_ slot: Chunk, _ index: UInt64) {
    var head = free.load(ordering: .acquiring)
    while true {
      slot.pointee.nextFree.store(head & headMask, ordering: .relaxed)
      let new = (head & ~headMask) &+ (headMask + 1) | (index + 1)
      let (done, seen) = free.compareExchange(
        expected: head, desired: new, ordering: .acquiringAndReleasing)
      if done { return }
      head = seen
    }
  }

  private static func popFree() -> UInt64? {
    var head = free.load(ordering: .acquiring)
    while head & headMask != 0 {
      let index = head & headMask - 1
      guard let slot = slot(index) else { return nil }
      let next = slot.pointee.nextFree.load(ordering: .relaxed)
      let new = (head & ~headMask) &+ (headMask + 1) | next
      let (done, seen) = free.compareExchange(
        expected: head, desired: new, ordering: .acquiringAndReleasing)
      if done { return index }
      head = seen
    }
    return nil
  }

  // MARK: Messages

  private static func misuse(_ handle: Handle, of kind: HandleKind) -> StoreError {
    if isInherited(handle) { return inherited }
    return StoreError(.misuse, "The \(kind.name) is \(defect(handle, of: kind)).")
  }

  /// A constant: made without the allocator, which another thread of the parent may have had locked at the fork.
  private static var inherited: StoreError {
    StoreError(
      .misuse, "The handle was inherited through fork(): a child process must open its own client.")
  }

  private static func isInherited(_ handle: Handle) -> Bool {
    guard handle.isMarked, let slot = slot(handle.slot) else { return false }
    let word = slot.pointee.state.load(ordering: .relaxed)
    let isOpen = word & ~HandleSlot.pinMask == HandleSlot.opened(handle)
    return isOpen && !slot.pointee.process.isCurrent
  }

  private static func defect(_ handle: Handle, of kind: HandleKind) -> String {
    guard handle.bits != 0 else { return "NULL" }
    guard handle.isMarked, handle.generation > 0, let found = HandleKind(rawValue: handle.kind),
      let slot = slot(handle.slot)
    else { return "not a handle of this library" }
    let generation = slot.pointee.state.load(ordering: .relaxed) >> 28
    guard generation == handle.generation else {
      return generation > handle.generation ? "closed" : "not a handle of this library"
    }
    return found == kind ? "closed" : "a \(found.name)"
  }
}
