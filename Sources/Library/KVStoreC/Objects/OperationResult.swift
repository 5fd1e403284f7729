internal import CKVStore
internal import KVSync

/// What an operation came to, before it takes the form that C wants.
enum Outcome: Sendable {
  /// The operation succeeded and has no result.
  case nothing
  /// A JSON text.
  case json([UInt8])
  /// The same, where some entities failed: `KV_PARTIAL`.
  case partial([UInt8])
  /// What was saved, and what failed: `KV_PARTIAL` if something did. Its text is made for who asks for it.
  case saved(SaveManyResult)
  case count(Int64)
  case entities(any EntityCursor)
  case results(FetchedResults)
}

/// One answer of an operation; a Cache store gives two.
struct OperationResult: Sendable {
  var result: Result<Outcome, StoreError>
  var isLocal: Bool
  var isFinal: Bool

  init(_ result: Result<Outcome, StoreError>, isLocal: Bool, isFinal: Bool) {
    self.result = result
    self.isLocal = isLocal
    self.isFinal = isFinal
  }

  /// The same without the entities, which go elsewhere.
  var withoutEntities: OperationResult {
    guard case .success(.entities) = result else { return self }
    return OperationResult(.success(.nothing), isLocal: isLocal, isFinal: isFinal)
  }

  var status: kv_status {
    switch result {
    case .success(let outcome): outcome.status
    case .failure(let error): error.kind.code
    }
  }
}

extension Outcome {
  var status: kv_status {
    switch self {
    case .partial: Status.partial
    case .saved(let result): result.errors.isEmpty ? Status.ok : Status.partial
    case .nothing, .json, .count, .entities, .results: Status.ok
    }
  }

  /// The result as text: JSON as it is, a count as a number; nil for nothing, entities and results.
  var text: [UInt8]? {
    switch self {
    case .json(let bytes), .partial(let bytes): bytes
    case .saved(let result): result.json
    case .count(let count): Array(String(count).utf8)
    case .nothing, .entities, .results: nil
    }
  }

  /// Copies the text to where it goes. It is not even made if it is not wanted.
  func write(to out: TextOutput) throws(StoreError) {
    guard out.isWanted, let text else { return }
    try out.write(text)
  }
}
