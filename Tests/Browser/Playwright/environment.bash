# Sets `python` to a Python with the requirements; empty with a message if PyPI is unreachable or too slow. Requires $playwright, the
# path of this folder.

environment=$playwright/../../../.build/browser-python
python=$environment/bin/python

# Created once, and again when the requirements change.
if ! cmp --silent "$playwright/requirements.txt" "$environment/requirements.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    pip=("$environment/bin/pip" --quiet --disable-pip-version-check)
    # Without PyPI the tools are missing. The checks are then skipped with a message.
    status=124
    if "${pip[@]}" index versions playwright >/dev/null; then
        status=0
        timeout --foreground --kill-after=10s 5m "${pip[@]}" install --requirement "$playwright/requirements.txt" || status=$?
    fi
    case $status in
        0) cp "$playwright/requirements.txt" "$environment/requirements.txt" ;;
        124)
            echo "PyPI is unreachable or too slow: axe, the Nu HTML checker, and the tests with Playwright are NOT TESTED" >&2
            python=
            ;;
        *) exit "$status" ;;
    esac
fi
# Unbuffered, so that the output before a hang or a time limit is seen.
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1

# run_program PROGRAM [ARGUMENTS]: runs a program of this folder, and once more if its browser made no progress.
run_program() {
    # The status of a program whose browser has made no progress, as in browser.py.
    local hung=75 status=0
    "$python" "$playwright/$1" "${@:2}" || status=$?
    if ((status == hung)); then
        echo "The browser made no progress, and is started again: $1" >&2
        status=0
        "$python" "$playwright/$1" "${@:2}" || status=$?
    fi
    return "$status"
}
