/// The version of the library; the header's macros say the same (a test compares them).
package enum Version {
  package static let major: Int32 = 0
  package static let minor: Int32 = 1
  package static let patch: Int32 = 0
  package static let text = "0.2.0"
}
