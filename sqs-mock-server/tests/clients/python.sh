# Virtual environments of Python with clients of AWS, for `run` and for the scoreboard.
# They are below $target/clients, and are kept for the next run.

# environment NAME REQUIREMENT..: prints the directory of a virtual environment with these requirements.
environment() {
    local directory=$target/clients/$1 installed=$target/clients/$1/installed
    shift
    if [ "$(cat "$installed" 2>/dev/null)" != "$*" ]; then
        rm -rf "$directory"
        python3 -m venv "$directory"
        "$directory/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2
        echo "$*" >"$installed"
    fi
    echo "$directory"
}

# A boto3 that speaks AWS JSON.
environment_json() { environment json boto3==1.44.5 botocore==1.44.5; }

# The last boto3 of 2023 that speaks the Query protocol.
environment_query() { environment query boto3==1.26.165 botocore==1.29.165; }
