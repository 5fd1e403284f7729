internal import KVJSON

/// A change of stored entities that need not be read: see `DataStore.update`. It is a value; each function returns it
/// with one more change.
///
///     try await people.update(\.city == "Reno", Update().increment(\.visits, by: 1).unset(\.note))
public struct Update<Entity: Codable & Sendable>: Sendable {
  let built: Result<JSONObject, KVStoreError>

  /// Creates an update that changes nothing.
  public init() { built = .success([:]) }

  /// Creates an update from MongoDB's language, such as `{"$set":{"age":31}}`.
  public init(json: String) throws(KVStoreError) {
    guard let object = try JSONDecoding.ifValid(json)?.objectValue else {
      throw KVStoreError(.invalid, "The update is not a JSON object.")
    }
    built = .success(object)
  }

  private init(built: Result<JSONObject, KVStoreError>) { self.built = built }

  /// Sets a member to a value.
  public func set<Value: Encodable>(_ keyPath: KeyPath<Entity, Value>, _ value: Value) -> Update {
    adding("$set", at: keyPath, value: value)
  }

  /// Removes a member.
  public func unset<Value>(_ keyPath: KeyPath<Entity, Value?>) -> Update {
    adding("$unset", at: keyPath, value: true)
  }

  /// Adds a number to a member.
  public func increment<Value: Encodable & Numeric>(
    _ keyPath: KeyPath<Entity, Value>, by amount: Value
  ) -> Update { adding("$inc", at: keyPath, value: amount) }

  /// Multiplies a member by a number.
  public func multiply<Value: Encodable & Numeric>(
    _ keyPath: KeyPath<Entity, Value>, by factor: Value
  ) -> Update { adding("$mul", at: keyPath, value: factor) }

  /// Adds an element to the end of an array.
  public func append<Element: Encodable>(
    _ keyPath: KeyPath<Entity, [Element]>, _ element: Element
  ) -> Update { adding("$push", at: keyPath, value: element) }

  /// Adds an element to an array that does not contain it.
  public func addToSet<Element: Encodable>(
    _ keyPath: KeyPath<Entity, [Element]>, _ element: Element
  ) -> Update { adding("$addToSet", at: keyPath, value: element) }

  /// Removes all elements that are equal to a value from an array.
  public func remove<Element: Encodable>(
    _ keyPath: KeyPath<Entity, [Element]>, _ element: Element
  ) -> Update { adding("$pull", at: keyPath, value: element) }

  private func adding(
    _ operation: String, at keyPath: PartialKeyPath<Entity>, value: some Encodable
  ) -> Update {
    Update(
      built: Result { () throws(KVStoreError) in
        var object = try built.get()
        var members = object[operation]?.objectValue ?? [:]
        members[try MemberTable<Entity>.shared.name(of: keyPath)] = try JSONEncoding.value(
          of: value)
        object[operation] = .object(members)
        return object
      })
  }
}
