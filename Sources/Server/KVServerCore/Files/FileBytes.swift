internal import Glibc
internal import KVBase

/// A part of a file as the body of an answer, piece by piece.
///
/// `@unchecked Sendable`: it is asked for one piece at a time.
final class FileBytes: BodySource, @unchecked Sendable {
  static let pieceBytes = 64 << 10

  let size: Int
  private let descriptor: Int32
  private var range: Range<Int>
  private(set) var length: Int?

  /// Takes the open file over.
  init(_ descriptor: Int32, size: Int) {
    self.descriptor = descriptor
    self.size = size
    range = 0..<size
    length = size
  }

  /// To be called before the first piece is made.
  func restrict(to part: Range<Int>) { (range, length) = (part, part.count) }

  deinit { close(descriptor) }

  func nextPiece() throws -> Payload? {
    guard !range.isEmpty else { return nil }
    var piece = [UInt8](repeating: 0, count: min(range.count, Self.pieceBytes))
    var count = -1
    repeat {
      count = pread(descriptor, &piece, piece.count, off_t(range.lowerBound))
    } while count < 0 && errno == EINTR
    guard count > 0 else { throw ServerError(.internalErrorRetry) }
    range = range.lowerBound + count..<range.upperBound
    return Payload(piece.prefix(count))
  }
}
