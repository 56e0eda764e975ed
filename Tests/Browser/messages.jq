# Chromium's messages, one JSON object a line, as lines of tab-separated fields:
#
#   reply  ID  JSON        the result of a command
#   error  ID  TEXT        the failure of a command
#   loaded                 the page has fired its load event
#   status CODE URL        a response that isn't a success
#   fault  TEXT            what must not happen on a page
#
# $origin is the server's address: a request to any other place is a fault.
def line: gsub("[\\x00-\\x1f\\x7f]"; " ");
def stays: startswith($origin + "/") or startswith("data:");

if .id then
  if .error then "error\t\(.id)\t\(.error.message | line)" else "reply\t\(.id)\t\(.result | tojson)" end
elif .method == "Page.loadEventFired" then "loaded"
elif .method == "Network.responseReceived" and .params.response.status >= 400 then
  "status\t\(.params.response.status)\t\(.params.response.url)"
elif .method == "Network.requestWillBeSent" and (.params.request.url | stays | not) then
  "fault\ta request to another place: \(.params.request.url | line)"
elif .method == "Network.loadingFailed" and (.params.canceled | not) then
  # A page that is left ends its own stream.
  "fault\ta request failed: \(.params.type) \(.params.errorText | line) \(.params.blockedReason // "")"
elif .method == "Log.entryAdded" and (.params.entry.source == "network" | not) then
  # What the network says is told by the events above.
  "fault\tlogged by the browser: \(.params.entry.level) \(.params.entry.text | line)"
elif .method == "Audits.issueAdded" then "fault\ta browser issue: \(.params.issue | tojson)"
elif .method == "Runtime.exceptionThrown" then
  "fault\tan exception: \(.params.exceptionDetails | .exception.description // .text | line)"
elif .method == "Runtime.consoleAPICalled" then
  "fault\ton the console: \([.params.args[] | .value // .description | tostring] | join(" ") | line)"
else empty
end
