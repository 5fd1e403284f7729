internal import Glibc
package import KVSync

extension DataDirectory {
  /// The tags that have a file here, whoever made it.
  package func tags() throws(StoreError) -> [String] {
    guard let directory = opendir(path) else {
      // Nothing was ever opened.
      if errno == ENOENT { return [] }
      throw StoreError(.storage, "The data directory cannot be read: error \(errno).")
    }
    defer { closedir(directory) }
    var tags: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      // Tags are plain: their names were not changed by `safe`.
      guard name.hasSuffix(".kvs"), case let tag = String(name.dropLast(4)), Self.safe(tag) == tag
      else { continue }
      tags.append(tag)
    }
    return tags.sorted()
  }
}
