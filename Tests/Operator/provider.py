"""A provider of OpenID Connect: Django OAuth Toolkit, with a user and a client.

Usage: ``provider.py DIRECTORY CALLBACK``. Prints the issuer, and runs until its input ends. The
user is ``ana`` with the password ``pass``; the client is ``kvstored``.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django  # type: ignore[import-untyped]
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings  # type: ignore[import-untyped]
from django.core.management import call_command  # type: ignore[import-untyped]
from django.core.wsgi import get_wsgi_application  # type: ignore[import-untyped]

LOGIN = '<form method="post">{% csrf_token %}{{ form.as_p }}<button>Log in</button></form>'


def configure(directory: Path) -> None:
    """Set Django up in a directory."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    settings.configure(
        SECRET_KEY="of this test",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF="provider_urls",
        LOGIN_URL="/login/",
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(directory / "provider.db"),
            }
        },
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "loaders": [
                        (
                            "django.template.loaders.locmem.Loader",
                            {"registration/login.html": LOGIN},
                        )
                    ]
                },
            }
        ],
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": pem.decode(),
            "OAUTH2_VALIDATOR_CLASS": "provider_urls.Claims",
            "SCOPES": {"openid": "who you are", "email": "your address"},
            "ALLOWED_SCHEMES": ["http"],
        },
    )
    django.setup()
    call_command("migrate", verbosity=0)


def fill(callback: str) -> None:
    """Make the user and the client."""
    # Django's models cannot be loaded before it is set up.
    from django.contrib.auth.models import User  # type: ignore[import-untyped]  # noqa: PLC0415
    from oauth2_provider.models import Application  # type: ignore[import-untyped]  # noqa: PLC0415

    User.objects.create_user("ana", email="ana@example.com", password="pass")
    Application.objects.create(
        client_id="kvstored",
        client_secret="secret of the client",
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=callback,
        algorithm=Application.RS256_ALGORITHM,
        skip_authorization=True,
    )


class Quiet(WSGIRequestHandler):
    """Writes no log."""

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


def main() -> None:
    """Run until standard input ends."""
    configure(Path(sys.argv[1]))
    fill(sys.argv[2])
    with make_server(
        "127.0.0.1", 0, get_wsgi_application(), WSGIServer, handler_class=Quiet
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_port}/o", flush=True)
        sys.stdin.read()


main()
