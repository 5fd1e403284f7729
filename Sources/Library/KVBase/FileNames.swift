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

/// The directory that a file, or another directory, is in.
package func parentDirectory(of path: String) -> String {
  // By bytes: a slash and a combining mark after it are one character.
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Makes what was created, renamed or removed in a directory survive a power failure. False if that failed, and `errno` says why.
package func synchroniseNames(in directory: String) -> Bool {
  let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { return false }
  let isDone = fsync(descriptor) == 0
  let cause = errno
  close(descriptor)
  errno = cause
  return isDone
}
