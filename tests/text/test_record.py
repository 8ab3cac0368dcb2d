"""Records: told apart by their values, and shown without what is not to be seen."""

import copy
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace

import pytest

from webtools._internal.text.record import frozen_record, record


@record
class Place:
    name: str
    number: int = 0
    note: str = field(default="", repr=False)
    seen: int = field(default=0, compare=False)


@record
class Other:
    name: str
    number: int = 0


@frozen_record
class Held:
    name: str
    note: str = field(default="", repr=False)


@record
class Empty:
    pass


@record
class Named:
    name: str

    def __repr__(self) -> str:
        return self.name


def test_records_are_told_apart_by_the_values_that_count() -> None:
    assert Place("a", 1) == Place("a", 1, seen=5)
    assert Place("a", 1) != Place("a", 2)
    assert hash(Place("a", 1)) == hash(Place("a", 1, seen=5))
    assert Empty() == Empty()
    assert len({Empty(), Empty()}) == 1


def test_records_of_two_classes_are_never_equal() -> None:
    # Compared from either side: the one has what the other has, and more.
    assert Other("a", 1) != Place("a", 1)
    assert Place("a", 1) != Other("a", 1)
    assert Place("a", 1) != ("a", 1, "")


def test_what_users_hold_cannot_be_set_and_is_told_apart_by_its_values_too() -> None:
    with pytest.raises(FrozenInstanceError):
        Held("a").name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del Held("a").name
    assert Held("a", "b") == pickle.loads(pickle.dumps(Held("a", "b")))
    assert repr(Held("a", "b")) == "Held(name='a')"


def test_a_record_with_a_list_has_no_hash() -> None:
    with pytest.raises(TypeError):
        hash(replace(Place("a"), name=["a"]))  # type: ignore[arg-type]


def test_a_repr_leaves_out_what_is_not_to_be_seen_and_one_of_its_own_stays() -> None:
    assert repr(Place("a", 1, "secret")) == "Place(name='a', number=1, seen=0)"
    assert repr(Named("a")) == "a"


def test_a_record_is_a_dataclass_with_slots() -> None:
    place = Place("a", 1)
    assert [each.name for each in fields(place)] == ["name", "number", "note", "seen"]
    assert not hasattr(place, "__dict__")
    assert copy.copy(place) == place
    assert pickle.loads(pickle.dumps(place)) == place
