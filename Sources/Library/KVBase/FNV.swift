/// The 64-bit hash FNV-1a: the same in every process and version, so that it can be stored. It does not withstand chosen collisions.
package enum FNV {
  /// `basis`: another one gives an independent hash.
  package static func hash(
    _ bytes: some Sequence<UInt8>, basis: UInt64 = 0xcbf2_9ce4_8422_2325
  ) -> UInt64 {
    var hash = basis
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
}
