# Converts Chromium's messages, one JSON object per line, to lines of tab-separated fields:
#
#   reply  ID  JSON        the result of a command
#   error  ID  TEXT        the failure of a command
#   loaded                 the page has fired its load event
#   status CODE URL        an error response
#   failure TEXT           an event that must not occur on a page
#
# $origin is the origin of the server. Requests to other origins are failures.
def line: gsub("[\\x00-\\x1f\\x7f]"; " ");
def same_origin: startswith($origin + "/") or startswith("data:");

if .id then
  if .error then "error\t\(.id)\t\(.error.message | line)" else "reply\t\(.id)\t\(.result | tojson)" end
elif .method == "Page.loadEventFired" then "loaded"
elif .method == "Network.responseReceived" and .params.response.status >= 400 then
  "status\t\(.params.response.status)\t\(.params.response.url)"
elif .method == "Network.requestWillBeSent" and (.params.request.url | same_origin | not) then
  "failure\ta request to another origin: \(.params.request.url | line)"
elif .method == "Network.loadingFailed" and (.params.canceled | not) then
  # Leaving a page cancels its event stream.
  "failure\ta request failed: \(.params.type) \(.params.errorText | line) \(.params.blockedReason // "")"
elif .method == "Log.entryAdded" and (.params.entry.source == "network" | not) then
  # Network errors are covered by the events above.
  "failure\tbrowser log: \(.params.entry.level) \(.params.entry.text | line)"
elif .method == "Audits.issueAdded" then "failure\tbrowser issue: \(.params.issue | tojson)"
elif .method == "Runtime.exceptionThrown" then
  "failure\texception: \(.params.exceptionDetails | .exception.description // .text | line)"
elif .method == "Runtime.consoleAPICalled" then
  "failure\tconsole: \([.params.args[] | .value // .description | tostring] | join(" ") | line)"
else empty
end
