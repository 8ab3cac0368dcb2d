"""Small pages written for the tests, and what is asked of them."""

from __future__ import annotations

TOKENS = """# Keys for the gate

The gate of the yard opens with a key card. Cards are handed out by the porter.

## Making keys

`gatekeys.new_card(owner, days=30)`
: Make a card for an owner. It opens the gate for *days* days.

`gatekeys.hex_code([size])`
: Return a code of hexadecimal digits, for locks with a keypad.

`gatekeys.url_code([size])`
: Return a random code that is safe in a web address. By default it has 24 characters.

```python
>>> url_code()
'x0_Yk3-vP'

>>> url_code(4)
'b_9Q'
```

## Taking keys back

To take back a card that was lost, call `revoke` with its number:

```python
import gatekeys

gatekeys.revoke(4711)
```

The card stops working at once. Dr. Amalia Thorne wrote this module in 1987.

## Options

| Option | Default | Meaning |
| --- | --- | --- |
| `--quiet` | off | Print nothing but errors. |
| `--retries N` | 3 | Try N times before giving up. |
| `--wait SECONDS` | 10 | Seconds to wait for the lock to answer. |
"""

BOATS = """# The ferry

The ferry crosses the lake every 40 minutes from April to October. It carries 18 cars.

## Fares

- Adults pay 4.50 per crossing.
- Children under six travel free of charge.
- A bicycle costs 2.00, e.g. on the early boat at 6 a.m. when there is room.

## History

The first ferry was built by Ottilie Brandt in 1911. It sank in a storm, because its hull was made
of soft wood. The U.S. Lake Company bought the line in 1930.

## Winter

In winter the lake freezes. The boats lie in the dock at Nordhaven.
"""

# Question, and a word or two of the answer; None where the pages have none.
QUESTIONS: tuple[tuple[str, str | None], ...] = (
    ("How do I make a random code that is safe in a web address?", "url_code"),
    ("Which function returns hexadecimal digits?", "hex_code"),
    ("How do I take back a lost card?", "revoke"),
    ("How many characters does url_code have by default?", "24"),
    ("Who wrote the gatekeys module?", "Amalia Thorne"),
    ("How many seconds does it wait for the lock?", "--wait"),
    ("Which option prints nothing but errors?", "--quiet"),
    ("How many cars does the ferry carry?", "18"),
    ("Who built the first ferry?", "Ottilie Brandt"),
    ("When was the first ferry built?", "1911"),
    ("Why did the first ferry sink?", "soft wood"),
    ("What does a bicycle cost?", "2.00"),
    ("Where do the boats lie in winter?", "Nordhaven"),
    ("How often does the ferry cross the lake?", "40 minutes"),
    ("Who may travel free of charge?", "Children"),
    ("What is the boiling point of mercury?", None),
    ("How do I configure a Kubernetes ingress?", None),
    ("Which river flows through Vienna?", None),
    ("How do I train a neural network?", None),
    ("Who directed the film Casablanca?", None),
)
