from django.contrib.auth.decorators import login_required
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.template import engines

TABLES = """
CREATE TABLE bare_item (id bigint PRIMARY KEY, body text NOT NULL, taken integer NOT NULL);
CREATE TABLE bare_label (
    id bigserial PRIMARY KEY, item bigint NOT NULL REFERENCES bare_item, person bigint NOT NULL,
    grade smallint NOT NULL, at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO bare_item SELECT n, repeat('word ', 200), 0 FROM generate_series(1, %s) n;
"""
CLAIM = """
UPDATE bare_item SET taken = taken + 1 WHERE id = (
    SELECT id FROM bare_item WHERE taken = 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING id, body
"""
CARD = engines["django"].from_string(
    '<form method="post">{% csrf_token %}<input type="hidden" name="item" value="{{ item }}">'
    "<article>{{ body }}</article>{% for grade in grades %}<button name=grade value={{ grade }}>"
    "{{ grade }}</button>{% endfor %}</form>"
)


def make_tables(items: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(TABLES, [items])


@login_required
def step(request: HttpRequest) -> HttpResponse:
    with transaction.atomic(), connection.cursor() as cursor:
        if request.method == "POST":
            cursor.execute(
                "INSERT INTO bare_label (item, person, grade) VALUES (%s, %s, %s)",
                [request.POST["item"], request.user.pk, request.POST["grade"]],
            )
        cursor.execute(CLAIM)
        item, body = cursor.fetchone()
    return HttpResponse(CARD.render({"item": item, "body": body, "grades": range(4)}, request))
