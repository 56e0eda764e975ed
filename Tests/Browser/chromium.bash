# Drives headless Chromium over its debugging pipe: start_chromium, then cdp and load, finally stop_chromium. Requires $here, the
# path of this folder.
#
# Commands are written to its descriptor 3 and messages are read from descriptor 4, as NUL-terminated JSON, which messages.jq
# converts to lines. Events that must not occur on a page are collected in the array `failures`.

failures=()
session=
last_command=0
chromium=

# start_chromium ORIGIN FOLDER: starts Chromium with a profile in FOLDER for the pages of ORIGIN.
start_chromium() {
    local origin=$1 folder=$2 domain sandbox=()
    # The sandbox does not work for root.
    [[ $(id -u) -ne 0 ]] || sandbox=(--no-sandbox)
    chromium_log=$folder/chromium.log
    coproc CHROMIUM {
        HOME=$folder timeout --kill-after=5 1800 chromium "${sandbox[@]}" --headless=new --remote-debugging-pipe \
            --user-data-dir="$folder/profile" --disable-gpu --disable-dev-shm-usage --disable-background-networking \
            --disable-component-update --disable-extensions --disable-sync --no-first-run --force-color-profile=srgb about:blank \
            3<&0 4>&1 </dev/null >"$chromium_log" 2>&1 |
            stdbuf -o0 tr '\0' '\n' |
            jq --unbuffered --raw-output --arg origin "$origin" --from-file "$here/messages.jq"
    }
    # Bash unsets these variables when the coprocess ends.
    chromium=$CHROMIUM_PID lines=${CHROMIUM[0]} commands=${CHROMIUM[1]}

    cdp Target.createTarget '{"url": "about:blank"}'
    cdp Target.attachToTarget "$(jq '{targetId, flatten: true}' <<<"$reply")"
    session=$(jq --raw-output .sessionId <<<"$reply")
    for domain in Page Network Runtime Log Audits; do cdp "$domain.enable"; done
}

# Stops Chromium by closing the pipe.
stop_chromium() {
    [[ -n $chromium ]] || return 0
    exec {commands}>&-
    # The process may have ended already.
    wait "$chromium" 2>/dev/null || true
}

# cdp METHOD [PARAMS]: sends a command and waits for its response; sets `reply` to the JSON of the result.
cdp() {
    local kind id text
    last_command=$((last_command + 1))
    printf '{"id": %d, "method": "%s", "params": %s%s}\0' "$last_command" "$1" "${2:-{\}}" \
        "${session:+, \"sessionId\": \"$session\"}" >&"$commands"
    while next_message; do
        [[ $id == "$last_command" ]] || continue
        [[ $kind == reply ]] || die "Chromium rejected $1: $text"
        reply=$text
        return
    done
}

# load URL STATUS: navigates to a page with the expected STATUS and waits until it is loaded.
load() {
    local kind id text
    expected_url=$1 expected_status=$2 is_loaded=
    cdp Page.navigate "$(jq --null-input --arg url "$1" '{$url}')"
    while [[ -z $is_loaded ]]; do next_message; done
}

# submit FORM: submits the form with this selector and waits until the response is loaded.
submit() {
    local kind id text
    is_loaded=
    cdp Runtime.evaluate "$(jq --null-input --arg form "$1" '{expression: "document.querySelector(\($form | tojson)).requestSubmit()", userGesture: true}')"
    while [[ -z $is_loaded ]]; do next_message; done
}

# Reads a message; sets the caller's `kind`, `id` and `text`.
next_message() {
    IFS=$'\t' read -r -t 30 kind id text <&"$lines" ||
        die "Chromium has exited or did not respond for 30 seconds. Its log:" "$(tail -n 5 "$chromium_log")"
    case $kind in
        loaded) is_loaded=yes ;;
        status) [[ $id == "${expected_status-}" && $text == "${expected_url-}" ]] || failures+=("status $id from $text") ;;
        failure) failures+=("$id") ;;
    esac
}
