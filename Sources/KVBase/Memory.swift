internal import Glibc

/// The memory of the process.
package enum Memory {
  /// Whether so many bytes could be allocated now. C libraries that fail with "no memory" for a limit of their own, too,
  /// are told apart by this.
  package static func isAvailable(_ byteCount: Int) -> Bool {
    guard let block = malloc(byteCount) else { return false }
    free(block)
    return true
  }
}
