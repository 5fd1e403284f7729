// The guide's first program over typed models: posts with comments, in a local database.
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
	if options.Backend != "" {
		fmt.Println("pushed", must(posts.Push(ctx)).Pushed, must(comments.Push(ctx)).Pushed)
	}
}

func must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}
