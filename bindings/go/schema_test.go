package kvstore_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/libkvstore/libkvstore/bindings/go"
)

const postSchema = `
type Post @model {
  id: ID!
  title: String!
  rating: Int! @default(value: "3")
}`

func openSchema(directory, schema string) (*kvstore.Client, error) {
	return kvstore.Open(kvstore.Options{AppKey: "kid", Schema: schema, DataDirectory: directory})
}

func TestRecordsAreOfTheirModels(t *testing.T) {
	type Post struct {
		ID     string `json:"id,omitempty"`
		Title  string `json:"title,omitempty"`
		Rating int    `json:"rating,omitempty"`
	}
	directory := t.TempDir()
	client := must(openSchema(directory, postSchema))(t)
	posts := must(kvstore.OpenCollection[Post](client, "Post", kvstore.Sync))(t)
	saved := must(posts.Save(ctx, Post{Title: "a"}))(t)
	equal(t, saved.Rating, 3)
	equal(t, must(posts.Get(ctx, saved.ID))(t), saved)
	_, err := posts.Save(ctx, Post{Rating: 1})
	if !errors.Is(err, kvstore.ErrInvalid) || !strings.Contains(err.Error(), "Post.title is required") {
		t.Error(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = openSchema(directory, "type Note @model { id: ID! }")
	if !errors.Is(err, kvstore.ErrConflict) || !strings.Contains(err.Error(), "Post was removed") {
		t.Error(err)
	}
	_, err = openSchema(directory, "type Post @model {\n  title: Strin\n}")
	if !errors.Is(err, kvstore.ErrInvalid) || !strings.Contains(err.Error(), "line 2, column 10") {
		t.Error(err)
	}
	client = must(openSchema(directory, strings.Replace(postSchema, "title:", "day: AWSDate title:", 1)))(t)
	defer client.Close()
	posts = must(kvstore.OpenCollection[Post](client, "Post", kvstore.Sync))(t)
	equal(t, must(posts.Get(ctx, saved.ID))(t), saved)
}

func TestRelationsLeadToRecords(t *testing.T) {
	type Post struct {
		ID string `json:"id"`
	}
	type Comment struct {
		ID   string `json:"id"`
		Post string `json:"postCommentsId"`
	}
	client := must(openSchema(t.TempDir(), `
		type Post @model { id: ID! comments: [Comment] @hasMany }
		type Comment @model { id: ID! post: Post @belongsTo }`))(t)
	defer client.Close()
	posts := must(kvstore.OpenCollection[Post](client, "Post", kvstore.Sync))(t)
	comments := must(kvstore.OpenCollection[Comment](client, "Comment", kvstore.Sync))(t)
	must(posts.Save(ctx, Post{ID: "p"}))(t)
	must(comments.Save(ctx, Comment{ID: "c", Post: "p"}))(t)
	must(comments.Save(ctx, Comment{ID: "d", Post: "q"}))(t)
	found := must(comments.All(ctx, must(posts.Related("p", "comments"))(t)))(t)
	equal(t, len(found), 1)
	equal(t, found[0], Comment{"c", "p"})
	parents := must(posts.All(ctx, must(comments.Related("c", "post"))(t)))(t)
	equal(t, len(parents), 1)
	equal(t, parents[0], Post{"p"})
	if _, err := posts.Related("p", "author"); !errors.Is(err, kvstore.ErrInvalid) {
		t.Error(err)
	}
	equal(t, must(posts.RemoveByID(ctx, "p"))(t), 1)
	equal(t, must(comments.Count(ctx, nil))(t), 1)
}

func TestASchemaIsDescribed(t *testing.T) {
	text := must(kvstore.DescribeSchema("type Post @model { title: String! }"))(t)
	var described struct {
		Models []struct {
			Name string
			Key  []string
		}
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	equal(t, len(described.Models), 1)
	equal(t, described.Models[0].Name, "Post")
	equal(t, described.Models[0].Key[0], "id")
	if _, err := kvstore.DescribeSchema("type Post @model {\n title: Strin\n}"); !errors.Is(err, kvstore.ErrInvalid) {
		t.Fatalf("a mistake gave %v", err)
	}
}
