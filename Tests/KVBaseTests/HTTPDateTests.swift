import KVBase
import Testing

@Suite("A moment as HTTP writes it") struct HTTPDateTests {
  @Test(
    "is read in all three forms",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
  func forms(text: String) {
    #expect(Timestamp(http: text)?.description == "1994-11-06T08:49:37.000Z")
  }

  @Test(
    "is nothing if it is no moment",
    arguments: [
      "", "soon", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 31 Feb 1994 08:49:37 GMT",
      "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 123 Nov 1994 08:49:37 GMT", "- - - - - -",
      "Sun, 06 Nov 19941 08:49:37 GMT",
    ])
  func nonsense(text: String) {
    #expect(Timestamp(http: text) == nil)
  }
}
