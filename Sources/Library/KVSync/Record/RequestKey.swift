/// What a read request is remembered by: the filter and the fields, as canonical text.
package struct RequestKey: Sendable {
  package var filter: String
  package var fields: String
  package init(filter: String, fields: String) {
    self.filter = filter
    self.fields = fields
  }
}

// By bytes: ass `String`s, two texts that differ in the form of an accent would be one.
extension RequestKey: Equatable {
  package static func == (left: RequestKey, right: RequestKey) -> Bool {
    left.filter.utf8.elementsEqual(right.filter.utf8)
      && left.fields.utf8.elementsEqual(right.fields.utf8)
  }
}
