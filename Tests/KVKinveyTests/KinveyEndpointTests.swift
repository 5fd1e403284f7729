import KVSync
import KVTransport
import Testing

@testable import KVKinvey

@Suite("URLs of the backend") struct KinveyEndpointTests {
  private func endpoint(
    host: String? = nil, instanceId: String? = nil, appKey: String = "kid"
  ) throws(StoreError) -> KinveyEndpoint {
    try KinveyEndpoint(
      KinveyConfiguration(
        host: host, instanceId: instanceId, appKey: appKey, appSecret: "s", version: "1"))
  }

  @Test(
    "The host comes from the configuration, without slashes at its end",
    arguments: [
      (nil, nil, "https://baas.kinvey.com/appdata/kid"),
      (nil, "eu-1", "https://eu-1-baas.kinvey.com/appdata/kid"),
      ("http://127.0.0.1:8080", nil, "http://127.0.0.1:8080/appdata/kid"),
      ("http://127.0.0.1:8080//", nil, "http://127.0.0.1:8080/appdata/kid"),
      ("https://[::1]:9/base/", nil, "https://[::1]:9/base/appdata/kid"),
    ] as [(String?, String?, String)])
  func host(host: String?, instanceId: String?, url: String) throws {
    let endpoint = try endpoint(host: host, instanceId: instanceId)
    #expect(endpoint.url(.data, []) == url)
  }

  @Test(
    "A host that is no plain URL is refused",
    arguments: [
      "", "/", "baas.kinvey.com", "ftp://x", "http://", "http:///x", "http://user:pw@x",
      "http://x?y", "http://x#y", "http://x y", "http://x\r\nHost: y", "http://ü",
    ])
  func wrongHost(host: String) {
    #expect(failure { () throws(StoreError) in try endpoint(host: host) }?.kind == .invalid)
  }

  @Test("An instance is a part of a host name", arguments: ["", "a.b", "a/b", "evil.com/", "ü"])
  func wrongInstance(instanceId: String) {
    let error = failure { () throws(StoreError) in try endpoint(instanceId: instanceId) }
    #expect(error?.kind == .invalid)
  }

  @Test("A host and an instance together, or no app key, are refused")
  func contradictions() {
    #expect(
      failure { () throws(StoreError) in try endpoint(host: "http://x", instanceId: "y") }?.kind
        == .invalid)
    #expect(failure { () throws(StoreError) in try endpoint(appKey: "") }?.kind == .invalid)
  }

  @Test("Segments and values are encoded, so that nothing of them is taken for syntax")
  func encoding() throws {
    let url = try endpoint(host: "http://h", appKey: "k/1").url(
      .data, ["a b", "é/?#", "..", "."],
      query: [.init("query", #"{"n":"1+1&x=y"}"#), .init("limit", "5")])
    #expect(
      url == "http://h/appdata/k%2F1/a%20b/%C3%A9%2F%3F%23/%2E%2E/%2E"
        + "?query=%7B%22n%22%3A%221%2B1%26x%3Dy%22%7D&limit=5")
  }
}
