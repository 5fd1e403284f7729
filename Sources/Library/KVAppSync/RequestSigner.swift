internal import KVBase
internal import KVTransport

/// What requests are signed with for IAM.
package struct AWSCredentials: Sendable {
  package var accessKeyID: String
  package var secretAccessKey: String
  /// Of temporary credentials.
  package var sessionToken: String?

  package init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
  }
}

/// Signs requests to AppSync: AWS Signature Version 4, for HTTP and for the messages of the WebSocket alike. A value.
struct RequestSigner {
  private static let algorithm = "AWS4-HMAC-SHA256"
  private static let service = "appsync"

  let credentials: AWSCredentials
  let region: String

  /// The headers with which a POST of `body` is allowed; `headers` are those that are sent anyway and signed along, the
  /// host among them, with names in lower case.
  func signed(
    _ headers: [HTTPHeader], path: String, body: [UInt8], at now: Timestamp = .now()
  ) -> [HTTPHeader] {
    let time = Self.time(now)
    let day = time.prefix(8)
    var added = [HTTPHeader("x-amz-date", time)]
    if let token = credentials.sessionToken {
      added.append(HTTPHeader("x-amz-security-token", token))
    }
    let all = (headers + added).sorted { $0.name < $1.name }
    let names = all.map(\.name).joined(separator: ";")
    let lines = all.map { "\($0.name):\(Self.folded($0.value))" }
    let request = ["POST", path, ""] + lines + ["", names, Digest.hex(Digest.sha256(body))]
    let scope = "\(day)/\(region)/\(Self.service)/aws4_request"
    let text = [Self.algorithm, time, scope, Self.digest(request.joined(separator: "\n"))]
    var key = Array("AWS4\(credentials.secretAccessKey)".utf8)
    for part in [String(day), region, Self.service, "aws4_request"] {
      key = Digest.hmacSHA256(Array(part.utf8), key: key)
    }
    let signature = Digest.hmacSHA256(Array(text.joined(separator: "\n").utf8), key: key)
    let value =
      "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(names), "
      + "Signature=\(Digest.hex(signature))"
    return added + [HTTPHeader("authorization", value)]
  }

  /// `20240521T101500Z`.
  private static func time(_ moment: Timestamp) -> String {
    String(moment.description.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
  }

  private static func digest(_ text: String) -> String {
    Digest.hex(Digest.sha256(Array(text.utf8)))
  }

  /// A header's value with one space for each run of them.
  private static func folded(_ value: String) -> String {
    value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
  }
}
