"""configurable-http-proxy, for a class that comes in the same minute: tornado's client alone would pass on
ten requests at a time and give up after 20 seconds, which is a 503 to a student, or a notebook without its
kernel, which answers when it has started."""

from configurable_http_proxy import cli, handlers
from tornado.httpclient import AsyncHTTPClient, HTTPRequest


def patient(*args, **kwargs):
    """Returns a request, or that for a websocket, that waits for the server and its kernel."""
    return HTTPRequest(*args, **kwargs | {"connect_timeout": 300, "request_timeout": 600})


if __name__ == "__main__":
    AsyncHTTPClient.configure(None, max_clients=1000)
    handlers.HTTPRequest = patient
    cli.main()
