import Glibc
import KVBase
import KVQuery
import KVSync
import KVTestSupport
import Testing

@testable import KVStorage

@Suite("Observing") struct ObservingTests {
  private static let queries: [(filter: String, modifiers: String?)] = [
    ("{}", nil), (#"{"n":{"$gt":1}}"#, nil), ("{}", #"{"sort":{"n":1}}"#),
    (#"{"n":{"$lt":3}}"#, #"{"sort":{"n":-1,"v":1}}"#), ("{}", #"{"sort":{"n":1},"limit":3}"#),
    ("{}", #"{"sort":{"v":-1},"skip":2,"limit":4}"#), ("{}", #"{"sort":{"n":1},"fields":["n"]}"#),
    (#"{"_id":"id3"}"#, nil), ("{}", #"{"limit":0}"#),
  ]

  @Test("notifications lead to what a fresh query gives, whoever writes", arguments: 0..<12)
  func replay(run: UInt64) throws {
    let seed = Seed(Seed().value &+ run)
    let directory = TemporaryDirectory()
    let stores = [try openStorage(in: directory), try openStorage(in: directory)]
    var model = Model(random: seed)
    var copies = Self.queries.map { _ in ResultCopy() }
    let observed = try Self.queries.map {
      try stores[0].observe(query($0.filter, $0.modifiers), in: "c") {}
    }
    for step in 0..<400 {
      _ = try model.step(on: stores[model.random.below(2)])
      for (index, wanted) in Self.queries.enumerated() where model.random.below(3) == 0 {
        let changes = try observed[index].changes()
        if let changes { copies[index].apply(changes) }
        let fresh = try stores[0].find(wanted.filter, wanted.modifiers)
        #expect(copies[index].shown == fresh, "\(seed), step \(step), query \(index)")
        if let changes {
          #expect(changes.count == fresh.count && (changes.isInitial || !changes.isEmpty))
        }
        guard copies[index].shown == fresh else { return }
      }
    }
  }

  @Test("what is changed beyond the log, or by many at once, is found by looking at everything")
  func cut() throws {
    let directory = TemporaryDirectory()
    let store = try openStorage(in: directory)
    let observed = try store.observe(query("{}", #"{"sort":{"n":1}}"#), in: "c") {}
    var copy = ResultCopy()
    for round in 0..<3 {
      for _ in 0..<2 {
        try store.store((0..<9_000).map { #"{"_id":"\#($0)","n":\#($0 % 7),"r":\#(round)}"# })
        try store.store((0..<9_000).map { #"{"_id":"\#($0)","n":\#($0 % 5),"r":\#(round)}"# })
      }
      if let changes = try observed.changes() { copy.apply(changes) }
      #expect(try copy.shown == store.find("{}", #"{"sort":{"n":1}}"#))
    }
  }

  @Test(
    "a change that was cut from the log while its observer slept is found by looking at everything")
  func cutBehindAnother() throws {
    let directory = TemporaryDirectory()
    let store = try openStorage(in: directory)
    let observed = try store.observe(query("{}"), in: "c") {}
    // Of another collection: what it has changed since fills the log, and none of that is the observer's.
    let other = try store.observe(query("{}"), in: "d") {}
    defer {
      observed.end()
      other.end()
    }
    try store.store((0..<10).map { #"{"_id":"\#($0)","n":0}"# })
    var copy = ResultCopy()
    if let changes = try observed.changes() { copy.apply(changes) }
    try store.store(#"{"_id":"3","n":1}"#)
    for round in 0..<3 {
      try store.store((0..<8_000).map { #"{"_id":"\#($0)","r":\#(round)}"# }, in: "d")
    }
    copy.apply(try #require(try observed.changes(), "the change is lost"))
    #expect(try copy.shown == store.find("{}"))
  }

  @Test("one change is told as what it is")
  func kinds() throws {
    let directory = TemporaryDirectory()
    let store = try openStorage(in: directory)
    try store.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":2}"#, #"{"_id":"c","n":3}"#)
    let observed = try store.observe(query("{}", #"{"sort":{"n":1}}"#), in: "c") {}
    #expect(try observed.changes()?.insertions.map(\.index) == [0, 1, 2])
    #expect(try observed.changes() == nil)
    try store.store(#"{"_id":"a","n":9}"#)
    let moved = try observed.changes()
    #expect(moved?.moves.map { [$0.from, $0.to] } == [[0, 2]])
    #expect(moved?.modifications.map(\.index) == [2])
    try store.store(#"{"_id":"b","n":2.5}"#)
    let modified = try observed.changes()
    #expect(modified?.moves.isEmpty == true && modified?.modifications.map(\.index) == [0])
    _ = try store.remove("c", in: "c")
    #expect(
      try observed.changes().map { String(try $0.json()) }
        == #"{"initial":false,"isSynced":false,"count":2,"deletions":[{"index":1,"id":"c","source":"local"}],"moves":[],"insertions":[],"modifications":[]}"#
    )
  }

  @Test("a commit through another connection of the file gives a signal, until the observer ends")
  func signals() throws {
    let directory = TemporaryDirectory()
    let stores = [try openStorage(in: directory), try openStorage(in: directory)]
    let signals = Monitor(0)
    let observed = try stores[0].observe(query("{}"), in: "c") {
      signals.withLockNotifyingAll { $0 += 1 }
    }
    _ = try observed.changes()
    try stores[1].save(#"{"_id":"a"}"#)
    #expect(signals.wait(until: .after(seconds: 60)) { $0 > 0 ? true : nil } == true)
    #expect(try observed.changes()?.insertions.count == 1)
    observed.end()
    let count = signals.withLock { $0 }
    try stores[0].save(#"{"_id":"b"}"#)
    #expect(signals.withLock { $0 } == count)
  }

  @Test(
    "who has found that nobody observes finds those who come later", arguments: Observer.allCases)
  fileprivate func laterObserver(_ observer: Observer) throws {
    let directory = TemporaryDirectory()
    let path = directory.file("data.kvs")
    let (writer, other) = (try Storage(path: path), try Storage(path: path))
    let watched = path + "-watch"
    try writer.save(#"{"_id":"a"}"#)
    if observer == .ofCopiedFile {
      try other.observe(query("{}"), in: "c") {}.end()
      unlink(watched)
      try writer.save(#"{"_id":"b"}"#)
    }
    try writer.save(#"{"_id":"c"}"#)
    let observed = try (observer == .onSameConnection ? writer : other)
      .observe(query("{}"), in: "c") {}
    defer { observed.end() }
    var times = [timespec](repeating: timespec(tv_sec: 1, tv_nsec: 0), count: 2)
    #expect(utimensat(AT_FDCWD, watched, &times, 0) == 0)
    try writer.save(#"{"_id":"d"}"#)
    var status = stat()
    #expect(stat(watched, &status) == 0 && status.st_mtim.tv_sec > 1)
  }

  fileprivate enum Observer: CaseIterable {
    case onSameConnection
    case onOther
    /// The collection was observed before, the file beside it was not copied.
    case ofCopiedFile
  }

  @Test("what another process saves is told while it saves, and up to where it was killed")
  func otherProcess() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("data.kvs")
    let store = try Storage(path: path, durability: .normal)
    defer { store.close() }
    let signals = Monitor(0)
    let observed = try Self.queries.map {
      try store.observe(query($0.filter, $0.modifiers), in: "c") {
        signals.withLockNotifyingAll { $0 += 1 }
      }
    }
    defer { for one in observed { one.end() } }
    var copies = Self.queries.map { _ in ResultCopy() }
    var looks = 0
    let saver = try ChildProcess([ChildProcess.built("storage-saver"), path, "saver", "2"])
    defer { saver.end() }
    while copies[0].shown.count < 300 {
      let seen = looks
      let received = signals.wait(until: .after(seconds: 60)) { $0 > seen ? $0 : nil }
      looks = try #require(received, "no signal")
      for (index, one) in observed.enumerated() {
        if let changes = try one.changes() { copies[index].apply(changes) }
      }
    }
    saver.end()
    for (index, wanted) in Self.queries.enumerated() {
      if let changes = try observed[index].changes() { copies[index].apply(changes) }
      #expect(try copies[index].shown == store.find(wanted.filter, wanted.modifiers))
    }
  }
}
