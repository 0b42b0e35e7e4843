"""The team whose year it is: what happens to its people and projects, and what may be asked about that later."""

from __future__ import annotations

from collections import defaultdict

from bench.recall import conversation as said, frames, vocabulary
from bench.recall.agenda import DAYS, WINDOW, Agenda, Planned
from bench.recall.dice import Dice

OFFICE = "chat/office"
APART = 2 * WINDOW + 8
"""Days between two values of the same thing, at least."""
MONTHS = "January February March April May June July August September October November December".split()
NOW = ("{q}?", "{q} now?", "{q} by now?", "{q} in the end?")


class Team:
    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self.people = dice.some(vocabulary.PEOPLE, dice.whole(18, 26))
        self.projects = dice.some(vocabulary.PROJECTS, dice.whole(6, 8))
        self.asked: defaultdict[str, list[tuple[str, list[Planned]]]] = defaultdict(list)
        """By kind: the question, and the events that answer it."""
        self._texts: set[str] = set()
        self._agenda = Agenda(dice, self.people)
        self._plain: dict[tuple[str, int], tuple[str, Planned]] = {}
        """What a project's slot was once and for all settled on: the question, and the event."""
        self._habits: dict[tuple[str, int], Planned] = {}
        self._series: list[tuple[str, frames.Series, list[Planned]]] = []
        self._releases: dict[str, Planned] = {}

    def live(self) -> list[Planned]:
        """The whole year, oldest first."""
        for project in self.projects:
            self._decide(project)
            self._discuss(project)
            self._measure(project)
            self._work(project)
            self._document(project)
        for person in self.people:
            self._live_one(person)
        self._relate()
        self._opine()
        self._complain()
        self._paraphrase()
        self._work_on()
        order = self._agenda.in_order()
        self._ask_about_times()
        return order

    def _ask(self, kind: str, text: str, *gold: Planned) -> None:
        if text not in self._texts:
            self._texts.add(text)
            self.asked[kind].append((text, list(gold)))

    def _day(self) -> int:
        return self._dice.whole(0, DAYS)

    def _others(self, person: str, most: int) -> list[str]:
        return self._dice.some([other for other in self.people if other != person], most)

    # Decisions on a project, some of them changed later

    def _decide(self, project: str) -> None:
        dice = self._dice
        for number, slot in enumerate(vocabulary.SLOTS):
            versions = dice.pick((1, 1, 1, 2, 2, 3, 4))
            values = dice.some(slot.values, versions)
            first = dice.whole(0, DAYS - APART * (versions - 1))
            days = [first + APART * place for place in range(versions)]
            keyed = dice.pick(("key", "citation", "none"))
            told: list[Planned] = []
            for place, (day, value) in enumerate(zip(days, values, strict=True)):
                event, form = self._settle(project, slot, day, value, keyed, told)
                told.append(event)
                question = self._question(project, slot, event)
                if place < versions - 1:
                    continue
                if versions > 1:
                    self._ask("changed", dice.pick(NOW).format(q=question[:-1]), event)
                elif form == "asked":
                    self._ask("neighbour", question, event)
                else:
                    self._ask("single", question, event)
                    self._plain[project, number] = (question, event)
            for _ in range(dice.whole(0, 2)):
                text = dice.pick(said.MENTIONS).format(n=dice.pick(slot.names), p=project)
                self._agenda.talk(self._day(), self._channel(project), (dice.pick(self.people), text))

    def _question(self, project: str, slot: vocabulary.Slot, event: Planned) -> str:
        """In words of its own, or with the name that was used."""
        if self._dice.chance(0.3):
            return self._dice.pick(slot.asked).format(p=project)
        text = " ".join(map(str, event.payload.values()))
        used = next((name for name in slot.names if name in text), slot.names[0])
        return self._dice.pick(said.WHICH).format(n=used, p=project)

    def _settle(
        self, project: str, slot: vocabulary.Slot, day: int, value: str, keyed: str, told: list[Planned]
    ) -> tuple[Planned, str]:
        """Say or record what was chosen: the event that tells it, and whether it answers somebody."""
        dice = self._dice
        name = dice.pick(slot.names)
        asker, answerer = dice.some(self.people, 2)
        words = {"p": project, "n": name, "v": value, "b": answerer, "why": dice.pick(said.WHY)}
        channel = self._channel(project)
        form = dice.pick(("settled", "asked", "asked", "decision", "decision", "fact"))
        if form == "settled":
            return self._agenda.talk(day, channel, (asker, dice.pick(said.SETTLED).format(**words)))[0], form
        if form == "asked":
            opening, reply = (said.RAISING, said.CHANGING) if told else (said.ASKING, said.ANSWERING)
            if dice.chance(0.2):
                answerer = "assistant"
            first = (asker, dice.pick(opening).format(**words))
            return self._agenda.talk(day, channel, first, (answerer, dice.pick(reply).format(**words)))[1], form
        if form == "fact":
            payload: dict[str, object] = {"fact": dice.pick(said.SETTLED).format(**words), "subject": project}
            return self._agenda.note(day, "fact.recorded", asker, payload), form
        payload = {"decision": dice.pick(said.DECIDED).format(**words), "rationale": words["why"]}
        if keyed == "key":
            payload["key"] = f"{project}/{slot.names[0]}".lower().replace(" ", "-")
        event = self._agenda.note(day, "decision.made", asker, payload)
        if keyed == "citation" and told:
            event.replaces = told[-1]
        return event, form

    def _channel(self, project: str) -> str:
        return self._dice.pick((f"chat/{project.lower()}", f"chat/{project.lower()}", "call"))

    # Topics that run through an episode

    def _discuss(self, project: str) -> None:
        for incident in self._dice.some(said.INCIDENTS, 5):
            words = {"p": project, "n": self._dice.whole(3, 90)}
            speakers = self._dice.some(self.people, 4)
            lines = [(speakers[0], incident.opening.format(**words))]
            for place, text in enumerate(incident.turns, 1):
                lines.append((speakers[place % len(speakers)], text.format(**words)))
            turns = self._agenda.talk(self._day(), self._channel(project), *lines)
            self._ask("episode", self._dice.pick(incident.asked).format(p=project), *turns)

    # Measurements, over and over

    def _measure(self, project: str) -> None:
        dice = self._dice
        for series in dice.some(frames.SERIES, 3):
            readings: list[Planned] = []
            for day in range(dice.whole(0, 14), DAYS, dice.whole(20, 28)):
                text = dice.pick(series.said).format(p=project, n=dice.whole(series.least, series.most))
                form = dice.pick(("turn", "fact", "command"))
                if form == "turn":
                    readings += self._agenda.talk(day, f"chat/{project.lower()}", (dice.pick(self.people), text))
                elif form == "fact":
                    readings.append(self._agenda.note(day, "fact.recorded", "assistant", {"fact": text}))
                else:
                    command = f"make report PROJECT={project.lower()}"
                    payload: dict[str, object] = {"command": command, "stdout": text, "exit_code": 0}
                    readings.append(self._agenda.note(day, "command.completed", "assistant", payload))
            self._series.append((project, series, readings))
        day = dice.whole(90, DAYS - 60)
        text = f"{project} 2.0 went live today, thanks to everybody who stayed."
        self._releases[project] = self._agenda.talk(day, "chat/general", (dice.pick(self.people), text))[0]

    def _ask_about_times(self) -> None:
        """Only once the year is in order is it known what happened when."""
        for project, series, readings in self._series:
            months: defaultdict[str, list[Planned]] = defaultdict(list)
            for reading in readings:
                months[MONTHS[reading.moment.month - 1]].append(reading)
            for month, within in self._dice.some(months.items(), 2):
                self._ask("time", self._dice.pick(series.asked).format(p=project, t=f"in {month}"), *within)
            one = self._dice.pick(readings)
            day = f"on {one.moment.day} {MONTHS[one.moment.month - 1]}"
            same = [reading for reading in readings if reading.moment.date() == one.moment.date()]
            self._ask("time", self._dice.pick(series.asked).format(p=project, t=day), *same)
            before = [reading for reading in readings if reading.at < self._releases[project].at]
            if before and self._dice.chance(0.4):
                asked = self._dice.pick(series.asked).format(p=project, t="just before the 2.0 release")
                self._ask("time", asked, max(before, key=lambda reading: reading.at))

    # Tickets, with the identifiers that people write down

    def _work(self, project: str) -> None:
        dice = self._dice
        prefix = project[:3].upper()
        number = dice.whole(100, 140)
        for title in frames.TICKETS:
            number += dice.whole(1, 3)
            ticket = f"{prefix}-{number:04}"
            code = f"E{dice.whole(1000, 1400)}"
            day = dice.whole(0, DAYS - 30)
            opener, taker = dice.some(self.people, 2)
            text = f"{title} ({project})"
            self._agenda.note(day, "task.proposed", opener, {"id": ticket, "task": text})
            self._agenda.note(day + 2, "task.claimed", taker, {"id": ticket, "task": text})
            mention = f"Anything new on {ticket}? My customer keeps calling."
            reply = f"It throws {code} here, but only sometimes."
            _, seen = self._agenda.talk(day + 4 + WINDOW, self._channel(project), (opener, mention), (taker, reply))
            cause = dice.pick(frames.CAUSES)
            diagnosis: dict[str, object] = {"id": ticket, "issue": f"{title}: {code}", "cause": f"It was {cause}."}
            found = self._agenda.note(day + 6 + WINDOW, "issue.diagnosed", taker, diagnosis)
            commit = "".join(dice.pick("0123456789abcdef") for _ in range(9))
            done: dict[str, object] = {"id": ticket, "task": text, "result": f"Fixed in {commit}, released."}
            closed = self._agenda.note(day + 9 + WINDOW, "task.completed", taker, done)
            ask = dice.pick(
                (
                    (f"What was the reason behind {ticket}?", found),
                    (f"Who finished the work on {ticket}?", closed),
                    (f"Which commit resolved {ticket}?", closed),
                    (f"What error did the developer see for {ticket}?", seen),
                )
            )
            self._ask("identifier", *ask)

    # Documents

    def _document(self, project: str) -> None:
        for page in self._dice.some(frames.PAGES, 5):
            day, line = self._day(), 3
            for text, question in page.passages:
                payload: dict[str, object] = {
                    "path": page.path.format(q=project.lower()),
                    "title": page.title.format(p=project),
                    "text": text.format(n=self._dice.whole(2, 48)),
                    "start_line": line,
                    "end_line": line + 8,
                }
                line += 10
                event = self._agenda.note(day, "document.indexed", "assistant", payload)
                self._ask("document", question.format(p=project), event)

    # People

    def _live_one(self, person: str) -> None:
        dice = self._dice
        role = dice.pick(vocabulary.ROLES)
        team = dice.pick(self.projects)
        fact: dict[str, object] = {"fact": f"{person} works as a {role}, mostly for {team}.", "subject": person}
        event = self._agenda.note(dice.whole(0, 20), "fact.recorded", "assistant", fact)
        self._ask("single", f"As what does {person} work?", event)
        for number in dice.some(range(len(vocabulary.HABITS)), 6):
            self._habits[person, number] = self._show_habit(person, vocabulary.HABITS[number])
        for thing, values in dice.some(vocabulary.PREFERENCES, 2):
            first = dice.whole(0, DAYS - 2 * APART)
            keyed = dice.chance(0.5)
            versions = dice.some(values, 3)
            for place, value in enumerate(versions):
                payload: dict[str, object] = {"user": person, "preference": f"{thing} {value}"}
                if keyed:
                    payload["key"] = f"{person}/{thing}".lower().replace(" ", "-")
                event = self._agenda.note(first + place * APART, "user.preference_changed", person, payload)
            self._ask("changed", f"How does {person} like {thing} now?", event)

    def _show_habit(self, person: str, habit: vocabulary.Habit) -> Planned:
        dice = self._dice
        value = dice.pick(habit.values)
        other = self._others(person, 1)[0]
        question = dice.pick(habit.question).format(a=person)
        form = dice.pick(("own", "own", "told", "asked", "asked"))
        channel = dice.pick((OFFICE, "chat/general", "call"))
        words = {"a": person, "v": value}
        if form == "asked":
            first = (other, dice.pick(habit.asked).format(**words))
            event = self._agenda.talk(self._day(), channel, first, (person, dice.pick(habit.answer).format(**words)))[1]
            self._ask("neighbour", question, event)
        elif form == "own":
            event = self._agenda.talk(self._day(), channel, (person, dice.pick(habit.own).format(**words)))[0]
            self._ask("speaker", question, event)
        else:
            event = self._agenda.talk(self._day(), channel, (other, dice.pick(habit.told).format(**words)))[0]
            self._ask("single", question, event)
        return event

    def _relate(self) -> None:
        """How people belong together, and questions that need two events: both sides, or one step on."""
        dice = self._dice
        for number, person in enumerate(self.people):
            text, question = vocabulary.RELATIONS[number % len(vocabulary.RELATIONS)]
            other = self._others(person, 1)[0]
            line = (dice.pick(self.people), text.format(a=person, b=other))
            relation = self._agenda.talk(self._day(), "chat/general", line)[0]
            self._ask("single", question.format(a=person), relation)
            known = [(habit, event) for (who, habit), event in self._habits.items() if who == other]
            habit, event = dice.pick(known)
            role = ("manager", "mentor", "fellow student", "desk neighbour", "deputy")[number % 5]
            if dice.chance(0.25):
                whose = vocabulary.HABITS[habit].question[0].format(a=f"the {role} of {person}")
                self._ask("multi", whose, relation, event)
            rivals = [(who, shown) for (who, same), shown in self._habits.items() if same == habit and who != other]
            if rivals:
                rival, shown = dice.pick(rivals)
                asked = dice.pick(vocabulary.HABITS[habit].question).format(a=other)
                self._ask("multi", f"{asked} And {rival}?", event, shown)
        for (project, number), (question, event) in self._plain.items():
            rivals = [(who, one[1]) for (who, same), one in self._plain.items() if same == number and who != project]
            if rivals and dice.chance(0.7):
                rival, shown = dice.pick(rivals)
                self._ask("multi", f"{question} And {rival}?", event, shown)

    # What everybody talks about

    def _opine(self) -> None:
        dice = self._dice
        for matter in said.MATTERS:
            voices = dice.some(self.people, 10)
            for start in range(0, 10, 5):
                named = [(dice.pick(self.people), dice.pick(said.ON_MATTERS).format(m=matter.name))]
                for voice in voices[start : start + 5]:
                    pool = said.OPINIONS if dice.chance(0.8) else said.OPINIONS_OF_IT
                    named.append((voice, dice.pick(pool).format(m=matter.name, e=dice.pick(said.EFFECTS))))
                turns = self._agenda.talk(self._day(), dice.pick((OFFICE, "chat/general", "call")), *named)
                for voice, event in zip(voices[start : start + 5], turns[1:], strict=True):
                    asked = dice.pick(said.ON_OPINIONS).format(a=voice, m=dice.pick((matter.name, *matter.asked)))
                    self._ask("said_about", asked, event)

    def _complain(self) -> None:
        dice = self._dice
        for complaint in said.COMPLAINTS:
            for person, (detail, asked) in zip(dice.some(self.people, 14), said.DETAILS, strict=True):
                text = dice.pick(complaint.said).format(d=detail)
                event = self._agenda.talk(self._day(), dice.pick((OFFICE, "chat/general", "agent")), (person, text))[0]
                if dice.chance(0.5):
                    self._ask("who_said", f"Who said that {complaint.asked} {asked}?", event)
                else:
                    how = dice.pick(("What did {a} report about {c}?", "When {a} brought up {c}, what was it?"))
                    self._ask("who_said", how.format(a=person, c=complaint.asked), event)

    def _paraphrase(self) -> None:
        dice = self._dice
        for text, question in frames.PARAPHRASES:
            for project in dice.some(self.projects, 3):
                words = {"p": project, "a": dice.pick(self.people), "n": dice.whole(2, 60)}
                channel = dice.pick((self._channel(project), "agent"))
                event = self._agenda.talk(self._day(), channel, (dice.pick(self.people), text.format(**words)))[0]
                self._ask("paraphrase", question.format(p=project), event)

    def _work_on(self) -> None:
        for _ in range(160):
            command, output = self._dice.pick(frames.COMMANDS)
            payload: dict[str, object] = {
                "command": command,
                "stdout": output.format(n=self._dice.whole(2, 900)),
                "exit_code": 0,
            }
            self._agenda.note(self._day(), "command.completed", "assistant", payload)
