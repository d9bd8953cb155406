"""What the synthesizers say: invented words for every language, and English."""

import random
import re
from functools import cache
from pathlib import Path

#: Debian's package `fortunes`.
FORTUNES = Path("/usr/share/games/fortunes")
TOPICS = """computers education food fortunes kids literature love medicine miscellaneous news people pets platitudes
    riddles science sports wisdom work""".split()
ONSETS = "b p m f v w d t n k g s z l r h j sh ch th y br pr fl st sp bl pl dr tr kr gl sm sn tw kw".split()
NUCLEI = "a e i o u a e i o u ee oo ai ou au ie oi ea".split()
CODAS = ["", "", "", *"m n p b t s l r f v k d mp nt st ks".split()]
#: Words with lips in them, and vowels that differ much.
WORDS = """the a in we they people maybe before above problem simple move back time family make became improve map film
    fob five very wave above phone photo beam bomb room home mother number member moment happen open paper people apple
    pepper baby bubble obvious remember blue food you choose move who see feel mean deep leave team speak father start
    calm palm body hot god on dog law call saw""".split()


def invented(r: random.Random) -> str:
    return sentence(r, r.randint(3, 10), lambda: "".join(syllable(r) for _ in range(r.choice([1, 1, 2, 2, 2, 3]))))


def english(r: random.Random) -> str:
    return r.choice(sayings()) if r.random() < 0.7 else sentence(r, r.randint(5, 13), lambda: r.choice(WORDS))


def sentence(r: random.Random, count: int, word) -> str:
    return " ".join(word() + (r.choice(",.") if r.random() < 0.15 else "") for _ in range(count)) + "."


def syllable(r: random.Random) -> str:
    return r.choice(ONSETS) + r.choice(NUCLEI) + (r.choice(CODAS) if r.random() < 0.5 else "")


@cache
def sayings() -> list:
    """Sentences of words alone, without quotation marks, names of their authors or numbers."""
    found = set()
    for topic in TOPICS:
        for saying in (FORTUNES / topic).read_text(errors="replace").split("\n%\n"):
            words = " ".join(re.sub(r"\n\s*--.*", "", saying, flags=re.DOTALL).split())
            found.update(re.findall(r"(?:^|(?<=[.!?] ))[A-Z][A-Za-z',; ]{19,79}(?<!Mr)(?<!Dr)(?<!Mrs)[.!?](?= |$)", words))
    return sorted(found)
