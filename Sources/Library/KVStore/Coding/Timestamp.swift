internal import KVBase

/// A date in UTC with milliseconds, for members of entities. It is stored as text, such as `2026-02-03T04:05:06.789Z`.
/// Backends and the other languages of this library use the same form. Its order is the order of the texts.
///
///     struct Task: Codable, Sendable { var _id: String?, text: String, due: Timestamp }
///     let tasks = try client.store("tasks", of: Task.self)
///     for try await task in tasks.find(\.due < .now()) { print(task.text) }
///
/// Foundation's `Date` is encoded as a number of seconds since 2001, which other languages do not expect. Convert it
/// with `Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1000))`.
public struct Timestamp: Sendable, Hashable {
  /// The milliseconds since 1970-01-01T00:00:00Z.
  public var milliseconds: Int64

  /// Creates a date from the milliseconds since 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Parses the text form. The fraction of a second is optional.
  public init?(_ text: String) {
    guard let moment = KVBase.Timestamp(text) else { return nil }
    self.init(moment)
  }

  init(_ moment: KVBase.Timestamp) { milliseconds = moment.milliseconds }

  /// The current time of the system's clock.
  public static func now() -> Timestamp {
    Timestamp(KVBase.Timestamp.now())
  }
}

extension Timestamp: Comparable {
  /// Whether a date is earlier than another.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }
}

extension Timestamp: CustomStringConvertible {
  /// The text as it is stored. The year is between 0 and 9999.
  public var description: String { KVBase.Timestamp(milliseconds: milliseconds).description }
}

extension Timestamp: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let moment = Timestamp(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a moment such as 2026-02-03T04:05:06.789Z was expected")
    }
    self = moment
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
