extension ModelSchema {
  /// The models of a schema in GraphQL's schema definition language, of at most 4 MiB.
  ///
  /// What it does not know – other directives, input types, interfaces – it passes over, unless a model depends on it.
  /// Throws the first mistake with its line and column. Takes time that grows with the length of the text.
  package init(sdl text: String) throws(SchemaError) { try self.init(text, isStrict: true) }

  /// The models of a schema that local data has: one that was accepted before a check existed can still be read, so that
  /// the data can follow a correct one.
  package init(adopted text: String) throws(SchemaError) { try self.init(text, isStrict: false) }

  private init(_ text: String, isStrict: Bool) throws(SchemaError) {
    var parser = try SDLParser(text)
    self = try SchemaBuilder(try parser.document(), isStrict: isStrict).schema()
  }
}
