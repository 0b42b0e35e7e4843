"""Words by which people ask for a measure, compare, and name two ends. Folded: without accents and case."""

from __future__ import annotations

import re
from collections.abc import Sequence

from zaxy.assemble.synthesis.lexicon import LENGTH, MASS, MONEY

MONEY_WORDS = (
    "spend|spent|spending|pay|pays|paid|payed|cost|costs|price|prices|expense|expenses|amount|amounts|money"
    "|bezahl\\w*|gezahlt|zahlen|zahlten|zahlte|ausgeben|ausgegeben|ausgaben|kosten|kostet|kostete|gekostet|betrag"
    "|betrage|preis|preise|geld|teuer"
    "|gast\\w{1,6}|pagar|pagado|pagamos|pagaron|pague|pago|pagos|costo|costaron|coste|costes|importe|importes|precio"
    "|precios|dinero"
    "|depens\\w+|paye|payes|payee|payer|coute|couter|cout|couts|montant|montants|prix|argent"
    "|speso|spesa|spese|pagato|costato|prezzo|importo|soldi|gastei|gastou|paguei|pagou|custou|custo|preco|dinheiro"
)
"""They ask for money. A row need not have them: it has an amount."""
TIME_WORDS = (
    "long|take|takes|took|taken|last|lasted|passed|elapsed|lie|lay|pass"
    "|lange|dauer|dauert|dauerte|gedauert|gebraucht|vergingen|vergangen|lagen|liegen|verging"
    "|tiempo|tardo|tardaron|duro|duraron|pasaron|paso|transcurrieron|hubo"
    "|longtemps|temps|dure|pris|passe|ecoule|ecoules|tempo|durata|durato|passati|demorou|durou|passaram"
)
"""They ask for a time that something took or that lies between two things."""
ASKING_WORDS = (
    "far|weit|lejos|loin|everything|anything|everyone|everybody|many|much|often|times|number|value|values|count|total|totals|altogether|sum|average|mean|median|all|every|each|together|there|what|which"
    "|viele|viel|oft|mal|einmal|anzahl|zahl|insgesamt|gesamt|summe|aller|alle|alles|jede|jeder|jedes|zusammen|gab|gibt|hoch|gross"
    "|mein\\w{0,2}|unser\\w{0,2}|bin|bist|sind|seid|hatte\\w{0,2}|eintrage|eintragen|schnitt|wert|werte|werten|durchschnitt\\w*|mittel|waren|wurden|wurde"
    "|cuant[oa]s?|valor|valores|veces|numero|suma|todos|todas|todo|toda|conjunto|media|promedio|hay|hubo|fue|fueron|cual|que|cada"
    "|avons|avez|eu|eus|eue|avaient|avait|aurons|etaient|etait|combien|fois|nombre|somme|tous|toutes|tout|ensemble|moyenne|quel|quelle|chaque"
    "|quant[oaie]s?|volte|somma|tutti|tutte|totale|vezes|soma|todos|quais|qual"
)
"""They belong to the asking: no row need have them."""
_BETWEEN = (("between", "and"), ("zwischen", "und"), ("entre", "y|e|et"), ("tra|fra", "e|ed"), ("tussen", "en"))
_FROM = (
    ("from|since", "to|until|till"),
    ("von|vom|seit", "bis"),
    ("desde|del|de", "hasta|al|a"),
    ("depuis|du|de", "jusqu'a|jusqu'au|au|a"),
    ("dal|dalla|da", "fino|al|alla|a"),
)
SIDE_WORDS = re.compile(rf"(?<!\w)(?:{'|'.join(first for first, _ in _BETWEEN)})(?!\w)")
_OR, _THAN = "or|oder|o|ou", "than|als|que|di|dan|compared to|compared with|verglichen mit"


def _pairs(pairs: Sequence[tuple[str, str]]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"\b(?:{first})\b(?P<a>.+?)\b(?:{second})\b(?P<b>.+)") for first, second in pairs)


SIDES = {
    "between": _pairs(_BETWEEN),
    "from": _pairs(_FROM),
    "or": (re.compile(rf"(?P<a>.+?)\b(?:{_OR})\b(?P<b>.+)"),),
    "than": (re.compile(rf"(?P<a>.+?)\b(?:{_THAN})\b(?P<b>.+)"),),
}
"""How a question names two things; the first that fits counts."""
TITLES = re.compile(r"(?:dr|prof|mrs?|ms|herr|frau|mme|mlle|sra?|dra|don|dona)\.? (?=\w)")
"""What people are called by besides their names. Folded."""
LIST_MARKS = re.compile(r"[,;:]|\b(?:and|und|y|e|et|ed)\b")
_FIRST = r"(?:first|erste[nmrs]?|premiere?|primer[oa]?|prim[ao]|primeir[ao])"
_LATEST = r"(?:last|latest|letzte[nmrs]?|derniere?|ultim[oa])"
FIRST_TO_LAST = re.compile(
    rf"(?<!\w)(?:{_FIRST}(?:\s+\w+){{0,3}}\s+(?:and|und|et|y|e|to|bis)\s+(?:\w+\s+){{0,2}}{_LATEST}"
    rf"|{_LATEST}(?:\s+\w+){{0,3}}\s+(?:and|und|et|y|e)\s+(?:\w+\s+){{0,2}}{_FIRST})(?!\w)"
)
"""The two ends of a row of events: `between my first and my last lesson`."""
FIRST_OR_LAST = re.compile(rf"(?<!\w)(?:{_FIRST}|{_LATEST})(?!\w)")
LEAST_WORDS = re.compile(
    r"\b(?:low|small|cheap|slow\w*t|short|few|light|cold|least|minim|niedrig|klein|billig|gunstig|kurz|wenig|leicht|kalt"
    r"|langsam|mas (?:baj|pequen|barat|cort|lent|liger|fri)|menor|plus (?:bas|petit|court|lent|leger|froid)|moins"
    r"|piu bass|piu piccol|meno|mais baix|menor)"
)
"""They ask for the least; other superlatives ask for the most."""
WHICH = re.compile(r"(?<!\w)(?:which|what|welche[nrsm]?|que|cual|quel\w*|quale|qual)\s+([^\W\d_]{3,})")
GREATEST_AND_LEAST = (
    r"(?:highest|largest|biggest|longest|most expensive|best|hochste[nmrs]?|grosste[nmrs]?|langste[nmrs]?"
    r"|teuerste[nmrs]?|plus (?:haut|eleve|grand|long|cher)\w*|mas (?:alt|larg|grand|car)\w*|mayor|maxim\w+)",
    r"(?:lowest|smallest|shortest|cheapest|worst|niedrigste[nmrs]?|kleinste[nmrs]?|kurzeste[nmrs]?|billigste[nmrs]?"
    r"|gunstigste[nmrs]?|plus (?:bas|petit|court)\w*|moins (?:cher|eleve)\w*"
    r"|mas (?:baj|cort|pequen|barat)\w*|menor|minim\w+)",
)
_ONE, _OTHER = GREATEST_AND_LEAST
SPREAD = re.compile(
    rf"(?<!\w)(?:{_ONE}(?:\s+\w+){{0,2}}\s+(?:and|und|et|y)\s+(?:\w+\s+)?{_OTHER}"
    rf"|{_OTHER}(?:\s+\w+){{0,2}}\s+(?:and|und|et|y)\s+(?:\w+\s+)?{_ONE})(?!\w)"
)
"""The two ends of one list: `the highest and the lowest`."""
GROWN = re.compile(r"(?<!\w)(?:more|fewer|less|mehr|weniger|mas|menos|plus|moins|piu|meno|mais)(?!\w)")
JOINING = re.compile(
    r"[\s,]*(?:(?:and|or|und|oder|y|o|e|et|ou|as well as|sowie)\s+)?"
    r"(?:(?:on|for|the|in|at|with|fur|mit|die|das|der|den|bei|pour|en|la|le|les|du|des|de|con|para|el|los|las)\s+)*[\s,]*"
)
"""What stands between two words of which a row needs only one: `fuel and food`, `fuel, for food`."""
DIFFERENT = re.compile(
    r"(?<!\w)(?:distinct|unique|verschieden\w*|unterschiedlich\w*|different[es]*|distint[oa]s|diferentes|divers[ie])"
    r"(?!\w)"
)
COMPARED = re.compile(
    r"(?<!\w)(?:larger|smaller|higher|lower|bigger|longer|shorter|greater|fewer|faster|slower|cheaper"
    r"|gross?er|kleiner|hoher|niedriger|langer|kurzer|schneller|langsamer|teurer|billiger|gunstiger"
    r"|mayor|menor|superior|inferior|plus grande?|plus petite?|maggiore|minore|maior)(?:e[nrms]?)?(?!\w)"
)
"""Words of comparing that say nothing of what is compared."""
CANCELLED = re.compile(
    r"(?<!\w)(?:cancel\w*|called off|storn\w+|abgesagt\w*|ausgefallen|anulad\w+|anulam\w+|suspendid\w+|annul\w+)"
)
"""What a sentence says of a thing that did not happen after all."""
INTENDED = re.compile(
    r"(?<!\w)(?:thinking (?:about|of)|planning (?:to|on)|plan to|plans to|going to|want to|would like to|hope to|wish i"
    r"|maybe|next (?:week|weekend|month|year)|tomorrow|what if|if (?:we|i)|uberleg\w*|mochten?|vielleicht"
    r"|morgen (?:will|mochte)"
    r"|nachste[nrs]? (?:woche|wochenende|monat|jahr)|habe vor|haben vor|will ich|wollen wir|wenn (?:ich|wir)"
    r"|pensando en|pienso|quiero|quizas?|tal vez|voy a|vamos a|ojala|ya veremos|proxim[oa] (?:semana|mes|ano)"
    r"|je vais|on va|peut-etre|j'aimerais|envie de|je pense a|prochaine?|forse|vorrei|talvez|quero)(?!\w)"
)
"""What a sentence says of what has not happened."""
MORE = re.compile(r" (?:more|other|new|additional|weitere|neue|mas|otr[oa]s|nuev[oa]s|autres|nouve\w+)(?= )")
"""They may stand between a number and what it counts."""
HOW_LONG = re.compile(r"(?<!\w)(?:how long|wie lange|cuanto tiempo|combien de temps|quanto tempo)(?!\w)")
PEOPLE = re.compile(
    r"people|persons?|members|users?|personen|leute|menschen|mitglieder|personnes|gens|membres|personas|gente|miembros"
)
WHO = re.compile(r"\W*(?:who|wer|qui|quien(?:es)?|chi)\b")
FAST = re.compile(
    r"(?<!\w)(?:fastest|slowest|quickest|schnellst|langsamst|(?:mas|plus|piu|mais) (?:rapid|lent|vite|veloc))\w*"
)
"""They ask for a time, whatever else a row states. The fastest takes the least of it."""
IMPLIED = {
    MASS: re.compile(
        r"(?<!\w)(?:heav\w+|lightest|lighter|schwerste\w*|schwerer|leichteste\w*"
        r"|(?:mas|plus|piu|mais) (?:pesad|lourd|leger|liger)\w*)(?!\w)"
    ),
    LENGTH: re.compile(
        r"(?<!\w)(?:how far|far\w+est|wie weit|am weitesten|weiteste\w*|(?:mas|plus) (?:lejos|loin))(?!\w)"
    ),
    MONEY: re.compile(
        r"(?<!\w)(?:expensive|cheap\w*|teurer|teuerste\w*|billig\w*|gunstig\w*"
        r"|(?:mas|plus|piu|mais) (?:car[oa]s?|barat\w+|chere?s?)"
        r"|moins cher\w*|cuest\w+)(?!\w)"
    ),
}
"""What is measured by how it is asked for, where rows state several measures."""
SLOW = re.compile(r"slowest|langsamst\w*|(?:mas|plus|piu|mais) lent\w*")
GROUP_SUPERLATIVE = re.compile(
    r"(?:the )?(?:most|fewest|least)|(?:die |am )?(?:meisten|wenigsten)|mas|menos|le (?:plus|moins)(?: de?)?"
)
"""They ask for whom or what a total is the greatest or the least."""
OF_TIME = re.compile(
    r"(?<!\w)(?:\w*times?|long\w*|short\w*|durations?|latency|\w*zeit(?:en)?|\w*dauer|lang\w*|kurz\w*|temps|duree\w*|court\w*"
    r"|tiempos?|duracion\w*|larg\w*|cort[oa]s?|tempo|durata|duracao)(?!\w)"
)
"""They may ask for a time, where a row states other measures too."""
WORKED = re.compile(
    r"work(?:ed|ing)?|log(?:ged)?|track(?:ed)?|record(?:ed)?|gearbeitet|arbeite\w*|erfasst|gebucht|travail\w+|enregistr\w+"
    r"|trabaj\w+|lavorat\w+|trabalh\w+"
)
"""They say of hours what hours are for: a row need not have them."""
MEASURED = re.compile(rf"(?<!\w)(?:{MONEY_WORDS})(?!\w)")
TIMED = re.compile(rf"(?<!\w)(?:{TIME_WORDS})(?!\w)")
ASKING = re.compile(rf"(?<!\w)(?:{ASKING_WORDS})(?!\w)")
