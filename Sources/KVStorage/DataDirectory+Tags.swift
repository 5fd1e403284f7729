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
      // In its place: an entry ends with its name, before the end of the type.
      guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { continue }
      let start = UnsafeRawPointer(entry).advanced(by: offset)
      let name = String(cString: start.assumingMemoryBound(to: CChar.self))
      // Tags are plain: their names were not changed by `safe`.
      guard name.utf8.suffix(4).elementsEqual(".kvs".utf8), case let tag = String(name.dropLast(4)),
        Self.safe(tag) == tag
      else { continue }
      tags.append(tag)
    }
    return tags.sorted()
  }
}
