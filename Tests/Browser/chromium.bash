# Headless Chromium over its debugging pipe: start_chromium, then cdp and load, in the end stop_chromium. Needs $here, this folder.
#
# Commands go to its descriptor 3 and its messages come from descriptor 4, JSON with a NUL behind each; messages.jq makes
# lines of them. What must not happen on a page is gathered in the array `faults` while answers are waited for.

faults=()
session=
last_command=0
chromium=

# start_chromium ORIGIN FOLDER: starts it with a profile in FOLDER, to look at pages of ORIGIN.
start_chromium() {
    local origin=$1 folder=$2 domain sandbox=()
    # Its sandbox refuses to work for root.
    [[ $(id -u) -ne 0 ]] || sandbox=(--no-sandbox)
    chromium_log=$folder/chromium.log
    coproc CHROMIUM {
        HOME=$folder timeout --kill-after=5 300 chromium "${sandbox[@]}" --headless=new --remote-debugging-pipe \
            --user-data-dir="$folder/profile" --disable-gpu --disable-dev-shm-usage --disable-background-networking \
            --disable-component-update --disable-extensions --disable-sync --no-first-run --force-color-profile=srgb about:blank \
            3<&0 4>&1 </dev/null >"$chromium_log" 2>&1 |
            stdbuf -o0 tr '\0' '\n' |
            jq --unbuffered --raw-output --arg origin "$origin" --from-file "$here/messages.jq"
    }
    # Bash forgets these when it ends.
    chromium=$CHROMIUM_PID lines=${CHROMIUM[0]} commands=${CHROMIUM[1]}

    cdp Target.createTarget '{"url": "about:blank"}'
    cdp Target.attachToTarget "$(jq '{targetId, flatten: true}' <<<"$reply")"
    session=$(jq --raw-output .sessionId <<<"$reply")
    for domain in Page Network Runtime Log Audits; do cdp "$domain.enable"; done
}

# Ends Chromium, which goes when the pipe is closed.
stop_chromium() {
    [[ -n $chromium ]] || return 0
    exec {commands}>&-
    # It may be gone already, and forgotten.
    wait "$chromium" 2>/dev/null || true
}

# cdp METHOD [PARAMS]: gives a command and waits for its answer; sets `reply` to the JSON of the result.
cdp() {
    local kind id text
    last_command=$((last_command + 1))
    printf '{"id": %d, "method": "%s", "params": %s%s}\0' "$last_command" "$1" "${2:-{\}}" \
        "${session:+, \"sessionId\": \"$session\"}" >&"$commands"
    while next_message; do
        [[ $id == "$last_command" ]] || continue
        [[ $kind == reply ]] || die "Chromium refuses $1: $text"
        reply=$text
        return
    done
}

# load URL STATUS: goes to a page that is to come with STATUS, and waits until it is loaded.
load() {
    local kind id text
    expected_url=$1 expected_status=$2 is_loaded=
    cdp Page.navigate "$(jq --null-input --arg url "$1" '{$url}')"
    while [[ -z $is_loaded ]]; do next_message; done
}

# send FORM: sends the form that a selector finds, and waits until the page that answers is loaded.
send() {
    local kind id text
    is_loaded=
    cdp Runtime.evaluate "$(jq --null-input --arg form "$1" '{expression: "document.querySelector(\($form | tojson)).requestSubmit()", userGesture: true}')"
    while [[ -z $is_loaded ]]; do next_message; done
}

# Takes one message; sets the caller's `kind`, `id` and `text`.
next_message() {
    IFS=$'\t' read -r -t 30 kind id text <&"$lines" ||
        die "Chromium has gone, or has not answered for 30 seconds. Its own words:" "$(tail -n 5 "$chromium_log")"
    case $kind in
        loaded) is_loaded=yes ;;
        status) [[ $id == "${expected_status-}" && $text == "${expected_url-}" ]] || faults+=("status $id from $text") ;;
        fault) faults+=("$id") ;;
    esac
}
