internal import KVBase
internal import KVJSON
internal import KVSync
internal import KVTransport

/// Many new entities in one request, and what the backend said about each.
enum MultiInsert {
  static func id(of entity: [UInt8]) -> String? { (try? EntityScanner.outline(of: entity))?.id }

  /// One result for each entity that was sent.
  ///
  /// The answer is `{"entities":[…],"errors":[{"index":…,…}]}`, with null for an entity that failed. An
  /// entity counts as stored only if it is there, is ours, and no error names it; one that the answer
  /// says nothing about has failed.
  static func results(
    for entities: [[UInt8]], _ response: HTTPResponse, hiding secrets: [String]
  ) throws(StoreError) -> [Result<[UInt8], StoreError>] {
    let parts: Parts
    do throws(JSONError) {
      parts = try response.body.withBorrowedBytes { bytes throws(JSONError) in try Parts(bytes) }
    } catch {
      throw KinveyErrors.unusable(
        response.head, "The backend's answer is not a result", cause: error)
    }
    return entities.enumerated().map { index, entity in
      if let words = parts.errors[index] {
        return .failure(KinveyErrors.error(ofItem: words, response.head, hiding: secrets))
      }
      guard index < parts.entities.count, let stored = parts.entities[index],
        let storedId = id(of: stored)
      else {
        return .failure(
          KinveyErrors.unusable(
            response.head, "The backend's answer has no result for this entity."))
      }
      guard (id(of: entity) ?? storedId).hasSameBytes(as: storedId) else {
        return .failure(
          KinveyErrors.unusable(
            response.head, "The backend stored the entity under another id."))
      }
      return .success(stored)
    }
  }

  /// The answer cut up: entities stay bytes, errors are parsed.
  private struct Parts {
    /// Nil where the answer has null.
    var entities: [[UInt8]?] = []
    /// By the index they name; the first one counts.
    var errors: [Int: JSONObject] = [:]

    init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
      try EntityScanner.validate(bytes)
      let scanner = ByteScanner(bytes)
      var members = try MemberCursor(scanner, at: scanner.skipSpace(0))
      while let member = try members.next() {
        if members.isName(member.name, "entities") {
          try readEntities(bytes, scanner, at: member.value.lowerBound)
        } else if members.isName(member.name, "errors") {
          try readErrors(bytes, member.value)
        }
      }
    }

    private mutating func readEntities(
      _ bytes: UnsafeRawBufferPointer, _ scanner: ByteScanner, at position: Int
    ) throws(JSONError) {
      var elements = try ElementCursor(scanner, at: position, depth: 1)
      while let element = try elements.next() {
        let isNull = bytes[element.lowerBound] == UInt8(ascii: "n")
        entities.append(
          isNull
            ? nil : try [UInt8](bytes[element], or: JSONError(.noMemory, at: element.lowerBound)))
      }
    }

    private mutating func readErrors(
      _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>
    ) throws(JSONError) {
      let value = try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[range]))
      for error in value.arrayValue ?? [] {
        guard let object = error.objectValue, let number = object["index"]?.intValue,
          let index = Int(exactly: number), errors[index] == nil
        else { continue }
        errors[index] = object
      }
    }
  }
}
