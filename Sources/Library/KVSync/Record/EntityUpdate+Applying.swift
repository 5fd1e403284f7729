internal import KVBase
package import KVJSON
package import KVQuery

extension EntityUpdate {
  /// A stored entity after the update, ready to be saved; nil if it stays as it is. `now`: milliseconds.
  ///
  /// `.invalid`, with the entity's id, if the update does not fit it, or its result cannot be stored; `.tooLarge` if the
  /// result exceeds the update's limit.
  package func applied(
    to body: [UInt8], _ now: Int64, format: RecordFormat = .default
  ) throws(StoreError) -> SavedEntity? {
    let id = try StoredEntity.id(of: body, format)
    do throws(StoreError) {
      guard let changed = try changed(body, id, now: now, format: format) else { return nil }
      return SavedEntity(id: id, bytes: changed)
    } catch {
      var failure = error
      failure.id = id
      throw failure
    }
  }

  private func changed(
    _ body: [UInt8], _ id: String, now: Int64, format: RecordFormat
  ) throws(StoreError) -> [UInt8]? {
    let changed: [UInt8]?
    do throws(QueryError) {
      changed = try apply(to: body, now: Timestamp(milliseconds: now))
    } catch {
      throw StoreError(error)
    }
    guard let changed else { return nil }
    let outline: EntityOutline
    do throws(JSONError) { outline = try EntityScanner.outline(of: changed, format) } catch {
      throw StoreError(error)
    }
    guard outline.id?.hasSameBytes(as: id) ?? false else {
      throw StoreError(.invalid, "The id of an entity (\(format.idText)) cannot be changed.")
    }
    if let maxBytes, changed.count > maxBytes {
      throw .tooLarge(changed.count, most: maxBytes)
    }
    return changed
  }
}

extension StoreError {
  /// The refusal of an entity that the backend would not accept.
  static func tooLarge(_ size: Int, most: Int) -> StoreError {
    StoreError(.tooLarge, "The entity has \(size) bytes, and the backend accepts at most \(most).")
  }
}

/// What a stored body says of itself.
package enum StoredEntity {
  package static func id(
    of body: [UInt8], _ format: RecordFormat = .default
  ) throws(StoreError) -> String {
    guard let id = format.key(of: body) else {
      throw StoreError(.corrupt, "A stored entity has no id (\(format.idText)).")
    }
    return id
  }
}

extension RecordFormat {
  /// `.invalid` if an entity comes without id that cannot be given one here.
  package func checkIDs(of outlines: [EntityOutline]) throws(StoreError) {
    guard !makesIDs, let index = outlines.firstIndex(where: { $0.id == nil }) else { return }
    var error = StoreError(.invalid, "An entity needs its id (\(idText)).")
    if outlines.count > 1 { error.index = index }
    throw error
  }
}
