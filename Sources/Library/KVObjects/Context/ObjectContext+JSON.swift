internal import KVBase
package import KVJSON
package import KVSync

extension ContextSaveResult {
  package var json: [UInt8] {
    func list(_ ids: [ObjectID]) -> JSONValue { .array(ids.map { .object($0.json) }) }
    return JSONValue.object([
      "inserted": list(inserted), "updated": list(updated), "deleted": list(deleted),
      "merged": list(merged), "permanentIds": .array(permanentIDsJSON),
    ]).bytes
  }

  /// `{"collection","temporary","id"}` for each.
  package var permanentIDsJSON: [JSONValue] {
    permanentIDs.map { (temporary, permanent) in
      var object = permanent.json
      object["temporary"] = .string(temporary.key.text)
      return .object(object)
    }
  }
}

extension ContextStatistics {
  package var json: JSONObject {
    [
      "reads": .int(Int64(reads)), "relationshipReads": .int(Int64(relationshipReads)),
      "fetches": .int(Int64(fetches)), "saves": .int(Int64(saves)),
      "cachedObjects": .int(Int64(cachedObjects)), "cachedBytes": .int(Int64(cachedBytes)),
      "changes": .int(Int64(changes)), "held": .int(Int64(held)),
    ]
  }
}

extension FetchingOptions {
  /// Takes its members out of a request, whose others are those of `ResultsRequest`.
  package init(taking request: inout JSONObject) throws(StoreError) {
    returnsObjectsAsFaults = try Self.flag("returnsObjectsAsFaults", &request) ?? true
    includesPendingChanges = try Self.flag("includesPendingChanges", &request) ?? true
    let name = "relationshipKeyPathsForPrefetching"
    guard let paths = request[name] else { return }
    request[name] = nil
    let texts = paths.arrayValue?.compactMap(\.stringValue)
    guard let texts, texts.count == paths.arrayValue?.count else {
      throw StoreError(.invalid, "\(name) is not an array of texts.")
    }
    prefetchedKeyPaths = texts
  }

  private static func flag(
    _ name: String, _ request: inout JSONObject
  ) throws(StoreError) -> Bool? {
    guard let value = request[name] else { return nil }
    request[name] = nil
    guard let flag = value.boolValue else {
      throw StoreError(.invalid, "\(name) is not true or false.")
    }
    return flag
  }
}
