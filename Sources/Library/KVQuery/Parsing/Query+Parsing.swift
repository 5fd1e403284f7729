extension Query {
  /// `filter`: a JSON object in MongoDB's language; `modifiers`: a JSON object with `sort`, `skip`, `limit`,
  /// `fields` and `computed`. Nil or an empty text stands for an empty object.
  package init(filter: String?, modifiers: String? = nil) throws(QueryError) {
    self.filter = try FilterParser.parse(filter ?? "")
    try apply(modifiers: modifiers ?? "")
  }

  /// Reads a predicate format: Apple's predicate format string syntax.
  ///
  /// `arguments` is a JSON array of the values for `%@`, `%K` and the others, or
  /// `{"arguments":[…],"variables":{…}}` with the values of `$names` too. Nothing in it is read as syntax.
  package init(
    format: String, arguments: String? = nil, modifiers: String? = nil, keys: KeyMap = KeyMap()
  ) throws(QueryError) {
    self.init()
    let values = try FormatArguments(parsing: arguments ?? "")
    var parser = try FormatParser(format, values, keys: keys)
    filter = try parser.parse()
    original = LegacySDKFilter(format, arguments ?? "", keys: keys, now: parser.now)
    try apply(modifiers: modifiers ?? "")
    sort = sort.map { $0.renamed(keys.path) }
    fields = fields.map(keys.path)
    computed = computed.map { $0.renamed(keys.path) }
  }
}
