internal import KVBase
internal import KVJSON
internal import KVTransport

extension AppSyncConfiguration {
  static let realtimeProtocol = "graphql-ws"

  /// Where the WebSocket is: `realtimeEndpoint`, or what follows from the endpoint.
  private var realtimeURL: String {
    if let realtimeEndpoint { return realtimeEndpoint }
    let (origin, host, path) = address
    let parts = host.split(separator: ".")
    if parts.count > 1, parts[1] == "appsync-api" {
      let named = [String(parts[0]), "appsync-realtime-api"] + parts.dropFirst(2).map(String.init)
      return "https://" + named.joined(separator: ".") + path
    }
    return origin + path + "/realtime"
  }

  /// The request that opens the WebSocket, with what allows it in one of the three ways that the API takes.
  func realtimeRequest(_ headers: [HTTPHeader]) -> WebSocketRequest {
    var request = WebSocketRequest(realtimeURL, protocols: [Self.realtimeProtocol])
    let packed = Base64.encode(JSONValue.object(headers.jsonObject).bytes)
    switch upgrade {
    case .subprotocol:
      let text = packed.utf8.compactMap { byte -> UInt8? in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        case UInt8(ascii: "="): nil
        default: byte
        }
      }
      request.protocols.append("header-" + String(decoding: text, as: UTF8.self))
    case .headers: request.headers = headers
    case .query:
      let escapes: [Character: String] = ["+": "%2B", "/": "%2F", "=": "%3D"]
      let text = packed.map { escapes[$0] ?? String($0) }.joined()
      request.url += "?header=\(text)&payload=e30%3D"
    }
    return request
  }
}
