"""Which numbers in the tables of a page no claim holds: python3 docs/benchmarks/claims.py [PAGE...]

For each column of each table it prints how many numbers some claim of that page expects, in the digits of the
table, and those that none does. Values are compared and not cells, so a number may be counted as held by accident;
one that is listed has no claim for certain. It needs Python 3.11 and nothing else, and is run from the top of the
repository.
"""

import pathlib
import re
import sys
import tomllib

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")


def tables_of_claims(path):
    """All [[claim]] tables of a file and of those that it includes."""
    text = tomllib.loads(path.read_text())
    found = text.get("claim", [])
    for name in text.get("include", []):
        found += tables_of_claims(path.parent / name)
    return found


def expected(claim):
    """The values that a claim holds; those of all rows where it has rows."""
    if "rows" not in claim:
        value = claim.get("expected", [])
        return value.values() if isinstance(value, dict) else [value] if not isinstance(value, list) else []
    lines = [line.split("|") for line in claim["rows"].strip().split("\n")]
    heads = [head.strip() for head in lines[0]]
    is_value = [head == "expected" or "over" in claim and NUMBER.fullmatch(head) or head == "inf" for head in heads]
    cells = [cell.strip() for line in lines[1:] for cell, is_one in zip(line, is_value) if is_one]
    return [float(cell) for cell in cells if cell]


def tables(text):
    """Head and rows of every table, with the heading above it."""
    heading, rows = "", []
    for line in [*text.split("\n"), ""]:
        if line.startswith("#"):
            heading = line.strip("# ")
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            yield heading, rows[0], rows[2:]
            rows = []


def is_held(text, values):
    """Whether a number of a page is one of the values, as it is rounded there; pages may write thousandths."""
    number = float(text)
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    half = 0.5000001 * 10.0 ** (int(exponent or 0) - digits)
    return any(abs(scale * value - number) <= half for value in values for scale in (1.0, 1e3, 100.0))


def main():
    claims = tables_of_claims(pathlib.Path("claims.toml"))
    pages = [pathlib.Path(page) for page in sys.argv[1:]]
    for page in pages or [pathlib.Path("README.md"), *sorted(pathlib.Path("docs/benchmarks").glob("*.md"))]:
        values = [value for claim in claims if page.name in claim["source"] for value in expected(claim)]
        if not values:
            continue
        for heading, head, rows in tables(page.read_text()):
            for column, name in enumerate(head):
                cells = [row[column].split("±")[0].strip("*% ") for row in rows if column < len(row)]
                cells = [cell for cell in cells if NUMBER.fullmatch(cell)]
                absent = [cell for cell in cells if not is_held(cell, values)]
                if cells:
                    shown = ", ".join(absent[:8]) + (", ..." if len(absent) > 8 else "")
                    print(f"{page.name} | {heading} | {name} | {len(cells) - len(absent)} of {len(cells)} | {shown}")


if __name__ == "__main__":
    main()
