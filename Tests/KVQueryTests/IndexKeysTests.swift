import KVQuery
import Testing

@Suite("What of an entity goes into an index")
struct IndexKeysTests {
  @Test(
    "is the member of that name, however the object is written",
    arguments: [
      (#"{"a":{"b":1}}"#, IndexValue.int(1)),
      (#" { "x" : "}" , "a" : { "c" : [ "b" , "}" ] , "b" : "t" } } "#, .text(Array("t".utf8))),
      (#"{"\u0061":{"\u0062":1}}"#, .int(1)),
      (#"{"x\"":1,"a":{"b":2}}"#, .int(2)),
      (#"{"a":{"b":1},"a":{"b":2}}"#, .int(1)),
      (#"{"a":{"x":{"b":9},"b":-0.5}}"#, .double(-0.5)),
      (#"{"a":{"0123456789abcdef0123456789":[{"b":1}],"b":3}}"#, .int(3)),
      (#"{"a":{"x":{"b":9}}}"#, .null),
      // What comes after the inner object is not in it.
      (#"{"a":{"c":1},"b":2}"#, .null),
      (#"{"a":{},"b":2}"#, .null),
      (#"{"a":{"bb":1,"":2}}"#, .null),
      (#"{"a":5}"#, .null),
      (#"{"b":1}"#, .null),
      (#"{}"#, .null),
    ])
  func member(entity: String, key: IndexValue) {
    #expect(bytes(entity) { IndexKeys([Path("a.b")]).key(0, of: $0) } == key)
  }

  @Test(
    "changes only where a key does",
    arguments: [
      (#"{"a":"x","b":1}"#, #"{"a":"x","b":1,"c":2}"#, IndexKeys.Change.none),
      (#"{"a":"x","b":1}"#, #"{"b":1.0,"a":"x"}"#, .none),
      (#"{"a":"\u0078"}"#, #"{"a":"x"}"#, .none),
      (#"{"a":null}"#, #"{"b":null}"#, .none),
      (#"{"a":"x","b":1}"#, #"{"a":"x","b":2}"#, .oneRow),
      (#"{"a":"x","b":1}"#, #"{"a":"y","b":1}"#, .oneRow),
      (#"{"a":"x"}"#, #"{}"#, .oneRow),
      (#"{"a":"1"}"#, #"{"a":1}"#, .oneRow),
      (#"{"a":true}"#, #"{"a":false}"#, .oneRow),
      (#"{"a":["x"]}"#, #"{"a":["x"]}"#, .several),
      (#"{"a":"x"}"#, #"{"a":["x"]}"#, .several),
      (#"{"a":"x","b":[]}"#, #"{"a":"x","b":[]}"#, .several),
      (#"{"a":"x","b":1e999}"#, #"{"a":"x","b":1e999}"#, .several),
    ])
  func change(old: String, new: String, change: IndexKeys.Change) {
    let keys = IndexKeys([Path("a"), Path("b")])
    #expect(bytes(old) { old in bytes(new) { keys.change(from: old, to: $0) } } == change)
  }

  private func bytes<R>(_ text: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    Array(text.utf8).withUnsafeBytes(body)
  }
}
