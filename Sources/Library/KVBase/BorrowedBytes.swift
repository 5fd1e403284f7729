extension Array where Element == UInt8 {
  /// Lends the bytes to `body`, which may throw an error of a known type.
  @inlinable
  package func withBorrowedBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeBufferPointer { bytes throws(E) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}

extension String {
  /// Lends the text's UTF-8 to `body`, which may throw an error of a known type. Nothing is copied,
  /// unless the text is not stored as UTF-8.
  @inlinable
  package func withBorrowedBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    var text = self
    let result = text.withUTF8 { utf8 -> Result<R, E> in
      do throws(E) {
        return .success(try body(UnsafeRawBufferPointer(utf8)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
