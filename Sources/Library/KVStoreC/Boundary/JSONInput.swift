internal import KVSync

/// JSON that an operation reads: borrowed from the caller by the blocking form, which ends before the
/// call returns; copied by the asynchronous one.
///
/// `@unchecked Sendable`: borrowed bytes are read by the thread that waits for the operation only.
struct JSONInput: @unchecked Sendable {
  enum Lifetime { case call, operation }

  private let borrowed: UnsafeRawBufferPointer
  private let copy: [UInt8]?

  init(_ bytes: UnsafeRawBufferPointer, for lifetime: Lifetime) {
    copy = lifetime == .operation ? Array(bytes) : nil
    borrowed = lifetime == .operation ? UnsafeRawBufferPointer(start: nil, count: 0) : bytes
  }

  func withBytes<R>(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    guard let copy else { return try body(borrowed) }
    return try copy.withUnsafeBytes { bytes -> Result<R, StoreError> in
      Result { () throws(StoreError) in try body(bytes) }
    }.get()
  }
}
