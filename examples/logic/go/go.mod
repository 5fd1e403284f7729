module example.com/logic

go 1.19
