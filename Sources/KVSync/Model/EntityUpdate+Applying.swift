internal import KVBase
internal import KVJSON
package import KVQuery

extension EntityUpdate {
  /// A stored entity after the update, ready to be saved; nil if it stays as it is. `now`: milliseconds.
  ///
  /// `.invalid`, with the entity's id, if the update does not fit it, or its result cannot be stored.
  package func applied(to body: [UInt8], _ now: Int64) throws(StoreError) -> SavedEntity? {
    let id = try StoredEntity.id(of: body)
    do throws(StoreError) {
      guard let changed = try changed(body, now) else { return nil }
      return SavedEntity(id: id, bytes: changed)
    } catch {
      var failure = error
      failure.id = id
      throw failure
    }
  }

  private func changed(_ body: [UInt8], _ now: Int64) throws(StoreError) -> [UInt8]? {
    let changed: [UInt8]?
    do throws(QueryError) {
      changed = try apply(to: body, now: Timestamp(milliseconds: now))
    } catch {
      throw StoreError(error)
    }
    guard let changed else { return nil }
    do throws(JSONError) { _ = try EntityScanner.outline(of: changed) } catch {
      throw StoreError(error)
    }
    return changed
  }
}

/// What a stored body says of itself.
package enum StoredEntity {
  package static func id(of body: [UInt8]) throws(StoreError) -> String {
    guard let id = (try? EntityScanner.outline(of: body))?.id else {
      throw StoreError(.corrupt, "A stored entity has no _id.")
    }
    return id
  }
}
