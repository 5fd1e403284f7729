import KVStore

/// Notes on two devices. Start a server, then run `swift run notes http://127.0.0.1:8080 /tmp/notes`.
@main struct Notes {
  struct Usage: Error {}

  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { throw Usage() }
    let phone = try device(arguments, "phone")
    try await phone.signup(username: "pia", password: "a password")
    let notes = try phone.store("notes", of: Note.self)
    try await work(offlineWith: notes)
    try await watch(notes)
    try await archive(notes, of: phone)
    print("pushed:", try await notes.sync().push.pushed)

    let tablet = try device(arguments, "tablet")
    try await tablet.login(username: "pia", password: "a password")
    let copy = try tablet.store("notes", of: Note.self)
    print("pulled:", try await copy.pull().pulled)
    try await listen(tablet, copy, while: notes)
    try await disagree(copy, with: notes)
    try await cancel(copy)

    await tablet.close()
    await phone.close()
    do { _ = try await notes.count() } catch { print("closed:", error.code) }
  }

  /// Opens a client with its own data directory, as on another device.
  static func device(_ arguments: [String], _ name: String) throws(KVStoreError) -> KVStoreClient {
    var configuration = Configuration(
      appKey: "kid_demo", backend: .host(arguments[1], secret: "secret"))
    configuration.dataDirectory = "\(arguments[2])/\(name)"
    configuration.calls.timeout = 20
    return try KVStoreClient(configuration)
  }

  /// Works without the network.
  static func work(offlineWith notes: DataStore<Note>) async throws(KVStoreError) {
    let milk = try await notes.insert(Note(text: "milk", priority: 3, tags: ["shop"]))
    try await notes.save([Note(text: "bread", tags: ["shop"]), Note(text: "call Ann", priority: 2)])
    let important = Query<Note>(\.priority > 1).sorted(by: \.priority, ascending: false)
    for try await note in notes.find(important) { print("important:", note.text) }
    print("waiting:", try await notes.pending.count())
    do {
      try await notes.insert(milk)
    } catch  where error.code == .conflict {
      print("refused:", error.code)
    }
  }

  /// An observer receives the result first, and then its changes.
  static func watch(_ notes: DataStore<Note>) async throws(KVStoreError) {
    var shown: [Note] = []
    for try await changes in try notes.observe(\.priority == 3) {
      changes.apply(to: &shown)
      if shown.count == 2 { break }
      try await notes.update(\.text == "bread", Update().set(\.priority, 3))
    }
    print("shown:", shown.map(\.text).sorted().joined(separator: ", "))
  }

  /// Reads and writes of several stores take effect together or not at all.
  static func archive(_ notes: DataStore<Note>, of client: KVStoreClient) async throws {
    let done = try client.store("done", of: Note.self)
    let moved = try await client.transaction { transaction in
      let calls = try transaction.find(\.text == "call Ann", in: notes).all()
      for note in calls { try transaction.insert(note, in: done) }
      return try transaction.remove(\.text == "call Ann", in: notes)
    }
    print("moved:", moved, "left:", try await notes.count())
  }

  /// Both devices have changed a note. The device that pushes last resolves the conflict.
  static func disagree(_ ours: DataStore<Note>, with theirs: DataStore<Note>) async throws {
    guard var here = try await ours.find(\.text == "tea").first() else { return }
    var there = here
    there.tags = ["shop"]
    try await theirs.save(there)
    try await theirs.push()
    here.priority = 2
    try await ours.save(here)
    try ours.setConflictHandler { conflict in
      guard var merged = conflict.theirs, let ours = conflict.ours else { return .leaveOpen }
      merged.priority = ours.priority
      return .merged(merged)
    }
    try await ours.push()
    if let note = try await ours.find(\.text == "tea").first() {
      print("merged:", note.text, note.priority, note.tags)
    }
  }

  /// A device receives the writes of the other one at once.
  static func listen(
    _ client: KVStoreClient, _ copy: DataStore<Note>, while notes: DataStore<Note>
  ) async throws(KVStoreError) {
    try await client.registerForLiveData()
    for await event in try copy.live(savingLocally: true) {
      if case .ready = event {
        try await notes.save(Note(text: "tea"))
        try await notes.push()
      }
      if case .saved(let note, _) = event {
        print("live:", note.text)
        break
      }
    }
    print("there:", try await copy.count())
  }

  /// Cancelling a task cancels its call.
  static func cancel(_ notes: DataStore<Note>) async throws {
    let watching = Task {
      for try await _ in try notes.observe() {}
      return "ended"
    }
    watching.cancel()
    print("watching:", try await watching.value)
  }
}
