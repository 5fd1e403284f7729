internal import KVBase
internal import KVJSON
internal import KVSync

/// What a backend says has happened to a record: `{"upsert":record}` or `{"delete":id,"version":…}`.
enum RecordChange {
  case saved([UInt8], id: String, RecordVersion?)
  case deleted(id: String, RecordVersion?)

  /// Throws `.proto` for what is neither.
  init(_ change: AnswerObject, _ description: BackendDescription) throws(StoreError) {
    if let range = change.range("upsert") {
      self = try Self.saved(change.record(at: range), description.format)
    } else if let id = try change.value("delete") {
      guard let key = description.key(ofID: id) else { throw .unfitMember("delete", "an id") }
      self = .deleted(id: key, try Self.version(of: change))
    } else {
      throw .badAnswer("The backend sent a change that is neither \"upsert\" nor \"delete\".")
    }
  }

  private static func saved(
    _ record: [UInt8], _ format: RecordFormat
  ) throws(StoreError) -> RecordChange {
    let outline: EntityOutline
    do throws(JSONError) { outline = try EntityScanner.outline(of: record, format) } catch {
      throw .badAnswer(error)
    }
    guard let id = outline.id else { throw .entityWithoutId }
    return .saved(record, id: id, format.version(of: record))
  }

  private static func version(of change: AnswerObject) throws(StoreError) -> RecordVersion? {
    switch try change.value("version") {
    case nil: nil
    case .string(let text): RecordVersion(text)
    case .int(let number): RecordVersion(String(number))
    default: throw .unfitMember("version", "a version")
    }
  }
}
