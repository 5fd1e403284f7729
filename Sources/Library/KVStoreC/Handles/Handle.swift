/// What C holds instead of a pointer: a number that is looked up and checked.
///
/// ```
///  63                          28 27               5 4      1 0
/// +------------------------------+------------------+--------+-+
/// | generation                   | slot             | kind   |1|
/// +------------------------------+------------------+--------+-+
/// ```
///
/// The lowest bit is set, so that no pointer to anything larger than a byte looks like a handle. A slot's
/// generation starts at a random number and grows with each use, so that a closed handle stays
/// closed.
struct Handle: Sendable, Equatable, Hashable {
  static let slotLimit: UInt64 = 1 << 23
  static let generationLimit: UInt64 = 1 << 36

  let bits: UInt64

  init(_ pointer: OpaquePointer?) { bits = UInt64(UInt(bitPattern: pointer)) }

  init(generation: UInt64, slot: UInt64, kind: HandleKind) {
    bits = generation << 28 | slot << 5 | kind.rawValue << 1 | 1
  }

  var pointer: OpaquePointer? { OpaquePointer(bitPattern: UInt(bits)) }

  var isMarked: Bool { bits & 1 == 1 }
  var kind: UInt64 { bits >> 1 & 0xF }
  var slot: UInt64 { bits >> 5 & (Handle.slotLimit - 1) }
  var generation: UInt64 { bits >> 28 }
}
