"""A person's own page: name, language, password, sessions."""

from django.contrib.sessions.models import Session
from django.test import Client

from studies.models import Action, LoginSession, User
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in

ME = "/me/"
NEW_PASSWORD = "another-odd-phrase"


def test_name_shown_is_changed(cast: Cast) -> None:
    client = log_in(cast.ana)
    assert client.post("/me/name/", {"first_name": "Ana Q."}).status_code == 302
    assert "Ana Q." in client.get(ME).content.decode()
    assert client.post("/me/name/", {"first_name": "x" * 200}).status_code == 422


def test_language_of_the_account_holds_in_another_browser(cast: Cast) -> None:
    log_in(cast.ana).post("/me/language/", {"language": "id"})
    page = log_in(cast.ana).get(ME, headers={"Accept-Language": "zh-hant"}).content.decode()
    assert '<html lang="id"' in page
    other = log_in(cast.ben).get(ME, headers={"Accept-Language": "zh-hant"}).content.decode()
    assert '<html lang="zh-hant"' in other


def test_language_can_be_left_to_the_browser_again(cast: Cast) -> None:
    client = log_in(cast.ana)
    client.post("/me/language/", {"language": "id"})
    client.post("/me/language/", {"language": ""})
    assert '<html lang="en"' in client.get(ME).content.decode()


def test_unknown_language_is_refused(cast: Cast) -> None:
    assert log_in(cast.ana).post("/me/language/", {"language": "tlh"}).status_code == 422


def test_language_form_of_every_page_is_kept_with_the_account(cast: Cast) -> None:
    client = log_in(cast.ana)
    client.post("/me/language/", {"language": "id"})
    client.post("/language/setlang/", {"language": "zh-hant", "next": "/"})
    assert User.objects.get(username="ana").language == "zh-hant"
    assert '<html lang="zh-hant"' in client.get(ME).content.decode()


def test_visitor_switches_the_language_of_the_browser(cast: Cast) -> None:
    client = Client()
    response = client.post("/language/setlang/", {"language": "id", "next": "/login/"})
    assert response.url == "/login/"
    assert '<html lang="id"' in client.get("/login/").content.decode()


def test_password_change_ends_every_other_session_and_keeps_this_one(cast: Cast) -> None:
    here, there = log_in(cast.ana), log_in(cast.ana)
    data = {"old_password": make.PASSWORD}
    data |= {"new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    assert here.post("/me/password/", data).status_code == 302
    assert here.get(ME).status_code == 200
    assert there.get(ME).status_code == 302
    assert LoginSession.objects.get(user=cast.ana.user).session_key == here.session.session_key
    assert User.objects.get(username="ana").check_password(NEW_PASSWORD)


def test_password_is_kept_when_the_old_one_is_wrong_or_the_new_one_weak(cast: Cast) -> None:
    client = log_in(cast.ana)
    for old, new in (("wrong", NEW_PASSWORD), (make.PASSWORD, "short")):
        data = {"old_password": old, "new_password1": new, "new_password2": new}
        assert client.post("/me/password/", data).status_code == 422
    assert User.objects.get(username="ana").check_password(make.PASSWORD)


def test_sessions_are_listed_with_their_browser_and_one_can_be_ended(cast: Cast) -> None:
    here, there = log_in(cast.ana), Client(HTTP_USER_AGENT="Old Browser 3")
    there.post("/login/", {"username": "ana", "password": make.PASSWORD})
    page = here.get(ME).content.decode()
    assert "Old Browser 3" in page
    assert "this browser" in page
    session = LoginSession.objects.get(browser="Old Browser 3")
    assert here.post(f"/me/sessions/{session.public_id}/end/").status_code == 302
    assert there.get(ME).status_code == 302
    assert here.get(ME).status_code == 200


def test_all_other_sessions_are_ended_together(cast: Cast) -> None:
    here, *others = [log_in(cast.ana) for _ in range(3)]
    bens = log_in(cast.ben)
    here.post("/me/sessions/end/")
    assert [client.get(ME).status_code for client in others] == [302, 302]
    assert here.get(ME).status_code == bens.get(ME).status_code == 200


def test_session_of_somebody_else_is_not_found(cast: Cast) -> None:
    log_in(cast.ben)
    session = LoginSession.objects.get(user=cast.ben.user)
    assert log_in(cast.ana).post(f"/me/sessions/{session.public_id}/end/").status_code == 404


def test_sessions_that_are_over_are_not_listed_and_forgotten_at_the_next_login(cast: Cast) -> None:
    log_in(cast.ana)
    Session.objects.all().delete()
    client = log_in(cast.ana)
    assert len(client.get(ME).context["sessions"]) == 1
    assert LoginSession.objects.filter(user=cast.ana.user).count() == 1


def test_logging_out_forgets_the_session(cast: Cast) -> None:
    log_in(cast.ana).post("/logout/")
    assert not LoginSession.objects.filter(user=cast.ana.user).exists()


def test_login_is_told_to_the_log_of_each_study(cast: Cast) -> None:
    make.make_member(cast.other_study, "ana", user=cast.ana.user)
    Client().post("/login/", {"username": "ana", "password": make.PASSWORD})
    logged = Action.objects.filter(name="member.logged_in", user=cast.ana.user)
    assert {action.study.slug for action in logged} == {"alpha", "beta"}
