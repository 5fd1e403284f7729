internal import KVBase

/// A moment in UTC with milliseconds, for members of entities: stored as the text `2026-02-03T04:05:06.789Z`, as backends
/// and the other languages of this library do, so that its order is the order of texts.
///
///     struct Task: Codable, Sendable { var _id: String?, text: String, due: Timestamp }
///     let tasks = try client.store("tasks", of: Task.self)
///     for try await task in tasks.find(\.due < .now()) { print(task.text) }
///
/// A `Date` of Foundation's encodes itself as a number of seconds since 2001, which other languages do not expect.
/// `Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1000))` makes one of these of it.
public struct Timestamp: Sendable, Hashable {
  /// Since 1970-01-01T00:00:00Z.
  public var milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Reads the form that `description` has; the fraction may be left out.
  public init?(_ text: String) {
    guard let moment = KVBase.Timestamp(text) else { return nil }
    self.init(moment)
  }

  init(_ moment: KVBase.Timestamp) { milliseconds = moment.milliseconds }

  /// This moment, by the system's clock.
  public static func now() -> Timestamp {
    Timestamp(KVBase.Timestamp.now())
  }
}

extension Timestamp: Comparable {
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }
}

extension Timestamp: CustomStringConvertible {
  /// As it is stored. Years are 0 to 9999.
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
