-- The requests of server.py: KIND TOKEN PREFIX COUNT PAGE. Ids are PREFIX and eight digits.
local kinds = {}
local number, count, prefix = 0, 1, ""
local headers = {}

local function path()
  number = (number * 7 + 11) % count
  return string.format("/appdata/kid_bench/cities/%s%08d", prefix, number)
end

local function body()
  return string.format('{"name":"City","population":%d,"text":"%s"}', number, string.rep("x", 280))
end

function init(arguments)
  local kind, page = arguments[1], arguments[5]
  headers["Authorization"] = arguments[2]
  headers["Content-Type"] = "application/json"
  headers["X-Kinvey-API-Version"] = "5"
  prefix, count = arguments[3], tonumber(arguments[4])
  kinds.get = function() return wrk.format("GET", path(), headers) end
  kinds.put = function() return wrk.format("PUT", path(), headers, body()) end
  kinds.group = function()
    return wrk.format("POST", "/appdata/kid_bench/cities/_group", headers,
      '{"key":{"kind":true},"initial":{"count":0},"reduce":"function(doc, out) { out.count++; }"}')
  end
  kinds.page = function() return wrk.format("GET", page, headers) end
  local turn = 0
  kinds.mixed = function()
    turn = turn + 1
    if turn % 10 == 0 then return kinds.put() end
    return kinds.get()
  end
  request = kinds[kind]
end
