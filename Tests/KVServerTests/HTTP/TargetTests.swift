import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Request targets") struct TargetTests {
  @Test("take the path apart and undo its escapes")
  func path() throws {
    let target = try #require(Target("/appdata/kid/my%20books/a%2Fb"))
    #expect(target.path == ["appdata", "kid", "my books", "a/b"])
    #expect(target.rawPath == "/appdata/kid/my%20books/a%2Fb")
  }

  @Test("ignore a slash at the end, with and without parameters")
  func slash() throws {
    #expect(Target("/a/b/")?.path == ["a", "b"])
    #expect(Target("/a/b/?query={}")?.path == ["a", "b"])
    #expect(Target("/a//b")?.path == ["a", "", "b"])
  }

  @Test("read parameters, with plus as a space and %2B as a plus")
  func parameters() throws {
    let target = try #require(Target("/a?query=%7B%22n%22%3A1%7D&x=1+2%2B3&empty=&bare"))
    #expect(target["query"] == "{\"n\":1}")
    #expect(target["x"] == "1 2+3")
    #expect(target["empty"] == "")
    #expect(target["bare"] == "")
    #expect(target["none"] == nil)
  }

  @Test("accept the absolute form that proxies send")
  func absolute() {
    #expect(Target("http://host:80/a/b?c=d")?.path == ["a", "b"])
    #expect(Target("http://host")?.path == [])
  }

  @Test(
    "refuse broken escapes, bytes that are not UTF-8, NUL and what is no path",
    arguments: ["/a%2", "/a%zz", "/%ff", "/a%00b", "*", "", "/a?q=%f", "/a?%00=1"])
  func broken(text: String) { #expect(Target(text) == nil) }

  @Test("escape everything that is not unreserved")
  func encoding() { #expect(percentEncoded("a/b é~") == "a%2Fb%20%C3%A9~") }
}
