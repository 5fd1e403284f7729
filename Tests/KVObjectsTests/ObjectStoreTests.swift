import KVBase
import KVJSON
import KVObjects
import KVSync
import Testing

@Suite("Types of stores for contexts") struct ObjectStoreTests {
  @Test("a UUID is refused that could not be a part of a URI", arguments: ["", "a/b", "é", " "])
  func refusesUUIDs(uuid: String) {
    #expect(throws: StoreError.self) { try ObjectStoreMetadata(type: "memory", uuid: uuid) }
  }

  @Test("a type has its name alone, until it is unregistered")
  func registersOnce() throws {
    let name = "type-\(Identifier.entity())"
    let factory: ObjectStoreFactory = { (_) throws(StoreError) in throw StoreError(.unsupported, "")
    }
    try ObjectStoreRegistry.shared.register(name, factory)
    #expect(throws: StoreError.self) { try ObjectStoreRegistry.shared.register(name, factory) }
    #expect(throws: StoreError.self) { try ObjectStoreRegistry.shared.register("local", factory) }
    #expect(throws: StoreError.self) { try ObjectStoreRegistry.shared.register("", factory) }
    #expect(ObjectStoreRegistry.shared.factory(name) != nil)
    #expect(ObjectStoreRegistry.shared.unregister(name))
    #expect(ObjectStoreRegistry.shared.factory(name) == nil)
    #expect(!ObjectStoreRegistry.shared.unregister(name))
  }
}
