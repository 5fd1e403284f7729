package import KVJSON

/// Where a custom store is to look for its data: what a client was opened with.
package struct StoreLocation: Sendable {
  package var appKey: String
  /// The option `dataDirectory`, or its default.
  package var directory: String
  package var tag: String
  /// The option `storeOptions`, which only the store understands.
  package var options: JSONObject
  /// How many seconds a request may take.
  package var timeout: Double

  package init(
    appKey: String, directory: String = "", tag: String = "kinvey", options: JSONObject = [:],
    timeout: Double = 60
  ) {
    self.appKey = appKey
    self.directory = directory
    self.tag = tag
    self.options = options
    self.timeout = timeout
  }

  /// What a store is told; the same text for the same location.
  package var json: JSONObject {
    [
      "appKey": .string(appKey), "dataDirectory": .string(directory), "tag": .string(tag),
      "options": .object(options), "timeout": .double(timeout),
    ]
  }
}
