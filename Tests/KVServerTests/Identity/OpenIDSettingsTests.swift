import KVServerCore
import Testing

@testable import KVServerOpenID

@Suite struct OpenIDSettingsTests {
  private static func settings(_ more: String) -> String {
    """
    {"issuer":"https://id.example","client-id":"a","secret":"0123456789abcdef"\(more)}
    """
  }

  @Test func whatIsMissingHasItsDefault() throws {
    let settings = try OpenIDSettings(Self.settings(#","scopes":["email","openid"]"#))
    #expect(settings.scopes == ["email", "openid"])
    #expect(settings.audiences == ["a"])
    #expect(settings.rules.createsUsers)
    #expect(settings.claim == "sub")
  }

  @Test(arguments: [
    #"{"client-id":"a","secret":"0123456789abcdef"}"#,
    #"{"issuer":"https://id.example","client-id":"a","secret":"short"}"#,
    #"{"issuer":"http://id.example","client-id":"a","secret":"0123456789abcdef"}"#,
    #"{"issuer":"http://127.0.0.1.example","client-id":"a","secret":"0123456789abcdef"}"#,
    #"{"issuer":"https://a@id.example","client-id":"a","secret":"0123456789abcdef"}"#,
    settings(#","scope":[]"#), settings(#","users":"all""#), settings(#","scopes":"email""#),
    settings(#","callback":"https://data.example/""#), settings(#","redirects":["app://x"]"#),
    settings(#","callback":"http://data.example/","redirects":["app://x"]"#),
    settings(#","callback":"https://data.example/","redirects":["app://x#y"]"#),
    settings(#","callback":"https://data.example/","redirects":["app://x\r\nA: b"]"#),
    settings(#","leeway-seconds":301"#), settings(#","timeout-seconds":9"#), "[]",
  ])
  func whatCannotBeMeantIsRefused(_ text: String) {
    #expect(throws: SettingsReader.Failure.self) { try OpenIDSettings(text) }
  }
}
