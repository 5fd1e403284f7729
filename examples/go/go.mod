module examples

go 1.19

require kvstore v0.0.0

replace kvstore => ../../bindings/go
