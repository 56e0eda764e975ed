# Sets `python` to a Python with the requirements; empty with a message if PyPI is unreachable. Requires $playwright, the path of
# this folder.

environment=$playwright/../../../.build/browser-python
python=$environment/bin/python

# Created once, and again when the requirements change.
if ! cmp --silent "$playwright/requirements.txt" "$environment/requirements.txt"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    pip() { "$environment/bin/pip" --quiet --disable-pip-version-check "$@"; }
    # Without PyPI the tools are missing. The checks are then skipped with a message.
    if pip index versions playwright >/dev/null; then
        pip install --requirement "$playwright/requirements.txt"
        cp "$playwright/requirements.txt" "$environment/requirements.txt"
    else
        echo "PyPI is unreachable: skipping axe, the Nu HTML checker, and the tests with Playwright" >&2
        python=
    fi
fi
export PYTHONDONTWRITEBYTECODE=1
