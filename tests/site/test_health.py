from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.test import Client


@pytest.mark.django_db
def test_health_is_well() -> None:
    response = Client().get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"database": True, "migrations": True, "broker": True}


@pytest.mark.django_db
def test_health_says_what_is_not_well() -> None:
    with patch("config.views.broker_is_well", return_value=False):
        response = Client().get("/healthz")
    assert response.status_code == 503
    assert response.json()["broker"] is False


@pytest.mark.django_db
def test_health_survives_code_that_is_gone() -> None:
    with patch("config.views.MigrationExecutor", side_effect=ModuleNotFoundError("no psycopg")):
        response = Client().get("/healthz")
    assert response.status_code == 503
    assert response.json() == {"database": True, "migrations": False, "broker": True}


@pytest.mark.django_db
def test_health_survives_a_database_that_does_not_answer() -> None:
    with patch("config.views.connection.cursor", side_effect=OperationalError("gone")):
        response = Client().get("/healthz")
    assert response.status_code == 503
    assert response.json()["database"] is False
