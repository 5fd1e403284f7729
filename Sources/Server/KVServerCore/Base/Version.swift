/// The version of the server.
package enum Version {
  package static let text = "0.2.0"
}
