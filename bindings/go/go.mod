module github.com/libkvstore/libkvstore/bindings/go

go 1.19
