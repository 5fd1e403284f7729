import KVStore
import KVTestSupport
import Testing

@Suite struct StreamTests {
  private struct Line: Codable, Sendable, Equatable {
    var text: String
    var number: Int
  }

  @Test("What one user says in a stream, those hear who may listen")
  func conversation() async throws {
    let backend = try Backend()
    let (ann, bob) = (try backend.client("ann"), try backend.client("bob"))
    let hers = try await ann.signup(username: "ann", password: "a password")
    let his = try await bob.signup(username: "bob", password: "a password")
    try await ann.registerForLiveData()
    try await bob.registerForLiveData()
    let chat = ann.stream("chat", of: Line.self)
    let same = bob.stream("chat", of: Line.self)
    #expect(chat.name == "chat")

    try await chat.setACL(StreamACL(subscribe: [his.id], publish: [his.id]))
    let acl = try await chat.acl()
    #expect(acl.subscribe == [his.id] && acl.publish == [his.id])
    #expect(try await same.owners().contains(hers.id))

    var received = try same.listen(to: hers.id).makeAsyncIterator()
    while let event = await received.next() { if case .ready = event { break } }
    try await chat.send(Line(text: "Hello", number: 1))
    guard case .message(let line) = await received.next() else {
      Issue.record("no message")
      return
    }
    #expect(line == Line(text: "Hello", number: 1))

    // What fits the type of one program need not fit that of another.
    try await ann.stream("chat", of: String.self).send("Hello")
    guard case .failed(let error) = await received.next() else {
      Issue.record("no failure")
      return
    }
    #expect(error.code == .invalid)
    try await same.send(Line(text: "Hi", number: 2), to: hers.id)
    guard case .message(let answer) = await received.next() else {
      Issue.record("no answer")
      return
    }
    #expect(answer.text == "Hi")
    await bob.close()
    while await received.next() != nil {}
    await ann.close()
  }

  @Test("Who may not speak in a stream is refused, and nobody listens without being registered")
  func refused() async throws {
    let backend = try Backend()
    let (ann, bob) = (try backend.client("ann"), try backend.client("bob"))
    let hers = try await ann.signup(username: "ann", password: "a password")
    try await bob.signup(username: "bob", password: "a password")
    let chat = bob.stream("chat", of: Line.self)
    let early = #expect(throws: KVStoreError.self) { try chat.listen() }
    #expect(early?.code == .misuse)
    try await bob.registerForLiveData()
    let error = await #expect(throws: KVStoreError.self) {
      try await chat.send(Line(text: "Hi", number: 2), to: hers.id)
    }
    #expect(error?.code == .forbidden || error?.code == .unauthorized)
    await ann.close()
    await bob.close()
  }
}
