-- Makes wrk send a body, which is the third argument, or ask for another address each time: the
-- first argument is a pattern of string.format, the second how many numbers it has.
local pattern, count, number, method, body

function init(arguments)
  pattern, count, number = arguments[1], tonumber(arguments[2]), 0
  body = arguments[3]
  method = body and "POST" or "GET"
end

function request()
  if count == 0 then
    return wrk.format(method, nil, nil, body)
  end
  number = number % count + 1
  return wrk.format(method, string.format(pattern, number), nil, body)
end
