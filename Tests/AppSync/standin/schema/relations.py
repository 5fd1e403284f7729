"""How the relation directives of both generations become foreign keys."""

from __future__ import annotations

from graphql import FieldDefinitionNode, NonNullTypeNode

from ..errors import SchemaError
from .directives import Arguments, use
from .draft import Draft, is_list, named
from .model import Field, Index, Relation
from .naming import camel, implied_keys, pascal

Drafts = dict[str, Draft]


def expand_many_to_many(drafts: Drafts) -> None:
    """Puts a join model, with a foreign key to either side, in place of each `@manyToMany`."""
    sides: dict[str, list[tuple[Draft, str, Arguments]]] = {}
    for draft in drafts.values():
        for name, node in draft.nodes.items():
            given = use(node, "manyToMany")
            if given is not None:
                sides.setdefault(given["relationName"], []).append((draft, name, given))
    for relation, ends in sides.items():
        if len(ends) != 2:
            raise SchemaError(f"@manyToMany {relation} is at {len(ends)} fields, not at two")
        join = Draft(pascal(relation), {}, fields={"id": Field("id", "ID!", "ID")})
        drafts[join.name] = join
        for draft, name, given in ends:
            join_side(join, draft, name, given)


def join_side(join: Draft, draft: Draft, field: str, given: Arguments) -> None:
    """One end of a many-to-many relation."""
    title = camel(draft.name)
    keys = tuple(title + pascal(part) for part in draft.key)
    join.add_foreign_keys(keys, draft, required=True)
    join.indexes.append(Index(f"by{draft.name}", keys))
    join.relations[title] = Relation(title, draft.name, False, keys, draft.key, required=True)
    join.rules += tuple(rule for rule in draft.rules if rule not in join.rules)
    limit = given.get("limit") or 100
    draft.relations[field] = Relation(field, join.name, True, draft.key, keys, limit=limit)


def read_relations(drafts: Drafts) -> None:
    """Resolves each field whose type is a model. Has-many comes first: belongs-to asks for it."""
    fields = [
        (draft, node)
        for draft in drafts.values()
        for name, node in draft.nodes.items()
        if named(node.type) in drafts and name not in draft.relations
    ]
    for draft, node in sorted(fields, key=lambda each: not is_list(each[1].type)):
        name = node.name.value
        draft.relations[name] = relation(draft, node, drafts[named(node.type)])


def relation(draft: Draft, node: FieldDefinitionNode, far: Draft) -> Relation:
    for directive, read in (
        ("connection", connection),
        ("hasMany", has_many),
        ("hasOne", has_one),
        ("belongsTo", belongs_to),
    ):
        given = use(node, directive)
        if given is not None:
            return read(draft, node, far, given)
    line = f" (line {node.loc.start_token.line})" if node.loc else ""
    raise SchemaError(f"{draft.name}.{node.name.value}{line}: a relation needs a directive")


def has_many(draft: Draft, node: FieldDefinitionNode, far: Draft, given: Arguments) -> Relation:
    own = tuple(given.get("fields") or draft.key)
    order: tuple[str, ...] = ()
    if "references" in given:
        keys = tuple(given["references"])
    elif "indexName" in given:
        fields = far.index(given["indexName"]).fields
        keys, order = fields[: len(own)], fields[len(own) :]
    else:
        keys = implied_keys(draft.name, node.name.value, draft.key)
        far.add_foreign_keys(keys, draft, required=False)
    limit = given.get("limit") or 100
    return Relation(node.name.value, far.name, True, own, keys, limit=limit, order=order)


def has_one(draft: Draft, node: FieldDefinitionNode, far: Draft, given: Arguments) -> Relation:
    if "references" in given:
        return Relation(node.name.value, far.name, False, draft.key, tuple(given["references"]))
    return owned(draft, node, far, tuple(given.get("fields") or ()))


def belongs_to(draft: Draft, node: FieldDefinitionNode, far: Draft, given: Arguments) -> Relation:
    keys = tuple(given.get("fields") or given.get("references") or ())
    return owned(draft, node, far, keys or keys_of_opposite(draft, far))


def keys_of_opposite(draft: Draft, far: Draft) -> tuple[str, ...]:
    """The foreign keys that the far model's has-many uses here, or none."""
    for each in far.relations.values():
        if each.many and each.target == draft.name and each.fields == far.key:
            return each.target_fields
    return ()


def owned(draft: Draft, node: FieldDefinitionNode, far: Draft, keys: tuple[str, ...]) -> Relation:
    """A relation whose foreign keys are at this side, by the usual names unless some are given."""
    required = isinstance(node.type, NonNullTypeNode)
    keys = keys or implied_keys(draft.name, node.name.value, far.key)
    if len(keys) != len(far.key):
        raise SchemaError(f"{draft.name}.{node.name.value}: {far.name} has {len(far.key)} keys")
    draft.add_foreign_keys(keys, far, required)
    return Relation(node.name.value, far.name, False, keys, far.key, required)


def connection(draft: Draft, node: FieldDefinitionNode, far: Draft, given: Arguments) -> Relation:
    """The one directive of the first generation."""
    if not is_list(node.type):
        keys = tuple(given.get("fields") or ())
        if "keyField" in given:
            keys = (given["keyField"],)
        return owned(draft, node, far, keys)
    if "keyName" in given:
        chosen = {"indexName": given["keyName"], **given}
        return has_many(draft, node, far, chosen)
    keys = (given["keyField"],) if "keyField" in given else keys_of_name(draft, far, given)
    if keys:
        far.add_foreign_keys(keys, draft, required=False)
        chosen = {"references": keys, "limit": given.get("limit")}
        return has_many(draft, node, far, chosen)
    return has_many(draft, node, far, {"limit": given.get("limit")})


def keys_of_name(draft: Draft, far: Draft, given: Arguments) -> tuple[str, ...]:
    """The foreign keys of the far field whose `@connection` has the same name, or none."""
    for name, node in far.nodes.items():
        there = use(node, "connection")
        if there and given.get("name") and there.get("name") == given["name"]:
            if is_list(node.type):
                continue
            if "keyField" in there:
                return (there["keyField"],)
            return implied_keys(far.name, name, draft.key)
    return ()
