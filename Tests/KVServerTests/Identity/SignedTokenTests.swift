import KVBase
import KVJSON
import KVServerCore
import Testing

@testable import KVServerOpenID

/// The examples of RFC 7515, appendices A.2 and A.3: tokens and keys that others have made.
@Suite struct SignedTokenTests {
  private static let claims =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
  private static let rs256 =
    "eyJhbGciOiJSUzI1NiJ9.\(claims).cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
  private static let modulus =
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
  private static let rsaKey: JSONValue = ["kty": "RSA", "n": .string(modulus), "e": "AQAB"]
  private static let es256 =
    "eyJhbGciOiJFUzI1NiJ9.\(claims).DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
  private static let ecKey: JSONValue = [
    "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  ]

  private static func key(_ value: JSONValue) throws -> JSONWebKey {
    try #require(JSONWebKey(value))
  }

  @Test func signaturesOfTheRFCAreGood() throws {
    let (rsa, ec) = (try Self.key(Self.rsaKey), try Self.key(Self.ecKey))
    #expect(try SignedToken(Self.rs256).isSigned(by: rsa))
    #expect(try SignedToken(Self.es256).isSigned(by: ec))
    #expect(try !SignedToken(Self.rs256).isSigned(by: ec))
    #expect(try !SignedToken(Self.es256).isSigned(by: rsa))
  }

  @Test(arguments: [rs256, es256]) func noByteOfATokenCanBeChanged(_ text: String) throws {
    let keys = [try Self.key(Self.rsaKey), try Self.key(Self.ecKey)]
    // The last character of a part has bits that are not looked at.
    for place in stride(from: 0, to: text.utf8.count - 1, by: 7) {
      var bytes = Array(text.utf8)
      guard bytes[place] != UInt8(ascii: ".") else { continue }
      bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let token = try? SignedToken(String(decoding: bytes, as: UTF8.self))
      let isSigned = token.map { token in keys.contains { token.isSigned(by: $0) } } ?? false
      let last = text.utf8.index(text.utf8.startIndex, offsetBy: place + 1)
      if text.utf8[last] != UInt8(ascii: ".") { #expect(!isSigned, "byte \(place)") }
    }
  }

  @Test func keysThatAreNotForSignaturesOrTooWeakAreNone() {
    var other = Self.rsaKey.objectValue ?? [:]
    for (name, value) in [
      ("use", "enc"), ("alg", "RS512"), ("kty", "oct"), ("n", "AQAB"), ("e", ""), ("n", "?"),
    ] as [(String, JSONValue)] {
      var changed = other
      changed[name] = value
      #expect(JSONWebKey(.object(changed)) == nil, "\(name) \(value)")
    }
    other["key_ops"] = ["encrypt"]
    #expect(JSONWebKey(.object(other)) == nil)
    #expect(JSONWebKey(["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"]) == nil)
    #expect(JSONWebKey(7) == nil)
  }

  /// A point that is not on the curve is a key that has signed nothing.
  @Test func aPointBesideTheCurveVerifiesNothing() throws {
    let x = Base64.encode(url: [UInt8](repeating: 1, count: 32))
    let key = try Self.key(["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(x)])
    #expect(try !SignedToken(Self.es256).isSigned(by: key))
  }
}
