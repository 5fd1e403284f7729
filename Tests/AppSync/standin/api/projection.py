"""What a mutation selected of a record: all that subscribers and conflict errors may show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    SelectionNode,
)

from ..data.record import Record, key_of
from ..schema.model import Model
from .context import Info, Published
from .database import Database


class Projection:
    """Projects the records of one operation."""

    def __init__(self, database: Database, info: Info) -> None:
        self.database = database
        self.fragments = info.fragments
        self.roots = list(info.field_nodes)

    def of(self, model: Model, record: Record) -> Published:
        selections = [
            each
            for node in self.roots
            if node.selection_set
            for each in node.selection_set.selections
        ]
        return self.project(selections, record, model)

    def project(
        self, selections: Iterable[SelectionNode], record: Record, model: Model | None
    ) -> Published:
        """The selected members by their own names; `model` is None inside of embedded values."""
        shown = Published()
        for node in self.fields(selections):
            name = node.name.value
            if name == "__typename":
                if model is not None:
                    shown[name] = model.name
            elif model is not None and name in model.relations:
                shown[name] = self.related(model, record, node)
            else:
                shown[name] = self.value(record.get(name), node)
        return shown

    def value(self, value: object, node: FieldNode) -> object:
        if node.selection_set is None or value is None:
            return value
        if isinstance(value, list):
            return [self.value(each, node) for each in value]
        chosen = node.selection_set.selections
        return self.project(chosen, value, None) if isinstance(value, dict) else value

    def related(self, model: Model, record: Record, node: FieldNode) -> Published | None:
        """The record at the far side; lists of them are not published."""
        relation = model.relations[node.name.value]
        far = self.database.models[relation.target]
        if relation.many or relation.target_fields != far.key or node.selection_set is None:
            return None
        key = key_of(record, relation.fields)
        found = self.database.table(far).get(key) if key else None
        return self.project(node.selection_set.selections, found, far) if found else None

    def fields(self, selections: Iterable[SelectionNode]) -> Iterator[FieldNode]:
        """The fields, those of fragments in their places."""
        for node in selections:
            if isinstance(node, FieldNode):
                yield node
            elif isinstance(node, InlineFragmentNode):
                yield from self.fields(node.selection_set.selections)
            elif isinstance(node, FragmentSpreadNode):
                fragment = self.fragments[node.name.value]
                yield from self.fields(fragment.selection_set.selections)
