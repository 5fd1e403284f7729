internal import Glibc
internal import KVBase

/// Copies of directories of files, for backups.
extension FileDirectory {
  /// Copies the whole files of a directory, if it exists, that one of another path lacks, and for which data they are; uploads that
  /// are not complete stay behind. A server may use the directory. Returns how many files the copy has got; when it returns, they
  /// are on the disk.
  ///
  /// On one file system the copies are links, which take no room: a whole file is never written to again.
  package static func copy(_ path: String, to target: String) throws(Failure) -> Int {
    guard access(path, F_OK) == 0 else { return 0 }
    let source = try FileDirectory(path)
    guard let names = source.names(before: .max) else { throw Failure(sentence("read", path)) }
    guard !names.isEmpty else { return 0 }
    let copy = try FileDirectory(target)
    var count = 0
    var folders: Set<String> = []
    for name in names.sorted() where !copy.isComplete(name) {
      folders.insert(copy.folder(name))
      do throws(ServerError) {
        if try source.copy(name, to: copy) { count += 1 }
      } catch {
        throw Failure(error.cause ?? error.debug)
      }
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

  /// Makes a link or a copy, whose name is not on the disk yet. False if the file was removed meanwhile.
  private func copy(_ name: String, to copy: FileDirectory) throws(ServerError) -> Bool {
    mkdir(copy.folder(name), 0o700)
    if link(whole(name), copy.whole(name)) == 0 { return true }
    guard let bytes = try open(name) else { return false }
    guard case .upload(let upload) = try copy.start(name, at: 0) else { return false }
    while let piece = try Self.nextPiece(of: bytes, whole(name)) {
      guard piece.withBytes({ upload.take($0) }) else {
        throw Self.failure("write", copy.part(name))
      }
    }
    guard upload.synchronise(), rename(copy.part(name), copy.whole(name)) == 0 else {
      throw Self.failure("write", copy.part(name))
    }
    return true
  }

  private static func nextPiece(
    of bytes: FileBytes, _ path: String
  ) throws(ServerError) -> Payload? {
    do { return try bytes.nextPiece() } catch { throw failure("read", path) }
  }
}
