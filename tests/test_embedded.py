"""The model that ships: whole, small, and able to answer plain questions about output that it never saw."""

from __future__ import annotations

import pytest

from linecls.artifact import Artifact, embedded

pytest.importorskip("onnxruntime")

from linecls.pruner import Pruner

PYTEST_LOG = """\
============================= test session starts ==============================
platform linux -- Python 3.11.7, pytest-8.3.2, pluggy-1.5.0
rootdir: /home/user/shop
collected 6 items

tests/test_cart.py ..F                                                   [ 50%]
tests/test_login.py .F.                                                  [100%]

=================================== FAILURES ===================================
________________________________ test_discount _________________________________

    def test_discount():
        cart = Cart([Item("tea", 4.0)])
>       assert cart.total(discount=0.5) == 2.0
E       assert 4.0 == 2.0
E        +  where 4.0 = total(discount=0.5)

tests/test_cart.py:21: AssertionError
____________________________ test_login_wrong_password _________________________

client = <FlaskClient>

    def test_login_wrong_password(client):
        response = client.post("/login", data={"user": "ann", "password": "nope"})
>       assert response.status_code == 401
E       assert 500 == 401
E        +  where 500 = <Response 265 bytes [500 INTERNAL SERVER ERROR]>.status_code

tests/test_login.py:14: AssertionError
------------------------------ Captured log call -------------------------------
ERROR    shop.auth:auth.py:33 cannot reach redis at 127.0.0.1:6379: connection refused
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_discount - assert 4.0 == 2.0
FAILED tests/test_login.py::test_login_wrong_password - assert 500 == 401
========================= 2 failed, 4 passed in 0.31s ==========================
"""
LINES = PYTEST_LOG.splitlines()


@pytest.fixture(scope="module")
def pruner() -> Pruner:
    return Pruner.from_pretrained(device="cpu")


def test_it_is_whole_and_under_45_megabytes() -> None:
    artifact = Artifact.load(embedded())
    assert artifact.size < 45e6
    assert {"f1", "recall"} <= set(artifact.operating_points)
    assert (embedded() / "README.md").is_file()
    assert "training_data" in artifact.provenance
    for name in artifact.sha256:
        content = (embedded() / name).read_bytes()
        assert b"stack_trace" not in content
        assert b"site-packages" not in content


@pytest.mark.parametrize(
    ("query", "point", "needed", "other"),
    [
        ("why does the login test fail", "f1", LINES[33], '        cart = Cart([Item("tea", 4.0)])'),
        ("which server could not be reached", "f1", LINES[30], "E       assert 4.0 == 2.0"),
        ("what is wrong with the discount", "recall", "E       assert 4.0 == 2.0", LINES[30]),
    ],
)
def test_it_finds_the_block_that_answers(pruner: Pruner, query: str, point: str, needed: str, other: str) -> None:
    result = pruner.prune(query, PYTEST_LOG, operating_point=point)
    assert needed in str(result.text).splitlines()
    assert other not in str(result.text).splitlines()


def test_it_says_nothing_when_nothing_answers(pruner: Pruner) -> None:
    assert pruner.prune("which migration is missing", PYTEST_LOG).text == ""
    assert pruner.prune("which migration is missing", PYTEST_LOG, operating_point="recall").text != ""


def test_it_gives_the_same_logits_every_time(pruner: Pruner) -> None:
    pairs = [("why does the login test fail", PYTEST_LOG), ("discount", PYTEST_LOG), ("login", PYTEST_LOG * 3)]
    alone = [pruner.prune(*pair).keep_logits.tobytes() for pair in pairs]
    together = [result.keep_logits.tobytes() for result in pruner.prune_many(pairs)]
    again = [r.keep_logits.tobytes() for r in Pruner.from_pretrained(device="cpu").prune_many(pairs, batch_tokens=64)]
    assert alone == together == again
