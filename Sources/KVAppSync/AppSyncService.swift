internal import KVHTTP
internal import KVJSON
internal import KVSync
package import KVTransport

/// One API: sends operations, and turns failures into errors. Safe from any thread.
package final class AppSyncService: Sendable {
  let configuration: AppSyncConfiguration
  let transport: Transport

  /// The transport is shared, and stays the caller's to close.
  package init(_ configuration: AppSyncConfiguration, _ transport: Transport) {
    self.configuration = configuration
    self.transport = transport
  }

  /// What an operation gave: its data, and what went wrong in it.
  struct Answer {
    let data: JSONObject
    let errors: [JSONObject]
  }

  /// The data of an operation of which nothing may fail. Throws the first of its errors. `isMutation`: it is sent once,
  /// whatever happens to the connection.
  func data(
    _ document: String, _ variables: JSONObject, isMutation: Bool = false, call: Call
  ) throws(StoreError) -> JSONObject {
    let answer = try exchange(document, variables, isMutation: isMutation, call: call)
    if let error = answer.errors.first { throw AppSyncErrors.error(error) }
    return answer.data
  }

  func exchange(
    _ document: String, _ variables: JSONObject, isMutation: Bool = false, call: Call
  ) throws(StoreError) -> Answer {
    let body: JSONValue = ["query": .string(document), "variables": .object(variables)]
    let bytes = body.bytes
    let request = HTTPRequest(
      "POST", configuration.endpoint,
      headers: configuration.headers(for: bytes),
      body: isMutation ? .once(bytes) : .bytes(bytes),
      maxBytes: configuration.maxAnswerBytes)
    let response = try transport.exchange(request, for: call)
    guard response.head.isSuccess else {
      throw AppSyncErrors.error(response.head, response.body)
    }
    return try Self.answer(response.body)
  }

  private static func answer(_ body: [UInt8]) throws(StoreError) -> Answer {
    let value: JSONValue
    do throws(JSONError) { value = try JSONValue(parsing: body) } catch {
      throw StoreError(.proto, "The backend's answer is no JSON: \(error.message).", cause: error)
    }
    let errors = value["errors"]?.arrayValue?.compactMap(\.objectValue) ?? []
    guard value["data"]?.objectValue != nil || !errors.isEmpty else {
      throw StoreError(.proto, "The backend's answer has neither data nor errors.")
    }
    return Answer(data: value["data"]?.objectValue ?? [:], errors: errors)
  }
}
