internal import Glibc
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerAdmin
@testable import KVServerCore
@testable import KVServerSQLite

/// Files that others may have made, changed or can read. Root, who may open anything, is to be protected as well.
@Suite("Files of the server that others could have put there") struct TrustedFilesTests {
  private let directory = TemporaryDirectory()
  private var data: String { directory.file("data") }
  private var app: String { data + "/app.json" }
  private let text = #"{"app":"kid:sec:mas"}"#

  private func makeData(mode: mode_t = 0o700) { mkdir(data, 0o700); chmod(data, mode) }

  private func refusal(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "none"
    } catch {
      return "\(error)"
    }
  }

  @Test("are not read: a data directory that all users can write to")
  func directoryOfAll() {
    makeData(mode: 0o777)
    let error = refusal { _ = try ServerDirectory(data) }
    #expect(error.contains("can be written by all users"))
    #expect(names(in: data).isEmpty)
  }

  @Test(
    "are not read: apps in a link, a pipe, a directory, or a file that all users can read or write")
  func apps() {
    makeData()
    let other = directory.file("other")
    write(Array(text.utf8), to: other)
    chmod(other, 0o600)
    for (kind, expected) in [
      ("link", "symbolic link"), ("dangling", "symbolic link"), ("pipe", "not a regular file"),
      ("directory", "not a regular file"), ("0644", "all users can read"),
      ("0622", "written by all users"), ("0640", "none"), ("0600", "none"),
    ] {
      TemporaryDirectory.remove(app)
      switch kind {
      case "link": symlink(other, app)
      case "dangling": symlink(directory.file("nothing"), app)
      case "pipe": mkfifo(app, 0o600)
      case "directory": mkdir(app, 0o700)
      default:
        write(Array(text.utf8), to: app)
        chmod(app, mode_t(kind, radix: 8) ?? 0)
      }
      let error = refusal { _ = try AppFile.load(from: data) }
      #expect(error.contains(expected), "\(kind): \(error)")
    }
  }

  @Test("are not read: a database that is a link or a pipe")
  func database() {
    makeData()
    let file = SQLiteStore.file(in: data)
    symlink(directory.file("other"), file)
    #expect(refusal { _ = try ServerDirectory(data) }.contains("symbolic link"))
    unlink(file)
    mkfifo(file, 0o600)
    #expect(refusal { _ = try ServerDirectory(data) }.contains("not a regular file"))
    unlink(file)
    symlink(directory.file("other"), data + "/kvstored.lock")
    #expect(refusal { _ = try ServerDirectory(data) }.contains("cannot write"))
  }

  @Test("are not restored: a link or a pipe in place of app.json")
  func restored() throws {
    let source = directory.file("source")
    _ = try SQLiteStore(in: source, .init(), log: Log(.error))
    let copy = directory.file("copy")
    try Backup.make(of: source, at: copy)
    let other = directory.file("other")
    write(Array(text.utf8), to: other)
    symlink(other, copy + "/app.json")
    #expect(refusal { try Backup.restore(data, from: copy) }.contains("symbolic link"))
    unlink(copy + "/app.json")
    mkfifo(copy + "/app.json", 0o600)
    #expect(refusal { try Backup.restore(data, from: copy) }.contains("not a regular file"))
    unlink(copy + "/app.json")
    write(Array(text.utf8), to: copy + "/app.json")
    #expect(refusal { try Backup.restore(data, from: copy) } == "none")
    #expect(permissions(of: app) == 0o600)
  }

  @Test("are not written to: what stands where an export is made")
  func export() throws {
    let (path, victim) = (directory.file("export"), directory.file("victim"))
    write(Array("kept".utf8), to: victim)
    symlink(victim, path + ".new")
    let first = try NewFile(path) { (_: [UInt8]) throws(AdminFailure) in }
    try first.write(Array("line\n".utf8))
    try first.finish()
    #expect(contents(of: victim) == Array("kept".utf8))
    #expect(contents(of: path) == Array("line\n".utf8))
    unlink(path)
    // A file with another mode, and another owner where that can be had.
    write(Array("old".utf8), to: path + ".new")
    chmod(path + ".new", 0o666)
    chown(path + ".new", 65534, 65534)
    let second = try NewFile(path) { (_: [UInt8]) throws(AdminFailure) in }
    try second.write(Array("line\n".utf8))
    try second.finish()
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_uid == geteuid())
    #expect(permissions(of: path) == 0o600)
    symlink(victim, directory.file("link"))
    #expect(throws: AdminFailure.self) {
      try NewFile(directory.file("link")) { (_: [UInt8]) throws(AdminFailure) in }
    }
  }

  @Test("are read if they are root's, and not if they are another user's")
  func owner() {
    // In every system it is root's.
    #expect(refusal { try FileTrust.checkFile("/etc/passwd") } == "none")
    guard geteuid() == 0 else { return }
    makeData()
    write(Array(text.utf8), to: app)
    chmod(app, 0o600)
    chown(app, 65534, 65534)
    #expect(refusal { _ = try AppFile.load(from: data) }.contains("belongs to user 65534"))
    // Root reads what the owner of the directory has written there.
    chown(data, 65534, 65534)
    #expect(refusal { _ = try AppFile.load(from: data) } == "none")
  }
}
