"""A walk through the example policies: what `make demo` shows. Exits with 1 if anything goes otherwise."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from sdcdsl.cli import cli  # noqa: E402

OUT = Path.cwd() / "demo-output"
failed: list[str] = []


def say(text: str) -> None:
    print(f"\n{text}\n")


def run(*arguments: str, expect: int = 0) -> None:
    """One command, as a reader would type it, in this process."""
    line = shlex.join(("sdcdsl", *arguments))
    print(f"$ {line}", flush=True)
    try:
        cli.main(list(arguments), prog_name="sdcdsl")
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    sys.stdout.flush()
    if code != expect:
        failed.append(f"{line}: exit code {code} instead of {expect}")


def mistaken(folder: Path) -> Path:
    """The turnover policy with one slip of the pen."""
    text = (HERE / "turnover" / "turnover.sdc").read_text(encoding="utf-8")
    wrong = text.replace("lpl needed ", "lpl neded ", 1)
    assert wrong != text
    path = folder / "slip.sdc"
    path.write_text(wrong, encoding="utf-8")
    return path


def walk() -> None:
    say("1. Three policies: a typed-in table, tables from microdata, a quarterly release. Are they right?")
    os.chdir(HERE)
    for example in ("tiny", "turnover", "quarterly"):
        run("check", f"{example}/{example}.sdc")
    print("Silence: they are.")

    say("2. What a mistake looks like: `neded` instead of `needed`.")
    with tempfile.TemporaryDirectory() as folder:
        mistaken(Path(folder))
        os.chdir(folder)
        run("check", "slip.sdc", expect=1)
        os.chdir(HERE)

    say("3. Every message has a page. This is the one of SDC112:")
    run("explain", "SDC112")

    say("4. There is one layout, so that a change of a policy shows as what it is. Are the files in it?")
    run("fmt", "--check", "tiny", "turnover", "quarterly")

    say("5. Advice: what is allowed but worth a second look.")
    run("lint", "turnover/turnover.sdc")

    say("6. The policy meets its data, 1 600 invented enterprises: what would protecting it mean? Nothing is solved.")
    os.chdir(HERE / "turnover")
    run("plan", "turnover.sdc", "--today", "2026-01-01")

    say("7. Is a release safe? Somebody hid four cells of the small table by hand. What would an attacker make of it?")
    os.chdir(HERE / "tiny")
    run("audit", "tiny.sdc", "--released", "weak.csv", expect=6)

    say("8. The square was drawn over too small a cell. Another one is safe, and a certificate proves it to anybody.")
    with tempfile.TemporaryDirectory() as folder:
        for file in ("tiny.sdc", "better.csv"):
            shutil.copy(file, folder)
        os.chdir(folder)
        run("audit", "tiny.sdc", "--released", "better.csv", "--certificate", "tiny.cert")
        run("verify", "tiny.cert")

        say("9. Nobody has to look for it by hand: the cheapest pattern that protects, found, audited and released.")
        run("protect", "tiny.sdc")
        os.chdir(HERE)

    say("10. The same for 5 000 enterprises: two linked tables, rules, holdings, weights, two attackers.")
    os.chdir(HERE / "enterprises")
    where = os.path.relpath(OUT)
    run("protect", "enterprises.sdc", "--today", "2026-01-01", "--out", where)

    say("11. Its audit is part of it. Anybody else can repeat it, from the released files alone:")
    released = [f"--released={name}={Path(where) / f'turnover-2025-{name}.csv'}" for name in ("by_region", "by_size")]
    run("audit", "enterprises.sdc", "--today", "2026-01-01", *released, "--verdict-only")

    say("12. What was read, by which versions, and what came out is in the lock. Is everything still as it was?")
    run("verify", str(Path(where) / "internal" / "enterprises.sdc.lock"))

    say("13. Why is land transport in region XA12 hidden, although nobody marked it?")
    run("explain", "enterprises.sdc", "--today", "2026-01-01", "--cell", "nace: 49, nuts: XA12", *released)
    os.chdir(HERE)


def main() -> int:
    walk()
    if failed:
        say("Something went wrong:")
        print("\n".join(failed))
        return 1
    say("That was it. The protected tables:")
    for path in sorted(OUT.glob("*.csv")):
        print(f"  {path}")
    say("The report: what happened to the tables, what attackers can tell, what it cost. Open it in a browser:")
    print(f"  {OUT / 'internal' / 'enterprises.internal.html'}")
    say("Try next:")
    print("  - the same policy with other methods, and what each leaves to readers and attackers:")
    print("    .venv/bin/sdcdsl compare examples/enterprises/enterprises.sdc --time-limit 30s --out demo-output")
    print("  - copy enterprises.sdc, change p_percent(10%) to 15%, and ask what the change means, cell by cell:")
    print("    .venv/bin/sdcdsl diff OLD NEW --cells")
    print("  - replace `method csp` by `method ip` in examples/tiny/tiny.sdc, and protect it: intervals, no gaps")
    print("  - hide other cells in examples/tiny/weak.csv (an x is enough), and audit again:")
    print("    .venv/bin/sdcdsl audit examples/tiny/tiny.sdc --released examples/tiny/weak.csv")
    print("  - .venv/bin/sdcdsl new mine.sdc    a commented policy to start your own from")
    print("  - docs/tutorial.md                 ten minutes, from an empty file on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
