import KVJSON
import KVModels
import Testing

@testable import KVAppSync

@Suite("Who owns the records of a subscription") struct OwnershipTests {
  private func ownership(
    _ rules: String, _ fields: String = "", in mode: AuthorizationMode = .userPools
  ) throws -> Ownership? {
    let schema = try ModelSchema(
      sdl: "type Note @model @auth(rules: [\(rules)]) { id: ID! \(fields) }")
    return try #require(schema.model("Note")).ownership(of: .onCreate, in: mode)
  }

  @Test("is told by the only rule that lets a mode listen") func rule() throws {
    #expect(try ownership("{allow: owner}") == Ownership(field: "owner", claim: nil))
    #expect(
      try ownership(#"{allow: owner, ownerField: "by", identityClaim: "sub"}"#)
        == Ownership(field: "by", claim: "sub"))
    #expect(try ownership("{allow: owner}", in: .token) != nil)
    #expect(try ownership("{allow: owner}, {allow: public}") != nil)
  }

  @Test("is not told where others may listen too, or several own a record") func others() throws {
    #expect(try ownership("{allow: owner}, {allow: private}") == nil)
    #expect(try ownership(#"{allow: owner}, {allow: groups, groups: ["staff"]}"#) == nil)
    #expect(try ownership("{allow: owner, operations: [create]}") == nil)
    #expect(try ownership("{allow: owner}", in: .oidc) == nil)
    #expect(try ownership(#"{allow: owner, ownerField: "by"}"#, "by: [String]") == nil)
  }

  @Test("is what the token's claims say") func claims() {
    let claims: JSONValue = ["sub": "s", "cognito:username": "ana", "email": "a@b"]
    func owner(_ claim: String?) -> String? {
      Ownership(field: "owner", claim: claim).owner(in: claims)
    }
    #expect(owner(nil) == "ana")
    #expect(owner("email") == "a@b")
    #expect(owner("cognito:username") == "ana")
    #expect(owner("sub::email") == "s::a@b")
    #expect(owner("phone") == nil && owner("sub::phone") == nil)
  }
}
