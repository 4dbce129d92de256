-- Makes wrk ask for another address each time: the first argument is a pattern of string.format,
-- the second how many numbers it has, the third the body of a POST, where it is one.
local pattern, count, number, method, body

function init(arguments)
  pattern, count, number = arguments[1], tonumber(arguments[2]), 0
  body = arguments[3]
  method = body and "POST" or "GET"
end

function request()
  number = number % count + 1
  return wrk.format(method, string.format(pattern, number), nil, body)
end
