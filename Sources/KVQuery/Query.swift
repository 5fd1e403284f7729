/// What is asked of a collection: a filter, an order, a page, a projection. A value.
package struct Query: Sendable, Equatable {
  package init() {}
}
