"""Draws a collection with MapLibre Native by its TileJSON, and prints how many pixels have which colour.

Arguments: address of the service, of the TileJSON below it, and name of the layer; the key comes in YEARBOOK_KEY. The library
sends no headers, so it asks a proxy here that adds the key. A process of its own, since a missing display ends it.
"""

import http.server
import json
import os
import sys
import threading
import urllib.error
import urllib.request

import numpy
import pymgl

WIDTH, HEIGHT = 600, 600


def proxy(base):
    """A proxy that adds the key, on a free port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            headers = {"X-API-Key": os.environ["YEARBOOK_KEY"], "Host": self.headers["Host"]}
            try:
                with urllib.request.urlopen(urllib.request.Request(base + self.path, headers=headers)) as answer:
                    status, kind, body = answer.status, answer.headers["Content-Type"], answer.read()
            except urllib.error.HTTPError as error:
                status, kind, body = error.code, "text/plain", error.read()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def main():
    base, tilejson, layer, longitude, latitude, zoom = sys.argv[1:]
    style = {
        "version": 8,
        "sources": {"s": {"type": "vector", "url": proxy(base) + tilejson}},
        "layers": [
            {"id": "b", "type": "background", "paint": {"background-color": "#ffffff"}},
            {
                "id": "a", "type": "fill", "source": "s", "source-layer": layer,
                "paint": {"fill-color": "#000000", "fill-opacity": 0.5, "fill-antialias": False},
            },
        ],
    }
    place = {"longitude": float(longitude), "latitude": float(latitude), "zoom": float(zoom)}
    with pymgl.Map(json.dumps(style), width=WIDTH, height=HEIGHT, ratio=1, **place) as drawn:
        pixels = numpy.asarray(drawn.renderBuffer()).reshape(HEIGHT, WIDTH, 4)[:, :, 0]
    print(json.dumps([[int(shade) for shade in row] for row in pixels]))


if __name__ == "__main__":
    main()
