/// The address of an application on a backend, and the headers of every request.
package struct KinveyConfiguration: Sendable {
  /// Such as `http://127.0.0.1:8080`; nil: the hosted service.
  package var host: String?
  /// The hosted service's instance of one customer; only without a `host`.
  package var instanceId: String?
  /// The authorization server; nil: the hosted service's, or the `host` if that is another.
  package var authHost: String?
  package var appKey: String
  package var appSecret: String
  /// Used in place of the app's secret while no user is logged in.
  package var masterSecret: String?
  package var apiVersion: Int
  package var clientAppVersion: String?
  /// What users see of this device among their sessions; nil: the system and the machine.
  package var deviceName: String?
  /// A JSON object as text, under 2,000 bytes.
  package var customRequestProperties: String?
  /// Bytes of an answer at the most.
  package var maxAnswerBytes: Int
  /// Bytes of the groups that one request makes, at the most.
  package var maxGroupBytes = 16 << 20
  /// Requests of one push that are under way at once, at the most.
  package var connections: Int
  /// Whether queries made from formats are sent as the original client sends them, also where that is broken.
  package var sendsOriginalForms = false
  /// The version of this library.
  package var version: String

  package init(
    host: String? = nil, instanceId: String? = nil, authHost: String? = nil, appKey: String,
    appSecret: String,
    masterSecret: String? = nil, apiVersion: Int = 5, clientAppVersion: String? = nil,
    customRequestProperties: String? = nil, maxAnswerBytes: Int = 100 << 20, connections: Int = 6,
    version: String
  ) {
    self.host = host
    self.instanceId = instanceId
    self.authHost = authHost
    self.appKey = appKey
    self.appSecret = appSecret
    self.masterSecret = masterSecret
    self.apiVersion = apiVersion
    self.clientAppVersion = clientAppVersion
    self.customRequestProperties = customRequestProperties
    self.maxAnswerBytes = maxAnswerBytes
    self.connections = connections
    self.version = version
  }
}
