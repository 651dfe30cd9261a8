"""Serve a small model over HTTP until standard input ends: serve_model.py WEIGHTS TEMPLATE.

Prints the server's address once the model is loaded. A process of its own, because a fault in the
engine takes its process along; started with the engine's folder in PYTHONPATH.
"""

import sys
from pathlib import Path

import xllamacpp


def serve(weights: str, template: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {"smollm2-135m"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    # Two threads beside other work wait for each other in busy loops: 60 tokens/s become 4.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    # With the cache the same request may get another answer, even at temperature 0.
    params.cache_prompt = False
    params.use_jinja = True
    params.chat_template = Path(template).read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2])
