/// A queue: first in, first out. Adding and taking cost O(1) on average.
package struct FIFO<Element> {
  private var elements: [Element?] = []
  private var first = 0

  package init() {}

  package var count: Int { elements.count - first }
  package var isEmpty: Bool { count == 0 }

  package mutating func append(_ element: Element) { elements.append(element) }

  package mutating func popFirst() -> Element? {
    guard first < elements.count else { return nil }
    defer {
      first += 1
      // Moving the rest to the front is paid for by what was taken since the last time.
      if first * 2 > elements.count {
        elements.removeFirst(first)
        first = 0
      }
    }
    defer { elements[first] = nil }
    return elements[first]
  }
}
