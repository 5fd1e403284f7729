internal import Glibc
internal import KVBase

/// Copies of directories of files, for backups.
extension FileDirectory {
  /// Copies the whole files of a directory that one of another path lacks, and for which data they are; uploads that are not
  /// complete stay behind. A server may use the directory. Returns how many files the copy has got; when it returns, they are on
  /// the disk.
  ///
  /// On one file system the copies are links, which take no room: a whole file is never written to again.
  package static func copy(_ path: String, to target: String) throws(Failure) -> Int {
    let source = try FileDirectory(path)
    let copy = try FileDirectory(target)
    var count = 0
    var folders: Set<String> = []
    for name in source.names(before: .max).sorted() where !copy.isComplete(name) {
      mkdir(copy.folder(name), 0o700)
      folders.insert(copy.folder(name))
      if try source.copy(name, to: copy) { count += 1 }
    }
    if let epoch = try? TextFile.readOwn(source.epochFile, isSecret: false),
      access(copy.epochFile, F_OK) != 0
    {
      do { try TextFile.write(epoch, to: copy.epochFile) } catch {
        throw Failure(error.description)
      }
    }
    for folder in folders.sorted() + [target] {
      guard synchroniseNames(in: folder) else { throw Failure(sentence("write", folder)) }
    }
    return count
  }

  /// False if the file was removed meanwhile.
  private func copy(_ name: String, to copy: FileDirectory) throws(Failure) -> Bool {
    let (source, target) = (whole(name), copy.whole(name))
    if link(source, target) == 0 { return true }
    if errno == ENOENT, access(source, F_OK) != 0 { return false }
    let file = Glibc.open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return false }
      throw Failure(Self.sentence("read", source))
    }
    defer { close(file) }
    // Its own name when it is whole: a copy that was broken off may be continued.
    let draft = target + ".copy"
    do throws(TextFile.Failure) {
      let out = try TextFile.create(draft)
      defer { close(out) }
      guard Self.copyBytes(from: file, to: out), fsync(out) == 0, rename(draft, target) == 0
      else {
        let problem = Self.sentence("write", target)
        unlink(draft)
        throw TextFile.Failure(description: problem)
      }
    } catch {
      throw Failure(error.description)
    }
    return true
  }

  /// False if that failed, and `errno` says why.
  private static func copyBytes(from file: Int32, to out: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return false }
      if count == 0 { return true }
      let (written, cause) = writeWhole(Array(buffer[..<count]), to: out)
      guard written == count else {
        errno = cause
        return false
      }
    }
  }
}
