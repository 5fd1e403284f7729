// The guide's programs over typed models, in a local database: posts with comments, and posts that several users edit.
//
//	go run ./models ../models/schema.graphql DIRECTORY [ENDPOINT API_KEY]
//
// models.go has its types; `python -m kvstore.codegen` made them from the schema.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/libkvstore/libkvstore/bindings/go"
)

func main() {
	ctx := context.Background()
	options := kvstore.Options{
		AppKey: "blog", Schema: string(must(os.ReadFile(os.Args[1]))), DataDirectory: os.Args[2],
	}
	if len(os.Args) > 4 {
		options.Backend, options.Endpoint = "appsync", os.Args[3]
		options.Auth = &kvstore.APIAuth{APIKey: os.Args[4]}
	}
	client := must(kvstore.Open(options))
	defer client.Close()
	posts := must(kvstore.OpenCollection[Post](client, "Post", kvstore.Sync))
	comments := must(kvstore.OpenCollection[Comment](client, "Comment", kvstore.Sync))

	post := must(posts.Save(ctx, Post{Title: "My first post", Status: PostStatusActive}))
	fmt.Println("rating by default:", *post.Rating)
	must(comments.Save(ctx, Comment{PostID: post.ID, Content: "Wow!"}))
	about := &kvstore.Query{Filter: kvstore.M{"postID": post.ID}}
	for _, comment := range must(comments.All(ctx, about)) {
		fmt.Println("comment:", comment.Content)
	}
	share(ctx, client, posts, post)
	if options.Backend != "" {
		fmt.Println("pushed", must(posts.Push(ctx)).Pushed, must(comments.Push(ctx)).Pushed)
	}
}

// share has two users edit a post. One of them goes again, with what belongs to that user.
func share(ctx context.Context, client *kvstore.Client, posts *kvstore.Collection[Post], post Post) {
	users := must(kvstore.OpenCollection[User](client, "User", kvstore.Sync))
	editors := must(kvstore.OpenCollection[PostEditor](client, "PostEditor", kvstore.Sync))
	var last User
	for _, name := range []string{"ann", "ben"} {
		last = must(users.Save(ctx, User{Username: name}))
		must(editors.Save(ctx, PostEditor{PostID: post.ID, EditorID: last.ID}))
	}
	ofPost := must(posts.Related(post.ID, "editors"))
	for _, each := range must(editors.All(ctx, ofPost)) {
		user := must(users.Get(ctx, each.EditorID))
		fmt.Println("editor:", user.Username)
	}
	must(users.RemoveByID(ctx, last.ID))
	fmt.Println("editors that are left:", must(editors.Count(ctx, ofPost)))
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}
