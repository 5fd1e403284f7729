module example.com/bugs

go 1.19

require github.com/libkvstore/libkvstore/bindings/go v0.0.0

replace github.com/libkvstore/libkvstore/bindings/go => ../../../bindings/go
