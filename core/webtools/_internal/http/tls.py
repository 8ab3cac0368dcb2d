"""The trusted roots of TLS connections."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache

import certifi

from webtools._internal.http.network import TLSSocket
from webtools.errors import ConfigError


@lru_cache(maxsize=1)
def tls_context() -> ssl.SSLContext:
    """Load the trusted roots once per process; that takes 20 to 30 ms.

    The roots are certifi's, or those that `SSL_CERT_FILE` or `SSL_CERT_DIR` names.

    Raises:
        ConfigError: The file or folder cannot be read, or the file that `SSLKEYLOGFILE` names
            cannot be written.
    """
    file = os.environ.get("SSL_CERT_FILE") or None
    folder = None if file else os.environ.get("SSL_CERT_DIR") or None
    if not (file or folder):
        file = certifi.where()
    try:
        context = ssl.create_default_context(cafile=file, capath=folder)
    except OSError as error:  # among them ssl.SSLError
        fault = error.strerror or type(error).__name__
    else:
        context.sslsocket_class = TLSSocket
        return context
    if _can_load(file, folder):  # the context also opens the log of TLS keys
        path = os.environ.get("SSLKEYLOGFILE")
        raise ConfigError(
            f'SSLKEYLOGFILE="{path}" cannot be written ({fault}). Set it to another file, or '
            "unset it."
        )
    raise ConfigError(
        f"The trusted certificates cannot be loaded ({fault}). Set SSL_CERT_FILE or SSL_CERT_DIR "
        "to certificates in PEM format, or unset them."
    )


def _can_load(file: str | None, folder: str | None) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file, folder)
    except OSError:
        return False
    return True
