-- Makes wrk send its first argument as the body of a POST: ROAPI takes SQL that way.
function init(arguments)
  wrk.method = "POST"
  wrk.body = arguments[1]
end
