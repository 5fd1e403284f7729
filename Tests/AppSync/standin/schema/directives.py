"""The directives and scalars that an SDL may use, of both generations."""

from __future__ import annotations

from typing import Any

from graphql import (
    DirectiveNode,
    FieldDefinitionNode,
    ObjectTypeDefinitionNode,
    value_from_ast_untyped,
)

SCALARS = [
    "AWSDate",
    "AWSTime",
    "AWSDateTime",
    "AWSTimestamp",
    "AWSEmail",
    "AWSJSON",
    "AWSURL",
    "AWSPhone",
    "AWSIPAddress",
]

PRELUDE = (
    "\n".join(f"scalar {name}" for name in SCALARS)
    + """
directive @model(queries: ModelQueryMap, mutations: ModelMutationMap,
  subscriptions: ModelSubscriptionMap, timestamps: TimestampConfiguration) on OBJECT
directive @key(name: String, fields: [String!]!, queryField: String) repeatable on OBJECT
directive @connection(name: String, keyName: String, fields: [String!], keyField: String,
  sortField: String, limit: Int) on FIELD_DEFINITION
directive @versioned(versionField: String, versionInput: String) on OBJECT
directive @primaryKey(sortKeyFields: [String!]) on FIELD_DEFINITION
directive @index(name: String, sortKeyFields: [String!], queryField: String)
  repeatable on FIELD_DEFINITION
directive @hasOne(fields: [String!], references: [String!]) on FIELD_DEFINITION
directive @belongsTo(fields: [String!], references: [String!]) on FIELD_DEFINITION
directive @hasMany(indexName: String, fields: [String!], references: [String!], limit: Int)
  on FIELD_DEFINITION
directive @manyToMany(relationName: String!, limit: Int) on FIELD_DEFINITION
directive @default(value: String) on FIELD_DEFINITION
directive @auth(rules: [AuthRule!]!) on OBJECT | FIELD_DEFINITION
input ModelQueryMap { get: String list: String sync: String }
input ModelMutationMap { create: String update: String delete: String }
input ModelSubscriptionMap {
  onCreate: [String] onUpdate: [String] onDelete: [String] level: ModelSubscriptionLevel }
enum ModelSubscriptionLevel { off public on }
input TimestampConfiguration { createdAt: String updatedAt: String }
input AuthRule {
  allow: AuthStrategy! provider: AuthProvider ownerField: String identityClaim: String
  groupClaim: String groupsField: String groups: [String] operations: [ModelOperation] }
enum AuthStrategy { owner groups private public custom }
enum AuthProvider { apiKey iam oidc userPools identityPool function }
enum ModelOperation { create update delete read get list sync listen search }
"""
)

Arguments = dict[str, Any]


def uses(node: ObjectTypeDefinitionNode | FieldDefinitionNode, name: str) -> list[Arguments]:
    """The arguments of each use of a directive at a type or field."""
    return [arguments(each) for each in node.directives or () if each.name.value == name]


def use(node: ObjectTypeDefinitionNode | FieldDefinitionNode, name: str) -> Arguments | None:
    """The arguments of the only use of a directive, or None where it is not used."""
    return next(iter(uses(node, name)), None)


def arguments(directive: DirectiveNode) -> Arguments:
    return {
        each.name.value: value_from_ast_untyped(each.value) for each in directive.arguments or ()
    }
