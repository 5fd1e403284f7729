internal import KVBase
internal import KVJSON
internal import KVTransport

/// Headers that allow a request: of HTTP, of the upgrade to a WebSocket, and of a message over it.
extension AppSyncConfiguration {
  /// Scheme, host and port of the endpoint, and its path.
  var address: (origin: String, host: String, path: String) {
    let parts = endpoint.utf8.split(
      separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    let texts = parts.map { String(decoding: $0, as: UTF8.self) }
    let host = texts.count > 2 ? texts[2] : ""
    return ("\(texts[0])//\(host)", host, "/" + (texts.count > 3 ? texts[3] : ""))
  }

  /// The headers of a request by HTTP with this body, which is JSON.
  func headers(for body: [UInt8]) -> [HTTPHeader] {
    let type = HTTPHeader("Content-Type", "application/json")
    switch authorization {
    case .apiKey(let key): return [type, HTTPHeader("x-api-key", key)]
    case .token(let token): return [type, HTTPHeader("Authorization", token)]
    case .iam(let credentials, let region):
      let (_, host, path) = address
      let signer = RequestSigner(credentials: credentials, region: region)
      let fixed = [HTTPHeader("content-type", type.value), HTTPHeader("host", host)]
      return [type] + signer.signed(fixed, path: path, body: body)
    }
  }

  /// What a message over the WebSocket, or its upgrade, is allowed by: `path` and `body` are what a signature covers.
  func realtimeHeaders(path: String, body: [UInt8]) -> [HTTPHeader] {
    let host = HTTPHeader("host", address.host)
    switch authorization {
    case .apiKey(let key): return [host, HTTPHeader("x-api-key", key)]
    case .token(let token): return [host, HTTPHeader("Authorization", token)]
    case .iam(let credentials, let region):
      let fixed = [
        HTTPHeader("accept", "application/json, text/javascript"),
        HTTPHeader("content-encoding", "amz-1.0"),
        HTTPHeader("content-type", "application/json; charset=UTF-8"), host,
      ]
      return fixed
        + RequestSigner(credentials: credentials, region: region)
        .signed(fixed, path: path, body: body)
    }
  }
}

extension [HTTPHeader] {
  /// The same as members of an object.
  var jsonObject: JSONObject {
    JSONObject(map { JSONObject.Member($0.name, .string($0.value)) })
  }
}
