"""Scheduler and workers of a local cluster, which open no port but those that require a certificate.

Every node of dask starts an HTTP server, with a dashboard or without: it tells what runs to whoever asks. These do not.
"""

from __future__ import annotations

from typing import Any

from distributed import Scheduler, Worker


class SchedulerWithoutHTTP(Scheduler):
    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        pass


class WorkerWithoutHTTP(Worker):
    def start_http_server(self, *args: Any, **kwargs: Any) -> None:
        pass
