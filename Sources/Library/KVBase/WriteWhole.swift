internal import Glibc

/// Writes all bytes to a file, a pipe or a terminal, also if it takes them in parts.
///
/// Gives how many it has taken, and the cause (`errno`) if these are not all; otherwise 0. A signal does not end it.
package func writeWhole(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, cause: Int32) {
  var written = 0
  while written < bytes.count {
    let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return (written, errno) }
    written += count
  }
  return (written, 0)
}
