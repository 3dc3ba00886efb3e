"""The app under repair: one small HTTP server, its images, and the contract that every cluster of ours keeps.

Contract, all of it through environment variables:

    PORT (8080), BIND (0.0.0.0)   where it listens
    NONCE                         what `/` answers, and a newline
    START_DELAY                   seconds between start and listening
    ALLOC_MB                      megabytes of memory that it touches and keeps, before it listens
    REQUIRE_ENV, REQUIRE_FILES    comma-separated names and paths that must be there; an empty variable is missing
    CHECK_ENV, CHECK_FILES        comma-separated `NAME:prefix` and `PATH:prefix`: the SHA-256 (hexadecimal) of the
                                  value, or of the file without trailing newlines, begins with the prefix
    BACKEND_URL                   asked on each request to `/`; without its answer `/` is 502 `backend unreachable`

`/healthz` and `/readyz` answer 200 `ok`, any other path 404. The log says `app: starting`, then either the first
thing that is missing (exit code 1; order: REQUIRE_ENV, REQUIRE_FILES, CHECK_ENV, CHECK_FILES) or where it listens.
SIGTERM ends it at once with exit code 143. Memory that cannot be had ends it with exit code 137.
"""
