package import KVJSON
internal import KVQuery
package import KVSync

extension DataStore {
  /// Changes the rights in one entity by an update of `Sharing`, and never replaces what somebody else has changed.
  /// `.notFound` if there is no such entity where the store writes.
  package func share(
    _ id: String, _ rights: JSONValue, run: Run, early: () -> Void = {}
  ) throws(StoreError) -> Answered<UpdateResult> {
    guard engine.format == .default else {
      throw StoreError(.unsupported, "Entities of this backend have no _acl.")
    }
    guard !id.isEmpty else { throw StoreError(.invalid, "The id is empty.") }
    return try perform("share", as: .write, run) { (options) throws(StoreError) in
      let update: EntityUpdate
      do throws(QueryError) { update = try EntityUpdate(rights.text, engine.format) } catch {
        throw StoreError(error)
      }
      let result = try engine.update(
        Query(key: id, engine.format), update, isConditional: true, options: options
      ) { _ in early() }
      guard result.value.matched > 0 else { throw engine.notFound(id) }
      return result
    }
  }
}
