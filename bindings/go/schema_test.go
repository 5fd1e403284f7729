package kvstore_test

import (
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
