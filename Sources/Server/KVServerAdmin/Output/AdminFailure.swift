/// Why a command did not do what it was asked: an exit status, and one sentence.
package struct AdminFailure: Error, Equatable, CustomStringConvertible {
  /// The statuses that the program ends with. Scripts depend on them: none changes its meaning.
  package enum Kind: Int32, Sendable, CaseIterable {
    case failed = 1
    case misuse = 2
    /// The server cannot be reached, or the data is in use by one.
    case unavailable = 3
    /// There is no such user, collection, index, …
    case notFound = 4
    /// Some of it was done: the messages before say what was not.
    case partly = 5

    package var meaning: String {
      switch self {
      case .failed: "The operation failed, or was refused."
      case .misuse: "The command line is wrong."
      case .unavailable: "The server cannot be reached, or the data is in use by a server."
      case .notFound: "There is no such user, collection, index or application."
      case .partly: "Some of it was done; messages say what was not."
      }
    }
  }

  package let kind: Kind
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
