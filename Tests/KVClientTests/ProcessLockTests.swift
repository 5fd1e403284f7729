import KVBase
import KVClient
import KVJSON
import KVSync
import KVTestSupport
import Testing

@Suite("Processes that share a data directory") struct ProcessLockTests {
  @Test("take turns to send, and who dies gives its turn back") func turns() throws {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["n": 1])

    let path = world.directory.file("ana") + "/kid%5Ftest/kinvey.kvs.lock"
    let other = try ChildProcess([
      "python3", "-c",
      """
      import fcntl, sys, time
      file = open(sys.argv[1], "a")
      fcntl.lockf(file, fcntl.LOCK_EX)
      print("locked", flush=True)
      time.sleep(60)
      """, path,
    ])
    #expect(other.read(until: "locked") != nil)
    var options = Options()
    options.timeout = 0.1
    #expect(failure { _ = try store.push(DataStore.Run(options)) }?.kind == .timeout)
    let auto = try client.store("notes", type: "auto", nil)
    _ = try auto.save(["n": 2], DataStore.Run(options))
    #expect(try store.pendingCount() == 2)

    other.end()
    #expect(try store.push(DataStore.Run()) == PushResult(pushed: 2))
  }
}
