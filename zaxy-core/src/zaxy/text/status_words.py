"""Words by which people ask where things stand, kept by hand for each language and state.

An entry is a word or a few words as people write them, parted by commas. `*` stands for any ending. `filler` has words
that belong to such questions and name no topic. In Chinese, Japanese and Korean an entry is looked for anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from zaxy.text.languages import language_of
from zaxy.text.tokens import folded

DECIDED, BLOCKED, OPEN, NEXT, LEFT_OFF, FAILED, DONE, GOALS = (
    "decided", "blocked", "open", "next", "left_off", "failed", "done", "goals"
)  # fmt: skip
TASKS, PROBLEMS = "tasks", "problems"
"""Beside the states: which kind of thing is meant."""
MANNER = "manner"
"""That a way is asked for, and not a state: `how do we treat an open door?`"""
FILLER = "filler"
MAX_GUESSED_WORDS = 8
"""A question that is no longer may be in another language than its words seem to say."""

_TABLES = {
    DECIDED: """
en: decid*, decision*, agree on, agreed, settle on, settled on, chose, chosen, go with, went with, conclusion*
de: entschied*, entscheid*, beschloss*, beschlüss*, beschluss*, vereinbar*, ausgemacht, festgelegt, geeinigt, einigten
fr: décid*, décision*, convenu*, choisi*, tranch*, arrêté*, retenu*
es: decid*, decisión, decisiones, acord*, acuerdo*, eleg*, quedamos en, en qué quedamos, hemos quedado en
it: decis*, decid*, stabilit*, concordat*, scelt*, convenut*
pt: decid*, decisão, decisões, acord*, combin*, escolh*, ficou decidido
nl: beslist*, beslot*, besluit*, beslis*, afgesproken, spraken af, gekozen, overeengekomen
pl: zdecydow*, ustal*, postanow*, decyzj*, uzgodni*, wybra*
ru: решил*, решен*, решени*, договорил*, выбрал*, постановил*
tr: karar*, kararlaşt*, anlaşt*, seçtik
sv: bestäm*, beslut*, kom överens, kommit överens, valde*, valt
ja: 決め, 決定, 決まっ, 決まり, 合意
zh: 决定, 決定, 定下, 商定, 敲定, 说好, 決議, 决议
ko: 결정, 정했, 합의, 정하기로
""",
    BLOCKED: """
en: blocker*, blocked, blocking, blocks, block us, stuck, held up, holding up, holding us up, holding us back,
    hold us up, in the way, in our way, waiting on, waiting for, impediment*, obstacle*
de: blockier*, blocker*, hängt, hängen wir, woran hapert, hapert, hindert, hindernis*, steht im weg, stehen im weg,
    klemmt, hält uns auf, aufgehalten, warten wir
fr: bloqu*, blocage*, coinc*, empêche*, obstacle*, freine*, en attente de
es: bloque*, atasc*, impid*, frena*, obstáculo*, trabad*, parad* por
it: blocc*, ostacol*, impedi*, ferm* su, frena, in attesa di
pt: bloque*, empaca*, imped*, trava*, obstáculo*, à espera de, parad* por
nl: blokk*, geblokk*, houdt ons tegen, tegenhoudt, belemmer*, loopt vast, vastgelopen, in de weg, wachten we op
pl: bloku*, zablokow*, blokad*, utkn*, przeszk*, wstrzymu*, czekamy na
ru: блокир*, заблокир*, мешает, мешают, застря*, препятств*, тормозит, держит нас
tr: engel*, tıkan*, takıl*, bloke*, önümüzdeki sorun
sv: blocker*, hindr*, hinder, fastnat, sitter fast, står i vägen, väntar vi på
ja: ブロック, 妨げ, 詰まっ, 止まって, 障害, 阻ん
zh: 阻碍, 阻塞, 卡住, 卡在, 阻挡, 受阻, 障碍, 阻礙
ko: 막고, 막혀, 막히, 걸림돌, 방해, 블로커
""",
    OPEN: """
en: open, unresolved, outstanding, pending, remaining, remains, unfinished, left to do, left over, is left,
    what's left, still missing, todo, todos, to-do, to-dos, undecided
de: offen*, ungelöst*, unerledigt*, ausstehend*, steht noch aus, stehen noch aus, aussteht, übrig, fehlt noch,
    fehlen noch, anstehend*
fr: ouvert*, en suspens, en cours, non résolu*, reste*, en attente, à régler, pas encore fait
es: abiert*, pendient*, sin resolver, falta*, queda por*, quedan por*, queda pendiente
it: apert*, in sospeso, irrisolt*, rimane da, rimangono da, resta da, restano da, manca*, pendent*
pt: abert*, pendent*, em aberto, por resolver, falta*, por fazer
nl: open, openstaan*, onopgelost*, staat uit, resteert, over te doen, nog te doen, onafgerond*
pl: otwart*, nierozwiąz*, zaległ*, pozosta*, niezałatwion*, zostało do
ru: открыт*, нерешен*, нерешён*, осталось, осталис*, незаверш*, висит, висят, не сделано
tr: açık, bekleyen*, çözülme*, kalan*, eksik*
sv: öppna, öppet, öppen, olöst*, återstår, kvar, ogjort, utestående
ja: 未解決, 未完了, 残って, 残り, オープン, 未対応, 未決
zh: 未解决, 未完成, 待办, 还没, 剩下, 悬而未决, 没解决, 未決, 未处理
ko: 미해결, 남은, 남아, 미완료, 열려 있는, 열린
""",
    NEXT: """
en: next, next step*, upcoming, to be done, should be done, needs doing, needs to be done, have to do, has to do,
    need to do, needs to do, do now, coming up, what's the plan, what is the plan,
    should we do
de: nächst*, als nächstes, weiter, zu tun, ansteht, steht an, stehen an
fr: ensuite, prochain*, la suite, étape suivante, à faire, faut-il faire, après
es: siguient*, próxim*, qué sigue, sigue ahora, a continuación, toca hacer, hay que hacer, por hacer, toca ahora
it: prossim*, da fare, dopo, poi, successiv*, seguit*
pt: próxim*, a seguir, seguinte*, que fazer, para fazer, que se segue, vem depois
nl: volgende*, hierna, te doen, vervolg*, verder
pl: dalej, następn*, kolejn*, do zrobienia, teraz robimy
ru: дальше, далее, следующ*, предстоит, делать теперь
tr: sırada*, sıradaki, sonraki, bundan sonra, yapılacak*, yapmalı*
sv: nästa, härnäst, att göra, framöver
ja: 次は, 次に, 次の, 次何, これから何, やるべき
zh: 下一步, 接下来, 接下來, 然后做, 下一个
ko: 다음, 이제 뭘, 앞으로 할
""",
    LEFT_OFF: """
en: where were we, where are we, where did we leave off, left off, leave off, left it, did we stop,
    where do we stand, things stand, stand with, pick up where, catch me up, up to speed, how far, status, progress,
    state of, going on, recap, summary, overview, so far, continue, resume, came of, became of, turn out, turned out,
    were we doing, was i doing, working on, any news, what's new, any update*, last time, last session
de: wo waren wir, wo sind wir, wo stehen wir, wo steht, stehen geblieben, stehengeblieben, aufgehört, wie weit,
    stand, stand der dinge, status, fortschritt*, überblick, zusammenfass*, weitermachen, bisher
fr: où en étions-nous, où en sommes-nous, où en est*, où en sont, on en était, on en est, nous sommes-nous arrêtés,
    arrêtés, avancement, statut, état, bilan, récapitul*, résumé, reprendre
es: dónde estábamos, dónde nos quedamos, dónde quedamos, en qué punto, por dónde íbamos, cómo va*, cómo vamos,
    estado, avance*, resumen, progreso, retomar, hasta ahora
it: dove eravamo, a che punto, rimasti, dove siamo, stato, avanzament*, riepilog*, riassunt*, riprendere, come va
pt: onde estávamos, onde ficámos, onde ficamos, onde paramos, onde parámos, em que ponto, como está, como vai,
    estado, andamento, progresso, resumo, retomar, status
nl: waar waren we, waar zijn we, waar staan we, gebleven, hoe ver, hoe staat het, stand van zaken, status,
    voortgang, samenvatting, overzicht, tot nu toe
pl: jak tam, na czym stan*, gdzie skończ*, na czym skończ*, na jakim etapie, gdzie jesteśmy, jak stoi*, stan,
    status, postęp*, podsumow*, jak daleko, do tej pory
ru: на чем мы останов*, на чём мы останов*, остановил*, где мы, как дела с, на каком этапе, статус, прогресс,
    состояни*, сводк*, итог*, продолж*, что у нас с
tr: nerede kal*, kalmıştık, kaldık, ne durumda*, durum*, ilerleme, özet*, devam, hangi aşamada*
sv: var var vi, var är vi, var står vi, var slutade, någonstans, hur långt, hur går, läget, status, framsteg,
    sammanfatt*, hittills
ja: どこまで, 進ん, 進み, 進捗, 状況, 現状, 続き, まとめ, ステータス
zh: 到哪, 进展, 进度, 進度, 現況, 现状, 状态, 情况, 上次, 总结, 继续
ko: 어디까지, 진행, 상황, 현황, 요약, 진척, 이어서
""",
    FAILED: """
en: fail*, went wrong, go wrong, gone wrong, going wrong, broke, broken, crashed, did not work, didn't work,
    doesn't work, not working
de: fehlgeschlagen*, fehlschlag*, schlug fehl, schlugen fehl, schiefgegang*, schief, gescheitert*, scheitert*,
    kaputt, nicht geklappt, nicht funktioniert, durchgefallen*
fr: échou*, échec*, raté*, mal tourné, en panne, cassé*, pas marché, pas fonctionné
es: falló, fall*, fracas*, salió mal, salido mal, roto*, rota*, no funcion*
it: fallit*, fallisc*, andat* storto, andat* male, rott*, non ha funzionato, non funzion*
pt: falh*, correu mal, deu errado, deram errado, avari*, quebr*, não funcion*
nl: mislukt*, gefaald*, faal*, misgegaan, mis, fout gegaan, kapot, niet gelukt, niet gewerkt
pl: nie powiod*, nie uda*, niepowodz*, zawiod*, zepsu*, awari*, nie działa*
ru: провал*, не удал*, упал*, сломал*, не сработал*, не работает, неудач*, пошло не так
tr: başarısız*, bozul*, ters git*, çalışma*, hata verdi, patla*
sv: misslyck*, gick fel, gått fel, trasig*, fungerade inte, fungerar inte, sprack
ja: 失敗, 壊れ, うまくいかなかっ, 落ち, 不合格
zh: 失败, 失敗, 出错, 出了问题, 坏了, 没通过, 未通过
ko: 실패, 잘못, 고장, 깨졌
""",
    DONE: """
en: done, finished, completed, accomplished, closed, resolved, solved, fixed, shipped, settled
de: erledigt*, fertig*, abgeschloss*, geschafft, behoben*, gelöst*
fr: fini*, terminé*, achevé*, accompli*, résolu*, réglé*, fait
es: hecho*, terminad*, acabad*, complet*, resuelt*, listo*
it: fatto, finit*, completat*, conclus*, risolt*, chius*
pt: feito*, terminad*, concluíd*, acabad*, resolvid*, pronto*
nl: klaar, afgerond*, gedaan, voltooid*, opgelost*, af
pl: zrobion*, skończon*, ukończon*, gotow*, załatwion*, rozwiązan*, zakończon*
ru: сделан*, сделали, готов*, заверш*, закончен*, исправлен*, закрыт*
tr: bitti*, bitmiş, tamamla*, yapıldı, çözüldü
sv: klar*, färdig*, avslutad*, gjort, löst*
ja: 完了, 終わっ, 終わり, 済ん, 解決し, 直っ
zh: 完成了, 做完, 已完成, 解决了, 弄好, 搞定
ko: 완료, 끝났, 끝난, 해결됐, 다 했
""",
    GOALS: """
en: goal*, aim, aims, objective*, priorit*, roadmap, direction
de: ziel*, priorität*
fr: objectif*, but, buts, priorité*, feuille de route
es: objetivo*, meta*, prioridad*
it: obiettiv*, priorità, scopo
pt: objetivo*, meta*, prioridade*
nl: doel, doelen, doelstelling*, prioriteit*
pl: cel, cele, celem, priorytet*
ru: цель, цели, целей, приоритет*
tr: hedef*, amaç*, öncelik*
sv: mål, målet, målen, prioritet*
ja: 目標, 目的, 優先
zh: 目标, 目標, 优先
ko: 목표, 우선순위
""",
    TASKS: """
en: task, tasks, action item*, chore*, work item*, assignment*
de: aufgabe*
fr: tâche*
es: tarea*
it: compit*, attività
pt: tarefa*
nl: taak, taken
pl: zadani*
ru: задач*
tr: görev*
sv: uppgift*
ja: タスク, 作業
zh: 任务, 任務
ko: 작업, 할 일
""",
    PROBLEMS: """
en: issue, issues, bug, bugs, problem, problems
de: problem, probleme, fehler
fr: problème*, bogue*, bug, bugs
es: problema*, incidencia*, errores
it: problem*, bug
pt: problema*, bug, bugs
nl: probleem, problemen, fout, fouten, bug, bugs
pl: problem, problemy, błęd*
ru: проблем*, ошибк*, баг, баги
tr: sorun*, hata, hatalar
sv: problem*, fel, bugg*
ja: 問題, 不具合, バグ
zh: 问题, 問題, 缺陷
ko: 문제, 버그, 오류
""",
    MANNER: """
en: how
de: wie
fr: comment
es: cómo
it: come
pt: como
nl: hoe
pl: jak
ru: как
tr: nasıl
sv: hur
ja: どうやって, どのように
zh: 怎么, 如何, 怎麼
ko: 어떻게
""",
    FILLER: """
en: step, steps, us, we, our, still, yet, already, currently, current, now, right now, today, lately, recent,
    recently, latest, thing, things, stuff, items, project, work, session, context, anything, everything, list,
    show, tell, remind, important, update, updates, background, history, memory, preference*, plan, plans, do, make,
    give, please, else, actually, come, from
de: schritt, schritte, wir, uns, haben, hatten, noch, gerade, aktuell, derzeit, denn, alles, kommt, geht, gehen,
    sind, waren, beim, bei, mit, es, woran, was, als, punkt*, projekt, arbeit, sache*, dinge, stehen, jetzt, alle,
    kam, heraus
fr: étape*, nous, avons-nous, avons, avions, sommes-nous, étions-nous, est-ce, qu'est-ce, encore, actuellement,
    projet, travail, toujours, a-t-on, on, ont, été, faut-il, maintenant, choses
es: paso, pasos, hemos, habíamos, nos, todavía, aún, ahora, actualmente, proyecto, trabajo, está*, quedó, qué,
    cosas, hay, con
it: passo, passi, abbiamo, avevamo, siamo, eravamo, ci, ancora, adesso, attualmente, progetto, lavoro, cosa, cose,
    sono, c'è, quali
pt: passo, passos, nós, vem, temos, tínhamos, ainda, agora, atualmente, projeto, trabalho, está, estamos, ficou,
    coisas, nos, há, foi, foram
nl: stap, stappen, we, wij, ons, hebben, hadden, nog, nu, momenteel, project, werk, staat, staan, er, is, zijn,
    waren, wat, waar, zaken
pl: krok, kroki, my, nas, nam, czym, jeszcze, teraz, obecnie, projekt, praca, co, wciąż, nadal, są, mamy, rzeczy, było
ru: шаг, шаги, мы, нас, нам, еще, ещё, сейчас, что, чем, проект*, работа, у, все, всё, было, были, какие
tr: adım*, biz, bizi, bize, hâlâ, hala, şu an, şimdi, proje, iş, ne, neler, nedir, verdik, verildi, aldık, alındı,
    hangi, var, olan, henüz
sv: steg, vi, oss, har, hade, ännu, fortfarande, nu, just nu, projekt*, arbete, är, det, vad, var, finns, som
ja: ステップ, なに, 私たち, 我々, まだ, 現在, ました, ましたか, です, ですか, ますか, 教えて, いる, いた, もの,
    こと, する, した
zh: 步骤, 我们, 我們, 什么, 什麼, 哪些, 还有, 還有, 现在, 現在, 目前
ko: 단계, 우리, 우리가, 뭘, 뭐, 무엇, 무엇을, 무엇이, 아직, 지금, 현재, 했지, 했나요, 있어, 있나요, 있는, 인가요,
    이야, 뭐야, 뭐가, 것
""",
}
_UNSPACED = frozenset(("ja", "zh", "ko"))
_VALUES = (FAILED, DONE, BLOCKED)
"""The states that the value of a field may name."""


class StatusWords(NamedTuple):
    """What the words of a question ask of where things stand."""

    states: frozenset[str]
    rest: str
    """The question without those words, folded: what is left is its topic."""


class _Entries(NamedTuple):
    pattern: re.Pattern[str]
    """One group for each entry; a longer one is tried first."""
    states: tuple[str, ...]
    """Of each group."""


def status_words(question: str) -> StatusWords:
    """The states that a question names. Where none is named its words do not ask where things stand."""
    plain, language = folded(question).replace("’", "'"), language_of(question)
    found = _found(plain, language if language in LANGUAGES else "en")
    if not found.states and language != "en" and len(plain.split()) <= MAX_GUESSED_WORDS:
        others = [_found(plain, other) for other in LANGUAGES if other != language]
        found = min([other for other in others if other.states], key=lambda one: len(one.rest.split()), default=found)
    return found


@lru_cache(4096)
def state_of_value(text: str) -> str:
    """The state that the value of a field such as `status` or `result` begins with, in any language; else nothing."""
    entries = _of_values()
    found = entries.pattern.match(folded(text.strip()[:200]))
    return entries.states[found.lastindex - 1] if found and found.lastindex else ""


def _found(plain: str, language: str) -> StatusWords:
    entries = _of_language(language)
    states: set[str] = set()
    kept, end = [], 0
    for match in entries.pattern.finditer(plain):
        states.add(entries.states[(match.lastindex or 1) - 1])
        kept.append(plain[end : match.start()])
        end = match.end()
    named = states - {FILLER, MANNER} if MANNER not in states or LEFT_OFF in states else ()
    return StatusWords(frozenset(named), " ".join([*kept, plain[end:]]))


@cache
def _of_language(language: str) -> _Entries:
    return _entries([(entry, state) for state in _TABLES for entry in _rows(state)[language]], language)


@cache
def _of_values() -> _Entries:
    return _entries([(entry, state) for state in _VALUES for of_one in _rows(state).values() for entry in of_one], "")


def _entries(entries: Iterable[tuple[str, str]], language: str) -> _Entries:
    by_length = sorted(entries, key=lambda one: -len(one[0]))
    words = [re.escape(entry).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for entry, _ in by_length]
    border = ("", "") if language in _UNSPACED else (r"(?<!\w)", r"(?!\w)")
    pattern = "|".join([f"({border[0]}{word}{border[1]})" for word in words])
    return _Entries(re.compile(pattern), tuple(state for _, state in by_length))


@cache
def _rows(state: str) -> dict[str, list[str]]:
    """The entries of a state, by language."""
    lines = _TABLES[state].replace("\n    ", " ").strip().splitlines()
    return {line[:2]: [folded(entry.strip()) for entry in line[3:].split(",")] for line in lines}


LANGUAGES = tuple(_rows(DECIDED))
