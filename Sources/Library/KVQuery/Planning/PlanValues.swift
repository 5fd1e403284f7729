/// The values that a plan gets for another query of the same shape.
package struct PlanValues {
  private let query: Query
  private let tests: [Test]
  private lazy var matcher = query.matcher
  /// The only key that the filter names; nil: it names another number of them.
  private lazy var key: String? = {
    guard let named = query.namedIDs, named.ids.count == 1 else { return nil }
    return named.ids[0]
  }()

  /// `query`: like the one that the plan was made for, except for the constants of its filter.
  package init(of query: Query) {
    self.query = query
    tests = query.filter.conjunction.tests.map(\.test)
  }

  /// The parameter with this query's value; nil if that may take another plan.
  package mutating func bind(_ parameter: SQLSelection.Parameter) -> SQLSelection.Parameter? {
    switch parameter {
    case .compared(_, let test): value(of: test).map { .compared($0, test: test) }
    case .key: key.map { .key($0) }
    case .matcher: matcher.map { .matcher($0) }
    case .typeEnd, .sorter: parameter
    case .text, .value: nil
    }
  }

  /// The same for some parameters; nil if one takes another plan.
  mutating func bind(_ parameters: [SQLSelection.Parameter]) -> [SQLSelection.Parameter]? {
    var bound: [SQLSelection.Parameter] = []
    bound.reserveCapacity(parameters.count)
    for parameter in parameters {
      guard let parameter = bind(parameter) else { return nil }
      bound.append(parameter)
    }
    return bound
  }

  private func value(of test: Int) -> IndexValue? {
    guard tests.indices.contains(test) else { return nil }
    let (collation, comparison) = tests[test].uncollated
    return switch comparison {
    case .equal(let value), .compare(_, let value): IndexValue(value, collation)
    default: nil
    }
  }
}

extension SQLSelection {
  /// The selection with the values of another query of the same shape; nil if that may take another plan.
  package func bound(to values: inout PlanValues) -> SQLSelection? {
    var bound = self
    guard let page = values.bind(pageParameters), let order = values.bind(orderParameters),
      let condition = values.bind(conditionParameters)
    else { return nil }
    (bound.pageParameters, bound.orderParameters, bound.conditionParameters) =
      (page, order, condition)
    if let covering {
      guard let parameters = values.bind(covering.parameters) else { return nil }
      bound.covering = (covering.sql, parameters)
    }
    return bound
  }
}

extension Query {
  /// Whether it differs from another query in the filter only.
  package func hasForm(of other: Query) -> Bool {
    format === other.format && skip == other.skip && limit == other.limit
      && sort == other.sort && fields == other.fields && computed == other.computed
  }
}
