import Glibc

/// Random numbers that can be had again: the seed is printed with a failure, and `KV_TEST_SEED` sets it.
package struct Seed: RandomNumberGenerator, CustomStringConvertible {
  package let value: UInt64
  private var state: UInt64

  /// The seed of the environment, or a new one.
  package init() {
    let given = getenv("KV_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
    self.init(given ?? UInt64.random(in: 0...UInt64(Int64.max)))
  }

  package init(_ value: UInt64) {
    self.value = value
    state = value
  }

  /// SplitMix64.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package var description: String { "KV_TEST_SEED=\(value)" }
}
