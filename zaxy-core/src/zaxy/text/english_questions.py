"""English clauses that ask without a question mark: the order of their words is that of a question."""

from __future__ import annotations

import re

STARTERS = frozenset(
    """what what's which who who's whom whose where where's when when's why how how's is are was were does did can could
    will would should has do have may let wondering explain describe check see look verify find remind give
    send""".split()
)
"""The words that such a clause can begin with."""
LAST_WORDS = frozenset("when where who why how which what".split())
_VERB = "(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had)"
_SUBJECT = r"(?:i|we|he|she|it|they|there|this|that|these|those|the|a|an|any\w*|some\w*|my|your|our|their|his|her)"
_WH = "(?:what|which|who|whom|whose|where|when|why|how|if|whether)"
_ASKS = re.compile(
    rf"(?:what|who|where|when|why|how)(?:'s|'re| {_VERB})\b(?! why\b)"  # what is, when did
    rf"|(?:what|which|whose) (?!{_SUBJECT}\b|you\b|is\b|means\b|matters\b|counts\b|happen\w*\b|follows\b|remains\b)"
    rf"(?:\S+ ){{1,4}}{_VERB}\b"  # which of the two runbooks is
    r"|how (?:many|much|long|often|far|old|big|large|fast|soon|high|late)\b"
    rf"|who (?!{_SUBJECT}\b|you\b|else\b)\w+"  # who owns
    r"|which (?:\S+ ){1,4}must\b|what (?:came|became) of\b"
    r"|what happened (?:to|with|in|on|at|during|after|before|yesterday)\b"
    rf"|(?:is|are|was|were|does|did|can|could|will|would|has) {_SUBJECT}\b|(?:can|should|may) (?:i|we)\b|are you\b"
    r"|does (?!not\b|work\b|so\b)\w+|did (?:you|every\w+)\b|should (?:the|this|that|these|he|she|they|it)\b"
    r"|(?:do|have) (?:i|we|you|they|any\w+)\b"
)
# The rest of it says something about what was asked: `Who did it is still unknown`.
_SAYS = re.compile(
    r"(?:who|what|where|when|why|how|which|whose) .*"
    r"\b(?:is|was|are|were|remains|stays) (?:still|not|un\w+|clear|known|open|secret|irrelevant|up to|that|another)\b"
    r"|what (?:is|was|are|were) .*\b(?:is|was|are|were)\b"
    r"|.*\b(?:depends on|does not matter|doesn't matter)\b"
)
# Its subject stands before its verb: `What I like to drink is rooibos`.
_TELLS = re.compile(
    r"(?:what|where|when|how|why|who) (?:i|we|you|he|she|it|they|my|our|the) .*\b(?:is|are|was|were|will|must|means)\b"
)
_FIND_OUT = (
    "(?:tell|say|find out|check|look up|look into|look at|explain|show|remind|list|describe|summari[sz]e|confirm|see"
    "|give|help|remember|recall)"
)
_REQUEST = re.compile(
    rf"(?:can|could|would|will) (?:you|any\w+|some\w+) (?:please |maybe |perhaps |quickly |kindly )*{_FIND_OUT}\b"
    rf"|(?:let (?:me|us) know|wondering|explain|describe|check|see|look|verify|find) {_WH}\b"
    rf"|remind (?:me|us) (?:{_WH}|about|of)\b|remind me$"
    r"|(?:give|send) (?:me|us) (?:a|an|the|some|your) (?:short |quick |brief |full )?"
    r"(?:summary|list|overview|status|details?|info\w*|reasons?|names?|update|explanation)\b"
    r"|does any(?:one|body)\b"
)
REQUESTING = frozenset(
    """can could would will let wondering explain describe check see look verify find remind give send does""".split()
)
"""The words that such a request begins with."""

# A few words and a question word behind them: `dentist appointment when`, not `no idea why` or `we asked Ann when`.
_TERSE = re.compile(
    r"(?!(?:i|we|you|he|she|they|it|that|this|these|those|here|there|no|not|so|or|and|guess|say|ask|tell|see)\b)"
    r"(?!.*\b(?:know|knows|knew|sure|idea|matter|said|says|asked|depends)\b)"
    r"(?:[\w-]+ ){1,4}(?:when|where|who|why|how|which|what)"
)


def asks_tersely_in_english(clause: str) -> bool:
    """Whether a clause without a full stop, folded, asks with its last word."""
    return _TERSE.fullmatch(clause) is not None


def asks_in_english(clause: str) -> bool:
    """Whether the beginning of a sentence, folded, has the order of words of a question."""
    return _ASKS.match(clause) is not None and _SAYS.match(clause) is None


def tells_in_english(clause: str) -> bool:
    """Whether a clause, folded, begins like a question and tells something."""
    return _TELLS.match(clause) is not None


def requests_in_english(clause: str) -> bool:
    """Whether a clause, folded, requests information: `can you find out who`, not `can you deploy it`."""
    return _REQUEST.match(clause) is not None
