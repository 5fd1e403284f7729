internal import Glibc

/// The names of what is in a directory; nil if it cannot be read, and `errno` says why.
package func fileNames(in directory: String) -> [String]? {
  guard let entries = opendir(directory) else { return nil }
  defer { closedir(entries) }
  // In its place: an entry ends with its name, before the end of the type.
  guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
  var names: [String] = []
  while let entry = readdir(entries) {
    let start = UnsafeRawPointer(entry).advanced(by: offset)
    let name = String(cString: start.assumingMemoryBound(to: CChar.self))
    if name != ".", name != ".." { names.append(name) }
  }
  return names
}
