internal import KVJSON
internal import KVSync

/// A message of the API over the WebSocket: a value, read from whatever came.
enum RealtimeMessage: Equatable {
  /// The connection may be used; without a sign of life for so many seconds it is dead.
  case acknowledged(timeout: Double)
  case keepAlive
  case started(id: String)
  /// `payload`: data, and perhaps errors.
  case data(id: String, payload: JSONObject)
  /// A subscription has ended.
  case complete(id: String)
  /// A refusal; nil: of the connection.
  case refused(id: String?, errors: [JSONObject])
  /// An unknown kind of message.
  case unknown

  /// What the API gives if the acknowledgement does not say.
  private static let defaultTimeout = 300.0

  /// Throws `.proto` for what is no message.
  init(_ bytes: [UInt8]) throws(StoreError) {
    guard let message = (try? JSONValue(parsing: bytes))?.objectValue,
      let type = message["type"]?.stringValue
    else { throw .badAnswer("A message of the API over the WebSocket is not valid.") }
    let id = message["id"]?.stringValue
    let payload = message["payload"]?.objectValue ?? [:]
    switch (type, id) {
    case ("connection_ack", _):
      let milliseconds = payload["connectionTimeoutMs"]?.doubleValue ?? 0
      self = .acknowledged(
        timeout: (1...86_400_000).contains(milliseconds)
          ? milliseconds / 1000 : Self.defaultTimeout)
    case ("ka", _): self = .keepAlive
    case ("start_ack", let id?): self = .started(id: id)
    case ("data", let id?): self = .data(id: id, payload: payload)
    case ("complete", let id?): self = .complete(id: id)
    case ("error", let id): self = .refused(id: id, errors: Self.errors(payload))
    case ("connection_error", _): self = .refused(id: nil, errors: Self.errors(payload))
    default: self = .unknown
    }
  }

  private static func errors(_ payload: JSONObject) -> [JSONObject] {
    payload["errors"]?.arrayValue?.compactMap(\.objectValue) ?? [payload]
  }

  // MARK: What is sent

  static let initialization = JSONValue.object(["type": "connection_init"]).bytes

  /// `data`: the operation as JSON; `authorization`: what allows it.
  static func start(id: String, data: String, _ authorization: JSONObject) -> [UInt8] {
    let payload: JSONObject = [
      "data": .string(data), "extensions": ["authorization": .object(authorization)],
    ]
    return JSONValue.object([
      "id": .string(id), "type": "start", "payload": .object(payload),
    ]).bytes
  }

  static func stop(id: String) -> [UInt8] {
    JSONValue.object(["id": .string(id), "type": "stop"]).bytes
  }
}
