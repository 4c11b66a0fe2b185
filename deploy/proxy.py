"""configurable-http-proxy, for a class that comes in the same minute: tornado's client alone would pass on
ten requests at a time and give up after 20 seconds, which is a 503 to a student."""

from configurable_http_proxy.cli import main
from tornado.httpclient import AsyncHTTPClient

if __name__ == "__main__":
    patient = {"connect_timeout": 60, "request_timeout": 600}
    AsyncHTTPClient.configure(None, max_clients=1000, defaults=patient)
    main()
