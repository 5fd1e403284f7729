import KVStore
import KVTestSupport
import Testing

@Suite struct SharingTests {
  @Test("Users are found by what the backend allows, and not without a question")
  func lookup() async throws {
    let backend = try Backend()
    let (ann, bob) = (try backend.client("ann"), try backend.client("bob"))
    try await ann.signup(username: "ann", password: "a password")
    let them = try await bob.signup(username: "bob", password: "a password")
    #expect(try await ann.lookupUsers(["username": "bob"]).map(\.id) == [them.id])
    #expect(try await ann.lookupUsers(["username": "nobody"]) == [])
    let error = await #expect(throws: KVStoreError.self) {
      try await ann.lookupUsers([String: String]())
    }
    #expect(error?.code == .invalid)
    await ann.close()
    await bob.close()
  }

  @Test("A group is made, read, changed and deleted")
  func groups() async throws {
    let backend = try Backend()
    let client = try backend.client("client")
    try await client.signup(username: "ann", password: "a password")
    let made = try await client.groups.create(name: "team", members: ["ada"])
    #expect(made.name == "team" && made.members == ["ada"])
    let changed = try await client.groups.update(
      id: made.id, adding: ["ben", "cleo"], removing: ["ada"], name: "crew")
    #expect(changed.name == "crew" && changed.members == ["ben", "cleo"])
    #expect(try await client.groups.find(id: made.id) == changed)
    #expect(try await client.groups.all() == [changed])
    try await client.groups.delete(id: made.id)
    let error = await #expect(throws: KVStoreError.self) {
      try await client.groups.find(id: made.id)
    }
    #expect(error?.code == .notFound)
    await client.close()
  }

  @Test("What is shared with a user reaches them, until it is taken back")
  func share() async throws {
    struct Secret: Codable, Sendable {
      struct ACL: Codable, Sendable { var gr: Bool? }
      var _id: String
      var text: String
      var _acl: ACL? = ACL(gr: false)
    }
    let backend = try Backend()
    let (ann, bob) = (try backend.client("ann"), try backend.client("bob"))
    try await ann.signup(username: "ann", password: "a password")
    let them = try await bob.signup(username: "bob", password: "a password")
    let hers = try ann.store("secrets", of: Secret.self)
    let his = try bob.store("secrets", of: Secret.self)
    try await hers.save(Secret(_id: "1", text: "x"))
    try await hers.push()
    #expect(try await his.pull().pulled == 0)

    try await hers.share(id: "1", with: Sharing(readers: [them.id]))
    try await hers.push()
    #expect(try await his.pull().pulled == 1)
    try await hers.unshare(id: "1", from: Sharing(readers: [them.id]))
    try await hers.push()
    try await his.pull()
    #expect(try await his.count() == 0)

    let team = try await ann.groups.create(name: "team", members: [them.id])
    var sharing = Sharing()
    sharing.readerGroups = [team.id]
    try await hers.share(id: "1", with: sharing)
    try await hers.push()
    #expect(try await his.pull().pulled == 1)

    let nobody = await #expect(throws: KVStoreError.self) {
      try await hers.share(id: "1", with: Sharing())
    }
    #expect(nobody?.code == .invalid)
    let missing = await #expect(throws: KVStoreError.self) {
      try await hers.share(id: "2", with: .everybodyReads)
    }
    #expect(missing?.code == .notFound)
    await ann.close()
    await bob.close()
  }
}
