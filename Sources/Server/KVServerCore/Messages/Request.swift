package import KVBase

/// One request. A value that any thread may read. Its body is whole when it comes to be handled.
package struct Request: Sendable {
  package var method: Method
  package var target: Target
  package var body: Payload
  /// What has taken the body, except its last bytes, which are in `body`; nil: nothing has.
  package var sink: (any BodySink)?
  /// The client's name for this request, or ours: in the answer and in the log.
  package var id: String
  package var headers: Headers
  /// The address it comes from.
  package var client: String
  /// How much longer work for it may go on.
  package var budget: WorkBudget

  package init(
    method: Method, target: Target, body: Payload = Payload(), id: String = "",
    headers: Headers = Headers(), client: String = "-", budget: WorkBudget = .unlimited
  ) {
    self.method = method
    self.target = target
    self.body = body
    self.id = id
    self.headers = headers
    self.client = client
    self.budget = budget
  }

  package enum Method: Sendable, Equatable {
    case get, head, post, put, patch, delete, options
    case other(String)

    package init(_ name: String) {
      switch name {
      case "GET": self = .get
      case "HEAD": self = .head
      case "POST": self = .post
      case "PUT": self = .put
      case "PATCH": self = .patch
      case "DELETE": self = .delete
      case "OPTIONS": self = .options
      default: self = .other(name)
      }
    }

    package var name: String {
      switch self {
      case .get: "GET"
      case .head: "HEAD"
      case .post: "POST"
      case .put: "PUT"
      case .patch: "PATCH"
      case .delete: "DELETE"
      case .options: "OPTIONS"
      case .other(let name): name
      }
    }
  }
}

/// The request headers that the server reads; no others are kept.
package enum Header: Int, CaseIterable, Sendable {
  case authorization, apiVersion, requestId, includeItemsCount, contentLength, host, ifMatch
  case ifNoneMatch, deleteEntireCollection, retainMetadata, transferEncoding, forwardedFor
  case writeToken, damaged, explain, plainRequestId, origin, requestedMethod, requestedHeaders
  case contentEncoding, userAgent, deviceInfo, range, ifRange, contentRange

  package var name: StaticString {
    switch self {
    case .authorization: "Authorization"
    case .apiVersion: "X-Kinvey-API-Version"
    case .requestId: "X-Kinvey-Request-Id"
    case .includeItemsCount: "X-Kinvey-Include-Items-Count"
    case .contentLength: "Content-Length"
    case .host: "Host"
    case .ifMatch: "If-Match"
    case .ifNoneMatch: "If-None-Match"
    case .deleteEntireCollection: "X-Kinvey-Delete-Entire-Collection"
    case .retainMetadata: "X-Kinvey-Retain-Collection-Metadata"
    case .transferEncoding: "Transfer-Encoding"
    case .forwardedFor: "X-Forwarded-For"
    case .writeToken: "X-Kvstored-Write-Token"
    case .damaged: "X-Kvstored-Damaged"
    case .explain: "X-Kvstored-Explain"
    case .plainRequestId: "X-Request-Id"
    case .origin: "Origin"
    case .requestedMethod: "Access-Control-Request-Method"
    case .requestedHeaders: "Access-Control-Request-Headers"
    case .contentEncoding: "Content-Encoding"
    case .userAgent: "User-Agent"
    case .deviceInfo: "X-Kinvey-Device-Info"
    case .range: "Range"
    case .ifRange: "If-Range"
    case .contentRange: "Content-Range"
    }
  }

  /// The header of a name, in any case of letters; nil for one that is not read.
  package init?(_ name: UnsafeRawBufferPointer) {
    for header in Header.allCases where header.isNamed(name) {
      self = header
      return
    }
    return nil
  }

  /// Whether a request that has it twice contradicts itself.
  package var isSingle: Bool {
    switch self {
    case .authorization, .contentLength, .host, .transferEncoding, .contentRange: true
    case .apiVersion, .requestId, .includeItemsCount, .ifMatch, .ifNoneMatch,
      .deleteEntireCollection, .retainMetadata, .forwardedFor, .writeToken, .damaged, .explain,
      .plainRequestId, .origin, .requestedMethod, .requestedHeaders, .contentEncoding,
      .userAgent, .deviceInfo, .range, .ifRange:
      false
    }
  }

  /// Whether several lines of it are one list: each proxy may add one.
  package var isList: Bool { self == .forwardedFor }

  private func isNamed(_ text: UnsafeRawBufferPointer) -> Bool {
    text.count == name.utf8CodeUnitCount
      && name.withUTF8Buffer { own in
        zip(own, text).allSatisfy { own, byte in own == byte || own | 0x20 == byte | 0x20 }
      }
  }
}

/// The values of the headers that are kept.
package struct Headers: Sendable {
  private var values = [String?](repeating: nil, count: Header.allCases.count)
  package init() {}

  package subscript(_ header: Header) -> String? {
    get { values[header.rawValue] }
    set { values[header.rawValue] = newValue }
  }
}
