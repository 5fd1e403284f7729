internal import KVBase
internal import Synchronization

/// Holds one object. Slots are never given back to the system, so that even a stale handle may
/// look at one.
///
/// `state` decides everything, in one atomic word:
///
/// ```
///  63            28 27  24 23   22 21          0
/// +----------------+------+-------+-------------+
/// | generation     | kind | phase | pins        |
/// +----------------+------+-------+-------------+
/// ```
///
/// Who looks at the object holds a pin. A slot is free, then open, then closing; the one who takes the last
/// pin from a closing slot recycles it, with the next generation. A stale handle may pin a slot in any
/// phase for a moment: it sees that the rest of the word is not what it expects, and leaves.
struct HandleSlot: ~Copyable {
  typealias Word = UInt64

  static let pinMask: Word = (1 << 22) - 1
  static let open: Word = 1 << 22
  static let closing: Word = 2 << 22
  static let phaseMask: Word = 3 << 22

  let state: Atomic<Word>
  /// The next free slot plus 1; 0 at the end of the list. Only used while free.
  let nextFree = Atomic<UInt64>(0)
  /// Written while free or by who recycles; read with a pin while open.
  var object: Unmanaged<AnyObject>?
  var process: ProcessGeneration

  init(generation: UInt64) {
    state = Atomic(generation << 28)
    object = nil
    process = .current
  }

  /// The word, pins aside, of a slot that is open for this handle.
  static func opened(_ handle: Handle) -> Word {
    handle.generation << 28 | handle.kind << 24 | open
  }
}
