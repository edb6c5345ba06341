"""The reader of the documents' examples: what it takes for a command, and for what it prints."""

from pathlib import Path

import pytest

from tests.integration.documents import Example, find_examples, is_as_shown

PAGE = """
```console
$ tilewarp variants
chakra … optional

$ tilewarp moves \\
    chakra
$ true
```

```
tilewarp VARIANT
```

```python
print(1)
```
"""


def test_examples_are_found_in_order(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert find_examples(page) == [
        Example(False, "tilewarp variants", "chakra … optional\n"),
        Example(False, "tilewarp moves \\\n    chakra"),
        Example(False, "true"),
        Example(True, "print(1)\n"),
    ]


@pytest.mark.parametrize(
    ("printed", "shown", "fits"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\n", False),
        ("a 1 c\n", "a … c\n", True),
        ("a 1 d\n", "a … c\n", False),
        ("a\nb\nc\nd\n", "a\n…\nd\n", True),
        ("a\nd\n", "a\n…\nd\n", True),
        ("a\nb\nc\n", "a\n…\nd\n", False),
        ("a  \n", "a\n", True),
        ("(a)\n", "(a)\n", True),
    ],
)
def test_what_is_printed_is_compared(printed: str, shown: str, fits: bool) -> None:
    assert is_as_shown(printed, shown) is fits
