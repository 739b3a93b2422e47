# The tours in Java, JavaScript and Go, for `run`: requirements, builds and commands.
# pom.xml, package-lock.json and go.mod have the versions of the clients. Builds of unchanged files are cached.

declare -A needs=(
    [java]="mvn and Java 17 or later"
    [javascript]="npm and Node.js 20 or later"
    [go]="Go 1.24 or later"
)

# at_least VERSION TEXT: whether the first version in the text (N or N.N) is at least VERSION.
at_least() {
    [[ $2 =~ [0-9]+(\.[0-9]+)? ]] && [ "$(printf '%s\n' "$1" "${BASH_REMATCH[0]}" | sort -V | head -n 1)" = "$1" ]
}

has_java() {
    command -v mvn >/dev/null && command -v java >/dev/null && at_least 17 "$(javac -version 2>/dev/null)"
}

has_javascript() {
    command -v npm >/dev/null && at_least 20 "$(node --version 2>/dev/null)"
}

has_go() {
    # Go must not download another toolchain for go.mod.
    export GOTOOLCHAIN=local
    at_least 1.24 "$(go version 2>/dev/null | cut -d ' ' -f 3)"
}

# prepare LANGUAGE: builds its tour, unless the cache has a build of the same files.
prepare() {
    local directory=$target/clients/$1 files
    files=$(cd "$here/$1" && cksum ./*)
    if [ "$(cat "$directory/built" 2>/dev/null)" != "$files" ]; then
        rm -rf "$directory"
        mkdir -p "$directory"
        "build_$1" "$here/$1" "$directory" >&2
        echo "$files" >"$directory/built"
    fi
}

build_java() { # SOURCE DIRECTORY
    mvn --quiet --batch-mode --file "$1/pom.xml" \
        org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies "-DoutputDirectory=$2/jars" \
        >"$2/mvn.log" 2>&1 || { cat "$2/mvn.log"; return 1; }
    javac -encoding UTF-8 -d "$2/classes" -cp "$2/jars/*" "$1"/*.java
}

tour_java() { # ENDPOINT S3_ENDPOINT
    java -cp "$target/clients/java/classes:$target/clients/java/jars/*" Tour "$@"
}

build_javascript() { # SOURCE DIRECTORY
    # Node.js looks for packages next to the sources.
    cp "$1"/*.js* "$2"
    npm ci --prefix "$2" --no-audit --no-fund --loglevel error >/dev/null
}

tour_javascript() { # ENDPOINT S3_ENDPOINT
    node --no-warnings "$target/clients/javascript/tour.js" "$@"
}

build_go() { # SOURCE DIRECTORY
    GOWORK=off GOMODCACHE=$2/modules go build -C "$1" -modcacherw -buildvcs=false -o "$2/tour" .
}

tour_go() { # ENDPOINT S3_ENDPOINT
    "$target/clients/go/tour" "$@"
}
