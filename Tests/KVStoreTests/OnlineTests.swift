import Glibc
import KVBase
import KVStore
import KVTestSupport
import Testing

@Suite struct OnlineTests {
  @Test("What one client saves and syncs, another one pulls")
  func sync() async throws {
    let backend = try Backend()
    let ann = try backend.client("ann")
    let user = try await ann.signup(username: "ann", password: "a password")
    #expect(try await ann.currentUser()?.id == user.id)
    let people = try ann.store("people", of: Person.self)
    let saved = try await people.save(Person(name: "Ann", age: 31))
    #expect(try await people.pending.count() == 1)
    let events = ann.syncEvents()
    let result = try await people.sync()
    #expect(result.push.pushed == 1)
    #expect(result.push.errors == [])
    #expect(try await people.pending.count() == 0)
    var names: [String] = []
    for await event in events {
      if case .started(let operation) = event { names.append(operation.name) }
      if case .finished(let operation, let counts) = event {
        #expect(operation.collection == "people")
        #expect(counts.pushed == 1)
        break
      }
    }
    #expect(names == ["sync"])

    let bob = try backend.client("bob")
    try await bob.signup(username: "bob", password: "a password")
    let copy = try bob.store("people", of: Person.self)
    #expect(try await copy.pull().pulled == 1)
    #expect(try await copy.find(id: saved.id ?? "")?.name == "Ann")
    try await bob.deleteUser(isHard: true)
    #expect(try await bob.currentUser() == nil)
    #expect(try await ann.userExists("bob") == false)
    try await ann.logout()
    #expect(try await people.count() == 0)
    await bob.close()
    await ann.close()
  }

  @Test("A pull and a sync can give the entities, those that had not changed included")
  func entities() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    try await client.signup(username: "ann", password: "a password")
    let people = try client.store("people", of: Person.self)
    try await people.save([Person(name: "Ann", age: 31), Person(name: "Bob", age: 5)])
    let waiting = await #expect(throws: KVStoreError.self) { try await people.pullEntities() }
    #expect(waiting?.code == .pending)
    let (result, synced) = try await people.syncEntities(\.age > 30)
    #expect(result.push.pushed == 2)
    #expect(try await synced.all().map(\.name) == ["Ann"])
    var options = CallOptions()
    options.readPolicy = .forceNetwork
    for _ in 0..<2 {
      let pulled = try await people.pullEntities(options: options)
      #expect(try await pulled.all().map(\.name).sorted() == ["Ann", "Bob"])
    }
    await client.close()
  }

  @Test("A backend's refusal has its words")
  func refusal() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    let error = await #expect(throws: KVStoreError.self) {
      try await client.login(username: "nobody", password: "x")
    }
    #expect(error?.code == .unauthorized || error?.code == .notFound)
    #expect(error?.answer?.status == 401 || error?.answer?.status == 404)
    #expect(error?.answer?.error?.isEmpty == false)
    let people = try client.store("people", of: Person.self)
    let nobody = await #expect(throws: KVStoreError.self) { try await people.pull() }
    #expect(nobody?.code == .forbidden)
    #expect(try await client.ping().contains("version"))
    await client.close()
  }

  @Test("Live data tells what others save and remove")
  func live() async throws {
    let backend = try Backend()
    let ann = try backend.client("ann")
    try await ann.signup(username: "ann", password: "a password")
    try await ann.registerForLiveData()
    let people = try ann.store("people", of: Person.self)
    var events = try people.live(savingLocally: true).makeAsyncIterator()
    while let event = await events.next() { if case .ready = event { break } }

    let other = try ann.store("people", of: Person.self, type: .network)
    let saved = try await other.save(Person(name: "Bob", age: 20))
    let change = await events.next()
    guard case .saved(let person, _) = change else {
      Issue.record("\(String(describing: change))")
      return
    }
    #expect(person.name == "Bob")
    #expect(try await people.find(id: saved.id ?? "")?.name == "Bob")
    try await other.remove(id: saved.id ?? "")
    guard case .deleted(let id) = await events.next() else {
      Issue.record("no deletion")
      return
    }
    #expect(id == saved.id)
    await ann.close()
    while await events.next() != nil {}
  }

  @Test("Cancelling a task ends its call at once")
  func cancelled() async throws {
    let silent = try SilentServer()
    let backend = try Backend()
    let client = try backend.client("client", url: silent.url)
    let task = Task { () -> KVStoreError? in
      do throws(KVStoreError) {
        _ = try await client.ping()
        return nil
      } catch {
        return error
      }
    }
    await silent.waitForRequest()
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    await client.close()
  }

  @Test("Closing the client ends its calls")
  func closed() async throws {
    let silent = try SilentServer()
    let backend = try Backend()
    let client = try backend.client("client", url: silent.url)
    let task = Task { try await client.ping() }
    await silent.waitForRequest()
    await client.close()
    let error = await #expect(throws: KVStoreError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }
}

/// Takes connections and says nothing.
private final class SilentServer: Sendable {
  struct Failure: Error {}

  private let socket: Int32
  let url: String

  init() throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard let port = bindToLoopback(socket), listen(socket, 5) == 0 else { throw Failure() }
    url = "http://127.0.0.1:\(port)"
  }

  deinit { Glibc.close(socket) }

  /// Waits until somebody has connected, on a thread that nobody else needs.
  func waitForRequest() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let waiter = Worker("silent-server") { [socket] in
        var one = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        poll(&one, 1, -1)
        continuation.resume()
      }
      if waiter == nil { continuation.resume() }
    }
  }
}
