"""Makes the executable schema: the printed API with resolvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphql import GraphQLError, GraphQLObjectType, GraphQLSchema, build_schema, validate_schema

from ..auth.rules import permits
from ..data.record import key_of
from ..errors import ConflictError, SchemaError, unauthorized
from ..schema import scalars
from ..schema.generate import Generator
from ..schema.model import Field, Index, Model, Relation
from ..schema.read import Source
from .context import Event, Info, Published, context_of
from .database import Database
from .projection import Projection
from .reads import Reader
from .writes import Writer

Resolver = Callable[..., Any]


def build(source: Source, database: Database) -> GraphQLSchema:
    """Throws SchemaError where the generated types do not fit together."""
    try:
        schema = build_schema(Generator(source).sdl())
    except (GraphQLError, TypeError) as error:
        raise SchemaError(str(error)) from error
    if errors := validate_schema(schema):
        raise SchemaError("\n\n".join(map(str, errors)))
    scalars.install(schema)
    for model in source.models.values():
        Resolvers(schema, database, model).install()
    return schema


class Resolvers:
    """Gives the fields of one model's API their resolvers."""

    def __init__(self, schema: GraphQLSchema, database: Database, model: Model) -> None:
        self.schema = schema
        self.database = database
        self.model = model

    def install(self) -> None:
        names = self.model.names
        self.query(names.get, lambda reader, arguments: reader.get(arguments))
        self.query(names.list, lambda reader, arguments: reader.list(arguments))
        self.query(names.sync, lambda reader, arguments: reader.sync(arguments))
        for index in self.model.indexes:
            self.index(index)
        for operation, name in (
            ("create", names.create),
            ("update", names.update),
            ("delete", names.delete),
        ):
            self.mutation(operation, name)
        for relation in self.model.relations.values():
            self.resolve(self.model.name, relation.name, self.relation(relation))
        for field in self.model.fields.values():
            if field.rules:
                self.resolve(self.model.name, field.name, self.guarded(field))

    def resolve(self, on_type: str, field: str, resolver: Resolver) -> None:
        found = self.schema.get_type(on_type)
        if isinstance(found, GraphQLObjectType):
            found.fields[field].resolve = resolver

    def reader(self, info: Info, model: Model) -> Reader:
        refusal = unauthorized(info.field_name, info.parent_type.name)
        return Reader(self.database, context_of(info), model, refusal)

    def query(self, name: str | None, read: Callable[[Reader, Any], Any]) -> None:
        def resolver(_: Any, info: Info, **arguments: Any) -> Any:
            return read(self.reader(info, self.model), arguments)

        if name:
            self.resolve("Query", name, resolver)

    def index(self, index: Index) -> None:
        self.query(index.query_field, lambda reader, arguments: reader.by_index(index, arguments))

    def mutation(self, operation: str, name: str | None) -> None:
        def resolver(_: Any, info: Info, input: Any, condition: Any = None) -> Any:
            context, projection = context_of(info), Projection(self.database, info)
            writer = Writer(self.database, context.identity, self.model, info.field_name, operation)
            try:
                record = writer.run(input, condition)
            except ConflictError as error:
                raise ConflictError(projection.of(self.model, error.data)) from error
            fields = self.model.names.subscriptions(operation)
            context.events.append(Event(fields, projection.of(self.model, record)))
            return record

        if name:
            self.resolve("Mutation", name, resolver)

    def relation(self, relation: Relation) -> Resolver:
        """The far records; what was published has them, or not, as the mutation selected them."""

        def resolver(source: Any, info: Info, **arguments: Any) -> Any:
            if isinstance(source, Published):
                return source.get(relation.name)
            far = self.database.models[relation.target]
            reader = self.reader(info, far)
            if key_of(source, relation.fields) is None:
                return None
            pairs = zip(relation.target_fields, relation.fields, strict=True)
            keys = {there: source[here] for there, here in pairs}
            if relation.many:
                return reader.by_fields(
                    keys, {"limit": relation.limit, **arguments}, relation.order
                )
            if relation.target_fields == far.key:
                return reader.get(keys)
            found = reader.by_fields(keys, {"limit": 1})["items"]
            return found[0] if found else None

        return resolver

    def guarded(self, field: Field) -> Resolver:
        """A field with rules of its own."""

        def resolver(source: Any, info: Info) -> Any:
            if not permits(field.rules, context_of(info).identity, "get", source):
                raise unauthorized(field.name, self.model.name)
            return source.get(field.name)

        return resolver
