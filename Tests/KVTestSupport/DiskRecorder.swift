internal import CSQLite
internal import Glibc
internal import KVBase

/// Records what SQLite writes to the files of one directory, and what it has put on the disk for certain, in order: below everything
/// that stands in front of its own file layer. From that it makes what a loss of power may leave.
package final class DiskRecorder: Sendable {
  /// One call of SQLite's file layer. The texts are names of files.
  fileprivate enum Step: Sendable {
    /// A log or journal was opened: with the first `synchronise` afterwards the directory is on the disk, too.
    case openLog(String)
    case write(String, at: Int, [UInt8])
    case truncate(String, to: Int)
    case synchronise(String)
    case delete(String, isSynchronised: Bool)
    /// Not SQLite's: so much was acknowledged.
    case mark(Int)
  }

  /// What becomes of what was written and is not on the disk for certain.
  package enum Fate: Sendable, CaseIterable {
    case kept
    case lost
    /// Some of it is kept, in any order, some of that in part.
    case mixed
  }

  private struct State: Sendable {
    /// The files as they were before the first step.
    var base: [String: [UInt8]]?
    var steps: [Step] = []
  }

  private let directory: String
  private let state = Monitor(State())

  /// Records the files whose names begin with `name`, beginning with what they are when SQLite opens the first one.
  package init(_ directory: TemporaryDirectory) {
    self.directory = directory.path + "/"
    SQLiteFiles.follow(self, in: self.directory)
  }

  package func stop() { SQLiteFiles.unfollow(self) }

  /// Notes that so much was acknowledged: it has to be there from now on.
  package func mark(_ number: Int) { add(.mark(number)) }

  package var stepCount: Int { state.withLock { $0.steps.count } }

  // MARK: Recording

  fileprivate func isOpening(_ name: String, isLog: Bool) {
    let directory = directory
    state.withLock { state in
      if state.base == nil {
        state.base = [:]
        for file in names(in: directory) { state.base?[file] = contents(of: directory + file) }
      }
      if isLog { state.steps.append(.openLog(name)) }
    }
  }

  fileprivate func add(_ step: Step) { state.withLock { $0.steps.append(step) } }

  // MARK: Losing power

  /// The files as a loss of power after so many steps may leave them, and what was acknowledged then.
  package func files(
    after count: Int, _ fate: Fate, _ random: inout Seed
  ) -> (files: [String: [UInt8]], mark: Int) {
    let (base, steps) = state.withLock { ($0.base ?? [:], $0.steps) }
    var disk = Disk(base)
    var mark = 0
    for step in steps.prefix(count) {
      if case .mark(let number) = step { mark = number }
      disk.take(step)
    }
    return (disk.files(fate, &random), mark)
  }
}

extension Seed {
  fileprivate mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}

/// The files of a disk, and what is on its way there.
private struct Disk {
  private struct File {
    /// Nil: it has no name yet for certain.
    var kept: [UInt8]?
    var pending: [DiskRecorder.Step] = []
    var isDeleted = false
    var synchronisesDirectory = false
  }

  private var contents: [String: File]

  init(_ base: [String: [UInt8]]) { contents = base.mapValues { File(kept: $0) } }

  mutating func take(_ step: DiskRecorder.Step) {
    switch step {
    case .openLog(let name):
      if contents[name]?.isDeleted ?? true { contents[name] = File() }
      contents[name]?.synchronisesDirectory = true
    case .write(let name, _, _), .truncate(let name, _):
      contents[name, default: File()].pending.append(step)
    case .synchronise(let name):
      guard var file = contents[name] else { return }
      var bytes = file.kept ?? []
      for step in file.pending { Self.apply(step, to: &bytes) }
      (file.kept, file.pending) = (bytes, [])
      if file.synchronisesDirectory { contents = contents.filter { !$0.value.isDeleted } }
      file.synchronisesDirectory = false
      contents[name] = file
    case .delete(let name, true): contents[name] = nil
    case .delete(let name, false): contents[name]?.isDeleted = true
    case .mark: break
    }
  }

  func files(_ fate: DiskRecorder.Fate, _ random: inout Seed) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for (name, file) in contents.sorted(by: { $0.key < $1.key }) {
      switch fate {
      case .kept:
        if file.isDeleted { continue }
        var bytes = file.kept ?? []
        for step in file.pending { Self.apply(step, to: &bytes) }
        files[name] = bytes
      case .lost: files[name] = file.kept
      case .mixed:
        if file.isDeleted, random.below(2) == 0 { continue }
        if file.kept == nil, random.below(3) == 0 { continue }
        var bytes = file.kept ?? []
        for step in file.pending { Self.tear(step, into: &bytes, &random) }
        files[name] = bytes
      }
    }
    return files
  }

  private static func apply(_ step: DiskRecorder.Step, to bytes: inout [UInt8]) {
    switch step {
    case .write(_, let offset, let written):
      lengthen(&bytes, to: offset + written.count)
      bytes.replaceSubrange(offset..<offset + written.count, with: written)
    case .truncate(_, let size):
      lengthen(&bytes, to: size)
      bytes.removeLast(bytes.count - size)
    default: break
    }
  }

  /// Does a step, or not, or only for some sectors; others may have anything then.
  private static func tear(
    _ step: DiskRecorder.Step, into bytes: inout [UInt8], _ random: inout Seed
  ) {
    let choice = random.below(3)
    guard choice > 0 else { return }
    guard choice == 2, case .write(_, let offset, let written) = step else {
      return apply(step, to: &bytes)
    }
    lengthen(&bytes, to: offset + written.count)
    var start = offset
    while start < offset + written.count {
      let end = min(offset + written.count, (start / 512 + 1) * 512)
      switch random.below(8) {
      case 0: for index in start..<end { bytes[index] = UInt8(random.below(256)) }
      case 1, 2, 3: break
      default:
        bytes.replaceSubrange(start..<end, with: written[start - offset..<end - offset])
      }
      start = end
    }
  }

  private static func lengthen(_ bytes: inout [UInt8], to size: Int) {
    if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
  }
}

/// SQLite's own file layer with some of its functions replaced, for files that a recorder follows.
private enum SQLiteFiles {
  typealias Methods = UnsafePointer<sqlite3_io_methods>

  private struct OpenFile {
    let name: String
    let recorder: DiskRecorder
    let real: Methods
  }

  /// `@unchecked Sendable`: the pointers are to what never changes, or keys only.
  private struct State: @unchecked Sendable {
    var recorders: [(directory: String, recorder: DiskRecorder)] = []
    var open: [UnsafeMutableRawPointer: OpenFile] = [:]
    /// Ours for each table of SQLite's.
    var methods: [Methods: Methods] = [:]
  }

  private static let state = Monitor(State())

  static func follow(_ recorder: DiskRecorder, in directory: String) {
    _ = isReplaced
    state.withLock { $0.recorders.append((directory, recorder)) }
    // It has a copy of the functions of before, if it was made before.
    if let other = sqlite3_vfs_find("kvstore-encrypted") {
      other.pointee.xDelete = { SQLiteFiles.delete($0, $1, synchronises: $2) }
    }
  }

  static func unfollow(_ recorder: DiskRecorder) {
    state.withLock { $0.recorders.removeAll { $0.recorder === recorder } }
  }

  private typealias Open =
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?,
      UnsafeMutablePointer<sqlite3_file>?, Int32, UnsafeMutablePointer<Int32>?
    ) -> Int32
  private typealias Delete =
    @convention(c) (UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?, Int32) -> Int32

  /// `nonisolated(unsafe)`: set once, before ours take their place.
  nonisolated(unsafe) private static var realOpen: Open?
  nonisolated(unsafe) private static var realDelete: Delete?

  private static let isReplaced: Bool = {
    guard let system = sqlite3_vfs_find(nil) else { return false }
    realOpen = system.pointee.xOpen
    realDelete = system.pointee.xDelete
    system.pointee.xOpen = { vfs, name, file, flags, outFlags in
      SQLiteFiles.open(vfs, name, file: file, flags: flags, outFlags: outFlags)
    }
    system.pointee.xDelete = { SQLiteFiles.delete($0, $1, synchronises: $2) }
    return true
  }()

  private static func recorder(of path: String) -> (name: String, recorder: DiskRecorder)? {
    let found = state.withLock { state in
      state.recorders.first { path.hasPrefix($0.directory) }
    }
    return found.map { (String(path.dropFirst($0.directory.count)), $0.recorder) }
  }

  private static func open(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    file: UnsafeMutablePointer<sqlite3_file>?, flags: Int32,
    outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let realOpen else { return SQLITE_CANTOPEN }
    let followed = name.flatMap { recorder(of: String(cString: $0)) }
    let isLog = flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) != 0
    followed?.recorder.isOpening(followed?.name ?? "", isLog: isLog)
    let status = realOpen(vfs, name, file, flags, outFlags)
    guard status == SQLITE_OK, let followed, let file, let real = file.pointee.pMethods else {
      return status
    }
    state.withLock { state in
      state.open[UnsafeMutableRawPointer(file)] = OpenFile(
        name: followed.name, recorder: followed.recorder, real: real)
      let ours = state.methods[real] ?? replacement(of: real)
      state.methods[real] = ours
      file.pointee.pMethods = ours
    }
    return status
  }

  private static func delete(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, synchronises: Int32
  ) -> Int32 {
    guard let realDelete else { return SQLITE_IOERR }
    let status = realDelete(vfs, name, synchronises)
    if status == SQLITE_OK, let name, let followed = recorder(of: String(cString: name)) {
      followed.recorder.add(.delete(followed.name, isSynchronised: synchronises != 0))
    }
    return status
  }

  private static func on(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ body: (OpenFile) -> Int32
  ) -> Int32 {
    guard let file, let open = state.withLock({ $0.open[UnsafeMutableRawPointer(file)] }) else {
      return SQLITE_MISUSE
    }
    return body(open)
  }

  private static func replacement(of real: Methods) -> Methods {
    var methods = real.pointee
    methods.xClose = { file in
      SQLiteFiles.on(file) { open in
        if let file { SQLiteFiles.state.withLock { $0.open[UnsafeMutableRawPointer(file)] = nil } }
        return open.real.pointee.xClose(file)
      }
    }
    methods.xWrite = { file, source, count, offset in
      SQLiteFiles.on(file) { open in
        let status = open.real.pointee.xWrite(file, source, count, offset)
        let bytes = [UInt8](UnsafeRawBufferPointer(start: source, count: Int(count)))
        if status == SQLITE_OK { open.recorder.add(.write(open.name, at: Int(offset), bytes)) }
        return status
      }
    }
    methods.xTruncate = { file, size in
      SQLiteFiles.on(file) { open in
        let status = open.real.pointee.xTruncate(file, size)
        if status == SQLITE_OK { open.recorder.add(.truncate(open.name, to: Int(size))) }
        return status
      }
    }
    methods.xSync = { file, flags in
      SQLiteFiles.on(file) { open in
        let status = open.real.pointee.xSync(file, flags)
        if status == SQLITE_OK { open.recorder.add(.synchronise(open.name)) }
        return status
      }
    }
    let memory = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    memory.initialize(to: methods)
    return UnsafePointer(memory)
  }
}
