internal import KVBase
package import KVJSON

extension CollectionEngine {
  /// Replaces what a pending create or update would send, but for members that are not `known`; attempts and error
  /// start anew.
  package func editPending(
    _ id: String, _ bytes: UnsafeRawBufferPointer, outline: EntityOutline,
    known: KnownMembers? = nil
  ) throws(StoreError) {
    let local = try localStore(for: "edit a pending write")
    guard outline.id?.hasSameBytes(as: id) ?? true else {
      throw StoreError(.invalid, "The entity has another id than the pending write.")
    }
    let found = try pending(id)
    guard found.write.operation != .delete else {
      throw StoreError(.invalid, "A pending deletion has nothing to edit.")
    }
    guard try local.editPending(bytes, outline, id: id, known: known, in: collection) else {
      throw notFound(id)
    }
  }
}
