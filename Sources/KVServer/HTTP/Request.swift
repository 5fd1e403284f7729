/// One request, whole. A value that any thread may read.
struct Request: Sendable {
  var method: Method
  var target: Target
  var body: Payload
  /// The client's name for this request, or ours: in the answer and in the log.
  var id: String
  var headers: Headers
  /// The address it comes from.
  var client: String

  init(
    method: Method, target: Target, body: Payload = Payload(), id: String = "",
    headers: Headers = Headers(), client: String = "-"
  ) {
    self.method = method
    self.target = target
    self.body = body
    self.id = id
    self.headers = headers
    self.client = client
  }

  enum Method: Sendable, Equatable {
    case get, head, post, put, delete
    case other(String)

    init(_ name: String) {
      switch name {
      case "GET": self = .get
      case "HEAD": self = .head
      case "POST": self = .post
      case "PUT": self = .put
      case "DELETE": self = .delete
      default: self = .other(name)
      }
    }

    var name: String {
      switch self {
      case .get: "GET"
      case .head: "HEAD"
      case .post: "POST"
      case .put: "PUT"
      case .delete: "DELETE"
      case .other(let name): name
      }
    }
  }
}

/// The request headers that the server reads; no others are kept.
enum Header: Int, CaseIterable, Sendable {
  case authorization, apiVersion, requestId, includeItemsCount, contentLength, host, ifMatch
  case ifNoneMatch, deleteEntireCollection, retainMetadata

  var name: StaticString {
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
    }
  }

}

/// The values of the headers that are kept.
struct Headers: Sendable {
  private var values = [String?](repeating: nil, count: Header.allCases.count)
  init() {}

  subscript(_ header: Header) -> String? {
    get { values[header.rawValue] }
    set { values[header.rawValue] = newValue }
  }
}
