internal import KVBase

/// Who may sign up, by app.
package struct SignUpRules: Sendable {
  package enum Rule: String, Sendable, CaseIterable {
    /// Everybody who has the app's secret.
    case open
    /// Those whom the administrator has invited.
    case invite
    /// The administrator alone.
    case closed
  }

  /// For apps without a rule of their own.
  package var usual = Rule.open
  private var rules: [RecordID: Rule] = [:]

  package init() {}

  /// `app` nil: for all that have no rule of their own.
  package mutating func set(_ rule: Rule, for app: String?) {
    if let app { rules[RecordID(app)] = rule } else { usual = rule }
  }

  func rule(of app: String) -> Rule { rules[RecordID(app)] ?? usual }
}
