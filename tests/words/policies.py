"""The policies that the words are tried in: a table typed in, and one from records."""

from __future__ import annotations

INLINE = """sdc 1
policy "every word"
seed 11
dimension r {
  codes R0, R1, R2
  total RT
}
dimension c {
  codes C0, C1, C2
  total CT
}
table t {
  by r, c
  values
    | r \\ c | C0 | C1 | C2 |
    | R0 | 20 | 50 | 10 |
    | R1 | 8 | 19 | 22 |
    | R2 | 17 | 32 | 12 |
}
sensitive t at (r: R1, c: C2)
<facts>
attacker e {
  bounds 0 .. inf
  <more>
}
<blocks>
protect t {
  <levels>
  against e
  cost value
  <cost>
  method <method>
  release csv "released.csv"
}
"""
RECORDS = """unit,group,asked,w,r,c,v
A,G1,0,1,R0,C0,60
B,G1,0,1,R0,C0,25
C,,0,2,R0,C0,5
D,,1,1,R0,C1,70
E,,0,1,R0,C1,80
F,,0,1,R0,C1,10
G,G2,0,1,R1,C0,55
H,G2,0,3,R1,C0,45
I,,0,1,R1,C0,30
J,,0,1,R1,C1,40
K,,0,1,R1,C1,35
L,,0,1,R1,C1,30
M,,0,1,R1,C1,20
N,,0,1,R2,C0,0
O,,0,1,R2,C0,0
P,,0,1,R2,C1,90
Q,,0,1,R2,C1,9
R,,0,1,R2,C1,7
"""
MICRO = """sdc 1
policy "every word, of records"
seed 11
data d {
  csv "d.csv"
  column unit = "unit"
  <columns>
}
dimension r {
  codes R0, R1, R2
  total RT
}
dimension c {
  codes C0, C1
  total CT
}
table t {
  from d
  by r, c
  sum v
}
<facts>
attacker e {
  <who>
  bounds <bounds>
  <more>
}
protect t {
  <levels>
  against e
  cost abs(value) + 1
  method <method>
  release csv "released.csv"
}
"""
LEVELS = "lpl 5\n  upl 8"
PREVIOUS = "r,c,value,low,high,status\n" + "".join(
    f"{r},{c},{'' if hidden else v},,,{'hidden' if hidden else 'published'}\n"
    for r, c, v, hidden in (
        *(("RT", "CT", 190, 0), ("RT", "C0", 45, 0), ("RT", "C1", 101, 0), ("RT", "C2", 44, 0)),
        *(("R0", "CT", 80, 0), ("R0", "C0", 20, 0), ("R0", "C1", 50, 0), ("R0", "C2", 10, 0)),
        *(("R1", "CT", 49, 0), ("R1", "C0", 8, 0), ("R1", "C1", 19, 1), ("R1", "C2", 22, 1)),
        *(("R2", "CT", 61, 0), ("R2", "C0", 17, 0), ("R2", "C1", 32, 1), ("R2", "C2", 12, 1)),
    )
)
FILES = {"d.csv": RECORDS, "before.csv": PREVIOUS}


def inline(
    method: str = "csp", levels: str = LEVELS, facts: str = "", more: str = "", cost: str = "", blocks: str = ""
) -> str:
    text = INLINE.replace("<method>", method).replace("<levels>", levels).replace("<facts>", facts)
    return text.replace("<more>", more).replace("<cost>", cost).replace("<blocks>", blocks)


def micro(
    method: str = "csp",
    levels: str = "lpl 3\n  upl 3",
    facts: str = "sensitive t at (r: R0, c: C0)",
    more: str = "",
    who: str = "",
    bounds: str = "0 .. inf",
    columns: str = "",
) -> str:
    text = MICRO.replace("<method>", method).replace("<levels>", levels).replace("<facts>", facts)
    text = text.replace("<more>", more).replace("<who>", who).replace("<bounds>", bounds)
    return text.replace("<columns>", columns)
