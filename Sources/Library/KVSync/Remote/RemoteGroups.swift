package import KVJSON

/// A request for groups, in the backend's language.
package struct RemoteGroups: Sendable, Equatable {
  package var keys: [String]
  /// What each group's result begins with.
  package var initial: JSONObject
  /// JavaScript: `function(doc, out) { … }`.
  package var reduce: String
  /// The order by language in which equal texts are one group, for a backend that compares by language; nil: by code point.
  package var collation: JSONValue?

  package init(
    keys: [String], initial: JSONObject, reduce: String, collation: JSONValue? = nil
  ) {
    self.keys = keys
    self.initial = initial
    self.reduce = reduce
    self.collation = collation
  }
}
