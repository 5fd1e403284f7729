module kvstore

go 1.19
