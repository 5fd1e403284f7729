internal import Glibc
internal import KVBase

/// The directory that holds the bytes of files. Safe from any thread, and several servers may share it.
///
///     DIR/3f/3f09…        a whole file
///     DIR/3f/3f09….part   what has come of one that is being sent
///     DIR/epoch           which data the files belong to, see `claim`
///
/// The names are the server's own, so that nothing that a client sends becomes part of a path. A name is never used again.
package final class FileDirectory: Sendable {
  package struct Failure: Error { package var description: String }

  /// What a request that sends bytes finds.
  enum Start {
    /// The file is there as a whole.
    case complete
    /// So much has come, and the request begins behind that.
    case gap(received: Int)
    case upload(FileUpload)
  }

  private let path: String
  /// Has the epoch of the data that the files belong to.
  var epochFile: String { path + "/epoch" }

  /// Makes the directory for its owner only, unless it exists. A directory that all users can write to is refused.
  package init(_ path: String) throws(Failure) {
    self.path = path
    if mkdir(path, 0o700) == 0 {
      guard synchroniseNames(in: path + "/..") else { throw Failure(Self.sentence("make", path)) }
      return
    }
    guard errno == EEXIST else { throw Failure(Self.sentence("make", path)) }
    do throws(FileTrust.Failure) { try FileTrust.checkDirectory(path) } catch {
      throw Failure(error.description)
    }
  }

  /// A name for new content.
  static func newName() -> String { hexText(randomBytes(nameBytes)) }

  private static let nameBytes = 16

  /// Whether a file is there as a whole.
  func isComplete(_ name: String) -> Bool { Self.size(of: whole(name)) != nil }

  /// How much of a file has come.
  func received(_ name: String) -> Int { Self.size(of: part(name)) ?? 0 }

  // MARK: Writing

  /// Begins, or goes on with, a file from a position on; what came behind the position is forgotten. Throws if another request
  /// sends the file.
  func start(_ name: String, at position: Int) throws(ServerError) -> Start {
    if isComplete(name) { return .complete }
    let file = part(name)
    if position == 0 { mkdir(folder(name), 0o700) }
    let descriptor = Glibc.open(
      file, O_RDWR | (position == 0 ? O_CREAT : 0) | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0, errno == ENOENT, position > 0 { return .gap(received: 0) }
    guard descriptor >= 0 else { throw Self.failure("write", file) }
    let upload = FileUpload(descriptor, at: position)
    // Another request may have completed or removed the file between the opening and the lock. Then the lock is on a file that
    // has another name by now, or none.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, Self.isSame(descriptor, file) else {
      throw ServerError(.stopping, "another request sends this file")
    }
    if isComplete(name) {
      unlink(file)
      return .complete
    }
    let received = Self.size(of: file) ?? 0
    guard position <= received else { return .gap(received: received) }
    guard ftruncate(descriptor, off_t(position)) == 0 else { throw Self.failure("write", file) }
    return .upload(upload)
  }

  /// Returns when what has come of an upload is on the disk.
  func keep(_ name: String, _ upload: FileUpload) throws(ServerError) {
    guard upload.synchronise(), synchroniseFolder(of: name) else {
      throw Self.failure("write", part(name))
    }
  }

  /// Makes an upload the file, once it is on the disk. Throws, and forgets what has come, if the digest differs.
  func complete(_ name: String, _ upload: FileUpload, sha256: String?) throws(ServerError) {
    if let sha256, try upload.sha256() != sha256.lowercased() {
      unlink(part(name))
      throw ServerError(.inputValidationFailed, "the bytes do not have the sha256 of the metadata")
    }
    guard upload.synchronise(), rename(part(name), whole(name)) == 0, synchroniseFolder(of: name)
    else {
      throw Self.failure("write", part(name))
    }
  }

  // MARK: Reading

  /// Opens a whole file to be read; nil: there is none.
  func open(_ name: String) throws(ServerError) -> FileBytes? {
    let descriptor = Glibc.open(whole(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      throw Self.failure("read", whole(name))
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      defer { close(descriptor) }
      throw Self.failure("read", whole(name))
    }
    return FileBytes(descriptor, size: Int(status.st_size))
  }

  // MARK: Removing

  /// Removes a file and what has come of it.
  func remove(_ name: String) {
    // In this order: an upload that is complete now finds its part gone, or its file is removed as well.
    unlink(part(name))
    unlink(whole(name))
  }

  /// Whether the files are those of the data with this epoch. The first data that uses the directory claims it.
  ///
  /// Files that other data names must not be taken for files that nothing names: data that was put back from a copy may lack
  /// what clients are about to send again, and two servers may have been given the same directory by mistake.
  func claim(_ epoch: String) -> Bool {
    let file = epochFile
    if access(file, F_OK) != 0 {
      do { try TextFile.write(epoch + "\n", to: file) } catch { return false }
    }
    return (try? TextFile.readOwn(file, isSecret: false)) == epoch + "\n"
  }

  /// Removes what has come of uploads that have got nothing since a moment, in seconds since 1970. Returns how many.
  func removeParts(before end: Int64) -> Int {
    var count = 0
    for file in files(before: end) ?? [] where file.hasSuffix(".part") {
      let name = String(file.dropLast(5))
      if unlink(part(name)) == 0 { count += 1 }
    }
    return count
  }

  /// The names of the whole files that were written before a moment, in seconds since 1970; nil if the directory cannot be read,
  /// and `errno` says why.
  func names(before end: Int64) -> Set<String>? {
    files(before: end).map { Set($0.filter { $0.utf8.count == 2 * Self.nameBytes }) }
  }

  /// The files in all folders that were written before a moment; nil as for `names`.
  private func files(before end: Int64) -> [String]? {
    guard let folders = fileNames(in: path) else { return nil }
    var found: [String] = []
    for folder in folders where folder.utf8.count == 2 {
      guard let names = fileNames(in: "\(path)/\(folder)") else { return nil }
      for file in names where file.hasPrefix(folder) {
        var status = stat()
        guard lstat("\(path)/\(folder)/\(file)", &status) == 0,
          status.st_mode & S_IFMT == S_IFREG, status.st_mtim.tv_sec < end
        else { continue }
        found.append(file)
      }
    }
    return found
  }

  // MARK: Parts

  func folder(_ name: String) -> String { "\(path)/\(name.prefix(2))" }
  func whole(_ name: String) -> String { "\(folder(name))/\(name)" }
  func part(_ name: String) -> String { whole(name) + ".part" }

  private func synchroniseFolder(of name: String) -> Bool {
    synchroniseNames(in: folder(name)) && synchroniseNames(in: path)
  }

  private static func size(of path: String) -> Int? {
    var status = stat()
    return lstat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// Whether a path names the file that is open.
  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var (open, named) = (stat(), stat())
    return fstat(descriptor, &open) == 0 && lstat(path, &named) == 0
      && open.st_ino == named.st_ino && open.st_dev == named.st_dev
  }

  static func failure(_ verb: String, _ path: String) -> ServerError {
    ServerError(.internalErrorRetry, cause: sentence(verb, path))
  }

  static func sentence(_ verb: String, _ path: String) -> String {
    "cannot \(verb) \(path): \(String(cString: strerror(errno)))"
  }
}

extension FileDirectory.Failure {
  init(_ description: String) { self.init(description: description) }
}
