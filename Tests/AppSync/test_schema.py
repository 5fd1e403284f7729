"""The API that the models of an SDL make."""

from __future__ import annotations

from typing import Any

import pytest
from client import Client
from conftest import Serve
from standin import Options, SchemaError, Server

FIELDS = "name args { name type { name kind ofType { name kind ofType { name } } } }"


def shape(client: Client, name: str) -> dict[str, Any]:
    """The fields of a type, or of an input, by their names."""
    found = client.data(
        f'{{ __type(name: "{name}") {{ fields {{ {FIELDS} }} inputFields {{ name }} }} }}'
    )
    return {each["name"]: each for each in found["fields"] or found["inputFields"]}


def arguments(client: Client, root: str, field: str) -> list[str]:
    return [each["name"] for each in shape(client, root)[field]["args"]]


def test_a_model_has_queries_mutations_and_subscriptions(client: Client) -> None:
    assert {"getTask", "listTasks", "syncTasks"} <= set(shape(client, "Query"))
    assert {"createTask", "updateTask", "deleteTask"} <= set(shape(client, "Mutation"))
    assert {"onCreateTask", "onUpdateTask", "onDeleteTask"} <= set(shape(client, "Subscription"))


def test_their_arguments_are_those_of_the_service(client: Client) -> None:
    assert arguments(client, "Query", "getTask") == ["id"]
    assert arguments(client, "Query", "listTasks") == ["filter", "limit", "nextToken"]
    wanted = ["filter", "limit", "nextToken", "lastSync"]
    assert arguments(client, "Query", "syncTasks") == wanted
    assert arguments(client, "Mutation", "updateTask") == ["input", "condition"]
    assert arguments(client, "Subscription", "onCreateTask") == ["filter"]


def test_a_model_gains_times_and_the_members_of_versions(client: Client) -> None:
    added = {"createdAt", "updatedAt", "_version", "_deleted", "_lastChangedAt"}
    assert added <= set(shape(client, "Task"))
    assert set(shape(client, "ModelTaskConnection")) == {"items", "nextToken", "startedAt"}


def test_inputs_have_what_may_be_written(client: Client) -> None:
    create = set(shape(client, "CreateTaskInput"))
    assert {"id", "title", "boardId", "place", "_version"} <= create
    assert not create & {"board", "createdAt", "_deleted", "_lastChangedAt"}
    assert set(shape(client, "DeleteTaskInput")) == {"id", "_version"}


def test_conditions_lack_the_key_and_filters_of_events_lack_not(client: Client) -> None:
    assert {"id", "and", "or", "not", "_deleted"} <= set(shape(client, "ModelTaskFilterInput"))
    assert "id" not in shape(client, "ModelTaskConditionInput")
    assert "not" not in shape(client, "ModelSubscriptionTaskFilterInput")


@pytest.mark.parametrize(
    ("model", "field"),
    [
        ("Category", "listCategories"),
        ("Day", "listDays"),
        ("Box", "listBoxes"),
        ("Person", "listPeople"),
        ("SalesPerson", "listSalesPeople"),
        ("News", "listNews"),
    ],
)
def test_lists_are_called_by_the_english_plural(serve: Serve, model: str, field: str) -> None:
    client = Client(serve(f"type {model} @model {{ id: ID! }}"))
    assert field in shape(client, "Query")


def test_operations_may_be_renamed_and_switched_off(serve: Serve) -> None:
    client = Client(
        serve("""
          type A @model(queries: {get: "oneA", list: null}, mutations: {delete: null},
                        subscriptions: {onCreate: ["newA", "freshA"]}) { id: ID! }
          type B @model(mutations: null, subscriptions: null) { id: ID! }
          type C @model(subscriptions: {level: off},
                        timestamps: {createdAt: "made", updatedAt: null}) { id: ID! }
        """)
    )
    assert {"oneA", "syncAs", "getB", "listBs"} <= set(shape(client, "Query"))
    assert not {"getA", "listAs"} & set(shape(client, "Query"))
    assert set(shape(client, "Mutation")) == {"createA", "updateA", "createC", "updateC", "deleteC"}
    events = {"newA", "freshA", "onUpdateA", "onDeleteA"}
    assert set(shape(client, "Subscription")) == events
    assert "made" in shape(client, "C")
    assert not {"createdAt", "updatedAt"} & set(shape(client, "C"))


def test_a_model_without_id_gets_one(serve: Serve) -> None:
    client = Client(serve("type A @model { name: String }"))
    made = client.written("createA", "id name", {"name": "x"})
    assert len(made["id"]) == 36


@pytest.mark.parametrize(
    "key",
    [
        'type A @model @key(fields: ["shop", "number"]) { shop: ID! number: Int! n: Int }',
        'type A @model { shop: ID! @primaryKey(sortKeyFields: ["number"]) number: Int! n: Int }',
    ],
)
def test_composite_keys_of_both_generations_tell_records_apart(serve: Serve, key: str) -> None:
    client = Client(serve(key))
    for number in (1, 2):
        client.written("createA", "n", {"shop": "s", "number": number, "n": number})
    assert client.data('{ getA(shop: "s", number: 2) { n } }') == {"n": 2}
    assert arguments(client, "Query", "getA") == ["shop", "number"]
    assert set(shape(client, "DeleteAInput")) == {"shop", "number", "_version"}


@pytest.mark.parametrize(
    ("sdl", "foreign"),
    [
        (
            """type Post @model { id: ID! comments: [Comment] @hasMany }
               type Comment @model { id: ID! post: Post @belongsTo }""",
            "postCommentsId",
        ),
        (
            """type Post @model { id: ID!
                 comments: [Comment] @hasMany(indexName: "byPost", fields: ["id"]) }
               type Comment @model { id: ID! postID: ID @index(name: "byPost")
                 post: Post @belongsTo(fields: ["postID"]) }""",
            "postID",
        ),
        (
            """type Post @model { id: ID! comments: [Comment] @hasMany(references: ["postId"]) }
               type Comment @model { id: ID! postId: ID
                 post: Post @belongsTo(references: ["postId"]) }""",
            "postId",
        ),
        (
            """type Post @model { id: ID! comments: [Comment] @connection(name: "PostComments") }
               type Comment @model { id: ID! post: Post @connection(name: "PostComments") }""",
            "commentPostId",
        ),
        (
            """type Post @model { id: ID!
                 comments: [Comment] @connection(keyName: "byPost", fields: ["id"]) }
               type Comment @model @key(name: "byPost", fields: ["postID"])
                 { id: ID! postID: ID post: Post @connection(fields: ["postID"]) }""",
            "postID",
        ),
        (
            """type Post @model { id: ID! comments: [Comment] @connection }
               type Comment @model { id: ID!
                 post: Post @connection(fields: ["postCommentsId"]) }""",
            "postCommentsId",
        ),
    ],
    ids=["hasMany", "indexName", "references", "name", "keyName", "connection"],
)
def test_has_many_and_belongs_to_share_a_foreign_key(serve: Serve, sdl: str, foreign: str) -> None:
    client = Client(serve(sdl))
    client.written("createPost", "id", {"id": "p"})
    client.written("createComment", "id", {"id": "c", foreign: "p"})
    assert client.data('{ getComment(id: "c") { post { id } } }') == {"post": {"id": "p"}}
    comments = client.data('{ getPost(id: "p") { comments { items { id } } } }')["comments"]
    assert comments == {"items": [{"id": "c"}]}


def test_has_one_keeps_the_foreign_key_at_its_side(serve: Serve) -> None:
    client = Client(
        serve("""
          type Project @model { id: ID! team: Team @hasOne }
          type Team @model { id: ID! project: Project @belongsTo }
        """)
    )
    client.written("createTeam", "id", {"id": "t", "teamProjectId": "p"})
    client.written("createProject", "id", {"id": "p", "projectTeamId": "t"})
    found = client.data('{ getProject(id: "p") { team { id project { id } } } }')
    assert found == {"team": {"id": "t", "project": {"id": "p"}}}


def test_many_to_many_goes_by_a_join_model(serve: Serve) -> None:
    client = Client(
        serve("""
          type Post @model { id: ID! tags: [Tag] @manyToMany(relationName: "PostTags") }
          type Tag @model { label: ID! @primaryKey
            posts: [Post] @manyToMany(relationName: "PostTags") }
        """)
    )
    client.written("createPost", "id", {"id": "p"})
    client.written("createTag", "label", {"label": "t"})
    join = client.written(
        "createPostTags", "id post { id } tag { label }", {"postId": "p", "tagLabel": "t"}
    )
    assert (join["post"], join["tag"]) == ({"id": "p"}, {"label": "t"})
    posts = client.data('{ getTag(label: "t") { posts { items { post { id } } } } }')["posts"]
    assert posts == {"items": [{"post": {"id": "p"}}]}


def test_a_relation_to_a_composite_key_has_a_foreign_key_for_each_part(serve: Serve) -> None:
    client = Client(
        serve("""
          type Shop @model { town: ID! @primaryKey(sortKeyFields: ["street"]) street: String! }
          type Sale @model { id: ID! shop: Shop @belongsTo }
        """)
    )
    client.written("createShop", "town", {"town": "t", "street": "s"})
    keys = {"saleShopTown": "t", "saleShopStreet": "s"}
    sale = client.written("createSale", "shop { street }", keys)
    assert sale == {"shop": {"street": "s"}}


def test_defaults_are_filled_in_at_a_create(serve: Serve) -> None:
    client = Client(
        serve("""
          enum State { OPEN DONE }
          type A @model { n: Int! @default(value: "3") b: Boolean @default(value: "true")
            s: State @default(value: "OPEN") t: String @default(value: "x")
            f: Float @default(value: "1.5") }
        """)
    )
    made = client.written("createA", "n b s t f", {"t": "y"})
    assert made == {"n": 3, "b": True, "s": "OPEN", "t": "y", "f": 1.5}


GOOD: dict[str, list[Any]] = {
    "AWSDate": ["2024-05-21", "2024-05-21Z", "2024-02-29+01:00"],
    "AWSTime": ["10:15", "10:15:30", "10:15:30.123Z", "10:15:30-07:00:00"],
    "AWSDateTime": ["2024-05-21T10:15Z", "2024-05-21T10:15:30.123456789+02:00"],
    "AWSTimestamp": [0, -1, 1 << 40],
    "AWSEmail": ["a@b.example"],
    "AWSJSON": ['{"a":[1]}', "null"],
    "AWSURL": ["https://a.example/b?c", "mailto:a@b.example"],
    "AWSPhone": ["+4930123456", "030 123456"],
    "AWSIPAddress": ["127.0.0.1", "10.0.0.0/8", "::1"],
}
BAD: dict[str, list[Any]] = {
    "AWSDate": ["2024-02-30", "21.5.2024", "2024-05-21T10:15Z"],
    "AWSTime": ["24:00", "10", "10:15:60"],
    "AWSDateTime": ["2024-05-21T10:15", "2024-05-21", "2024-13-01T10:15Z"],
    "AWSTimestamp": ["0", 1.5, True],
    "AWSEmail": ["a", "a@b"],
    "AWSJSON": ["{", {"a": 1}],
    "AWSURL": ["a b", "/path"],
    "AWSPhone": ["", "phone"],
    "AWSIPAddress": ["256.0.0.1", "host"],
    "Int": [1 << 31, 1.5, "1"],
}


def scalars(serve: Serve) -> Client:
    kinds = {*GOOD, *BAD}
    return Client(serve(f"type A @model {{ {' '.join(f'{each}: {each}' for each in kinds)} }}"))


def test_scalars_take_the_texts_of_their_formats(serve: Serve) -> None:
    client = scalars(serve)
    for kind, values in GOOD.items():
        for value in values:
            assert client.written("createA", kind, {kind: value}) == {kind: value}


def test_scalars_refuse_all_others(serve: Serve) -> None:
    client = scalars(serve)
    for kind, values in BAD.items():
        for value in values:
            body = client.write("createA", "id", {kind: value})
            assert "errors" in body, (kind, value)
            assert body["errors"][0]["errorType"] == "ValidationError"
    literal = 'mutation { createA(input: {AWSDate: "2024-02-30"}) { id } }'
    assert client.error(literal)["errorType"] == "ValidationError"
    assert client.data("{ listAs { items { id } } }") == {"items": []}


@pytest.mark.parametrize(
    ("sdl", "said"),
    [
        ("type A @model { b: }", "Syntax Error"),
        ("type A @model { b: Nothing }", "Unknown type 'Nothing'"),
        ("type A @model { b: B }\n type B @model { id: ID! }", "needs a directive"),
        ("type A @model @modle { id: ID! }", "Unknown directive '@modle'"),
        ('type A @model @key(fields: ["x"]) { id: ID! }', "the key's field x does not exist"),
        (
            'type A @model { b: [B] @hasMany(indexName: "i") } type B @model { id: ID! }',
            "no index i",
        ),
        ('type A @model { b: [A] @manyToMany(relationName: "r") }', "is at 1 fields"),
        ('type A @model { n: Int @default(value: "x") }', "'x' is no Int"),
        ("type P { a: A } type A @model { id: ID! p: P }", "PInput.a"),
        ("type A @model { id: ID! } input CreateAInput { id: ID }", "CreateAInput"),
        ("type Query { a: Int }", "operations of one's own"),
    ],
)
def test_a_schema_that_cannot_be_served_is_refused_with_the_reason(sdl: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        Server(Options(sdl))
