-- Makes wrk ask for another address each time: the first argument is a pattern of string.format,
-- the second how many numbers it has.
local pattern, count, number

function init(arguments)
  pattern, count, number = arguments[1], tonumber(arguments[2]), 0
end

function request()
  number = number % count + 1
  return wrk.format("GET", string.format(pattern, number))
end
