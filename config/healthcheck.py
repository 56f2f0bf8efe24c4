"""Asks the web server on this machine for /healthz; exit status 0 if it answers 200.

For containers, whose images have no curl. Speaks as the proxy in front would: with the host,
the scheme and the path prefix of BASE_URL.
"""

import argparse
import http.client
import os
import sys
from collections.abc import Sequence

from config.env import parse_base_url


def main(arguments: Sequence[str]) -> int:
    """Print what /healthz says; returns the exit status."""
    parser = argparse.ArgumentParser(prog="config.healthcheck")
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args(arguments).port
    base_url = parse_base_url(os.environ.get("BASE_URL", f"http://localhost:{port}"))
    headers = {"Host": base_url.netloc, "X-Forwarded-Proto": base_url.scheme}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4)
    try:
        connection.request("GET", f"{base_url.path_prefix}/healthz", headers=headers)
        response = connection.getresponse()
        body = response.read().decode(errors="replace")
    except OSError as error:
        sys.stdout.write(f"The web server does not answer: {error}\n")
        return 1
    finally:
        connection.close()
    sys.stdout.write(f"{response.status} {body}\n")
    return 0 if response.status == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
