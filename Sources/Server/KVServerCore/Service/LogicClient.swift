internal import KVBase
internal import KVJSON

/// The operator's service as the requests to one app see it: its answers as errors and replies of this server.
struct LogicClient: Sendable {
  let logic: any BusinessLogic
  let metrics: LogicMetrics
  let log: Log

  func isWanted(_ hook: Hook, on collection: String) -> Bool {
    logic.isWanted(hook, on: collection)
  }

  func queryable(in collection: String) -> [String]? { logic.queryable(in: collection) }

  /// Asks at a hook, by a JSON object. Throws what the client of the request is to be told.
  func ask(
    _ event: String, _ message: [UInt8], for request: Request
  ) throws(ServerError) -> LogicReply {
    let answer = try send(event, message, for: request)
    do throws(ServerError) {
      let reply = try LogicReply(understanding: answer.body)
      switch answer.status {
      case 200..<300: break
      case 400..<500: throw try reply.refusal()
      default: throw Self.misunderstanding("the status \(answer.status)")
      }
      metrics.add(event, .accepted)
      return reply
    } catch {
      let isFailure = error.code == .logicFailed
      metrics.add(event, isFailure ? .failed : .refused)
      if isFailure {
        log.error("business logic, \(event), request \(request.id): \(error.cause ?? "")")
      }
      throw error
    }
  }

  /// Sends a call, whose answer may say anything. The time that it takes is not work of this server.
  func send(
    _ event: String, _ message: [UInt8], for request: Request
  ) throws(ServerError) -> LogicAnswer {
    request.budget.pause()
    defer { request.budget.resume() }
    do throws(LogicFailure) {
      return try logic.send(
        LogicCall(event: event, requestId: request.id, body: message))
    } catch {
      switch error {
      case .busy:
        metrics.add(event, .busy)
        log.warning("business logic, \(event), request \(request.id): too many calls are under way")
      case .unavailable(let why):
        metrics.add(event, .unavailable)
        log.error("business logic, \(event), request \(request.id): \(why)")
      }
      throw ServerError(.stopping, "business logic does not answer")
    }
  }

  /// The error for an answer of the service that makes no sense.
  static func misunderstanding(_ what: String) -> ServerError {
    ServerError(.logicFailed, "business logic failed", cause: "it has answered with \(what)")
  }
}

extension LogicReply {
  fileprivate init(understanding bytes: [UInt8]) throws(ServerError) {
    do { try self.init(bytes) } catch {
      throw LogicClient.misunderstanding("no JSON object: \(error.message)")
    }
  }

  func list(_ name: String) throws(ServerError) -> [[UInt8]]? {
    do { return try elements(name) } catch {
      throw LogicClient.misunderstanding("\(name) that are no array")
    }
  }

  /// An object, as JSON; nil: there is none, or it is null.
  func object(_ name: String) throws(ServerError) -> [UInt8]? {
    guard let value = json(name) else { return nil }
    guard value.first == UInt8(ascii: "{") else {
      throw LogicClient.misunderstanding("a \(name) that is no object")
    }
    return value
  }

  /// The whole answer as an error: `{"error":"StaleRequest","debug":"…"}`.
  fileprivate func refusal() throws(ServerError) -> ServerError {
    do {
      return Self.error(try value("error"), debug: try value("debug"))
    } catch {
      throw LogicClient.misunderstanding("an error that is no JSON")
    }
  }

  /// The refusals of single writes: `"errors":[{"index":0,"error":"StaleRequest","debug":"…"}]`.
  func refusals() throws(ServerError) -> [(index: Int, error: ServerError)] {
    let errors: JSONValue?
    do { errors = try value("errors") } catch {
      throw LogicClient.misunderstanding("errors that are no JSON")
    }
    guard let errors else { return [] }
    guard let list = errors.arrayValue else {
      throw LogicClient.misunderstanding("errors that are no array")
    }
    var refusals: [(index: Int, error: ServerError)] = []
    for value in list {
      guard let index = value["index"]?.intValue.flatMap({ Int(exactly: $0) }) else {
        throw LogicClient.misunderstanding("an error without an index")
      }
      refusals.append((index, Self.error(value["error"], debug: value["debug"])))
    }
    return refusals
  }

  /// The codes of this server mean with the service what they mean here; others are the service's own.
  private static func error(_ code: JSONValue?, debug: JSONValue?) -> ServerError {
    let known = code?.stringValue.flatMap { ServerError.Code(rawValue: $0) }
    let isRefusal = known.map { (400..<500).contains($0.status) } ?? false
    return ServerError(isRefusal ? known ?? .logicRefused : .logicRefused, debug?.stringValue ?? "")
  }
}
