"""Statements that are planned once for a connection."""

import pytest
from django.db import NotSupportedError, connection

from studies.access import find_member
from tests import factories as make
from tests.annotation.clients import run_together


def change_type(column_type: str) -> None:
    """On another connection: the own one would know of it."""

    def alter() -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE studies_study ALTER title TYPE {column_type}")

    run_together([alter])


@pytest.mark.django_db(transaction=True)
def test_a_plan_that_no_longer_fits_costs_one_request_not_all_that_follow() -> None:
    member = make.make_member(make.make_study("alpha"), "ana")
    assert member.user
    for _ in range(10):
        assert find_member(member.user, "alpha") == member
    change_type("text")
    try:
        with pytest.raises(NotSupportedError):
            find_member(member.user, "alpha")
        connection.close()  # as at the end of a request
        assert find_member(member.user, "alpha") == member
    finally:
        change_type("varchar(200)")
