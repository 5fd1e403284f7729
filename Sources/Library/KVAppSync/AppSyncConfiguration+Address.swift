internal import KVJSON
internal import KVTransport

extension AppSyncConfiguration {
  /// Scheme, host and port of the endpoint, and its path.
  var address: (origin: String, host: String, path: String) {
    let parts = endpoint.utf8.split(
      separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    let texts = parts.map { String(decoding: $0, as: UTF8.self) }
    let host = texts.count > 2 ? texts[2] : ""
    return ("\(texts[0])//\(host)", host, "/" + (texts.count > 3 ? texts[3] : ""))
  }
}

extension [HTTPHeader] {
  /// The same as members of an object.
  var jsonObject: JSONObject {
    JSONObject(map { JSONObject.Member($0.name, .string($0.value)) })
  }
}
