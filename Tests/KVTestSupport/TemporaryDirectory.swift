internal import Glibc

/// A fresh directory that goes with its last reference.
package final class TemporaryDirectory: Sendable {
  package let path: String

  /// `inMemory`: where a disk's waits would only cost time.
  package init(inMemory: Bool = false) {
    let isThere = inMemory && access("/dev/shm", W_OK) == 0
    let disk = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    let parent = isThere ? "/dev/shm" : disk
    var template = Array("\(parent)/kvstore-test-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? parent + "/kvstore-test"
  }

  deinit { Self.remove(path) }

  /// The path of a file in the directory.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Removes a file, or a directory with all that is in it.
  package static func remove(_ path: String) {
    guard unlink(path) != 0 else { return }
    for name in names(in: path) { remove(path + "/" + name) }
    rmdir(path)
  }
}

extension TemporaryDirectory {
  /// The names of the files in the directory, and in those in it, that have a text somewhere among their bytes.
  package func files(with text: String) -> [String] { Self.files(with: text, in: path) }

  private static func files(with text: String, in path: String) -> [String] {
    names(in: path).flatMap { name -> [String] in
      let file = "\(path)/\(name)"
      if let bytes = contents(of: file), has(text, in: bytes) { return [name] }
      return files(with: text, in: file)
    }
  }
}

/// Whether a text stands somewhere among bytes.
package func has(_ text: String, in bytes: [UInt8]) -> Bool {
  let text = Array(text.utf8)
  return bytes.withUnsafeBytes { bytes in
    text.withUnsafeBytes { text in
      guard let start = bytes.baseAddress, let wanted = text.baseAddress else { return false }
      var offset = 0
      while offset + text.count <= bytes.count {
        let left = bytes.count - offset - text.count + 1
        guard let found = memchr(start + offset, Int32(text[0]), left) else { return false }
        if memcmp(found, wanted, text.count) == 0 { return true }
        offset = UnsafeRawPointer(found) - start + 1
      }
      return false
    }
  }
}

/// The names of what is in a directory.
package func names(in path: String) -> [String] {
  guard let directory = opendir(path) else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafeBytes(of: entry.pointee.d_name) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}

/// Copies the files of a directory; what is there already is written over, and stays the same file.
package func copyFiles(of path: String, to other: String) {
  mkdir(other, 0o700)
  for name in names(in: path) {
    let (from, to) = ("\(path)/\(name)", "\(other)/\(name)")
    var status = stat()
    if stat(from, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      copyFiles(of: from, to: to)
    } else if let bytes = contents(of: from) {
      write(bytes, to: to)
    }
  }
}

/// The bytes of a file; nil if it cannot be read.
package func contents(of path: String) -> [UInt8]? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
    bytes += buffer[..<count]
  }
  return bytes
}

/// Makes or replaces a file.
package func write(_ bytes: [UInt8], to path: String) {
  guard let file = fopen(path, "w") else { return }
  fwrite(bytes, 1, bytes.count, file)
  fclose(file)
}

/// The permission bits of a file; nil if there is none.
package func permissions(of path: String) -> UInt32? {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}
