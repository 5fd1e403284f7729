"""The pages of the provider, and what it says of its users."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import LoginView  # type: ignore[import-untyped]
from django.urls import include, path  # type: ignore[import-untyped]
from oauth2_provider.oauth2_validators import OAuth2Validator  # type: ignore[import-untyped]


class Claims(OAuth2Validator):  # type: ignore[misc]
    """Adds the name and the address of the user."""

    oidc_claim_scope = None

    def get_additional_claims(self, request: Any) -> dict[str, object]:
        """Return the claims, from Django's user."""
        user = request.user
        return {
            "preferred_username": user.username,
            "email": user.email,
            "email_verified": True,
        }


urlpatterns = [
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("login/", LoginView.as_view()),
]
