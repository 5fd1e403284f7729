"""Types for the models of a GraphQL schema: ``python -m kvstore.codegen``."""
