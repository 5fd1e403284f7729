extension ModelSchema {
  /// The models of a schema in GraphQL's schema definition language, of at most 4 MiB.
  ///
  /// What it does not know – other directives, input types, interfaces – it passes over, unless a model depends on it.
  /// Throws the first mistake with its line and column. Takes time that grows with the length of the text.
  package init(sdl text: String) throws(SchemaError) {
    var parser = try SDLParser(text)
    self = try SchemaBuilder(try parser.document()).schema()
  }
}
