"""What is said in the histories' conversations: opinions, complaints, incidents, small talk."""

from __future__ import annotations

from typing import NamedTuple

SETTLED = (
    "For {p} we settled on {v} as the {n}.",
    "Quick update on {p}: the {n} is going to be {v}.",
    "Just so that it is written down somewhere, {v} is the {n} of {p}.",
    "After the call yesterday the {n} of {p} is {v}.",
    "{p} will have {v} for its {n}, nobody objected.",
)
ASKING = (
    "{b}, what did you end up with for the {n} of {p}?",
    "Do we have an answer on the {n} for {p} yet?",
    "Remind me, what about the {n} of {p}?",
    "Somebody outside asked me for the {n} of {p}, and I had no idea. {b}?",
    "{b}, one more thing about {p}: the {n}?",
)
ANSWERING = (
    "{v}. {why}",
    "It's {v}. {why}",
    "We went with {v} in the end. {why}",
    "On {p} we have {v} as {n} now. {why}",
    "The {n} there is {v}. {why}",
    "{p} gets {v} as its {n}. {why}",
)
CHANGING = (
    "We are swapping that one for {v}. {why}",
    "That is off the table, it will be {v}. {why}",
    "Change of plan: {p} takes {v} as its {n}. {why}",
    "Scrap what we had there, the {n} of {p} is {v} now. {why}",
)
WHICH = ("What is the {n} of {p}?", "What was chosen as {n} for {p}?", "Which {n} does {p} have?")
RAISING = (
    "About the {n} of {p}, which we had closed already:",
    "I have to come back to {p} and its {n}.",
    "Bad news, the {n} we chose for {p} does not hold.",
    "The {n} of {p} is open again.",
)
DECIDED = (
    "Use {v} as the {n} of {p}",
    "{p}: {n} is {v}",
    "Take {v} for the {n} in {p}",
    "Set the {n} of {p} to {v}",
)
WHY = (
    "Ops already know how to handle that.",
    "The others were too dear.",
    "Legal insisted.",
    "It was the only offer in time.",
    "The customer asked for it by name.",
    "Everything else failed in the trial.",
    "Not my favourite, but it will do.",
    "We can still revisit in autumn.",
    "The vote was close.",
    "It came down to support hours.",
    "Nobody wanted to maintain the other thing.",
    "Finance signed off this morning.",
    "I lost that argument.",
    "Two teams have good experience there.",
)
MENTIONS = (
    "Nobody has updated the wiki page on the {n} of {p}.",
    "I have questions about the {n} for {p}, but they can wait.",
    "Can somebody explain the {n} of {p} to the new people on Thursday?",
    "The {n} of {p} came up again with the auditors, no outcome yet.",
    "Slide four still shows the {n} of {p} from last year.",
    "For the record, I never liked how we chose the {n} of {p}.",
    "Who wrote the page about the {n} of {p}? It is very good.",
    "We should use {p} as the example when we teach people about a {n}.",
    "I dreamt about the {n} of {p}. I need leave.",
)
ASIDES = (
    "I know that this is not what everybody had hoped for.",
    "Tell me if you see that differently, or who does.",
    "Which is what we said in the first place, when nobody would listen.",
    "I am not sure how that came about, and where it was said.",
    "That is all I know, so please do not ask me why it is like that.",
    "Did you get the mail on this? It does not say much.",
    "What else was there? I had a list of what to bring up.",
    "If there is anything that I forgot, then say so.",
    "I do not know who has to hear of it, and how.",
    "Where we go from there is what the others have to say.",
    "When I was told of this, I did not know what to say.",
    "It is on the page, if you know where to look and for which word.",
    "As for what does or does not follow from this, we will see.",
    "What do you make of it? And does it change how we go on?",
    "Was it you who wanted to know? Or which of us was it?",
    "How does it look from where you are?",
    "And that was that, which is more than I can say of the rest.",
    "I will be in and out today, so it is best to write to me.",
    "By the way, what was the thing with the door, and who has a key to it?",
    "The rest of it I have on paper, and that is where it is for now.",
)
SMALL_TALK = (
    "Good morning all.",
    "Is the heating broken again or is it me?",
    "One second, the door.",
    "Ha, fair enough.",
    "Can you hear me now?",
    "Lunch at half past twelve?",
    "Thanks, that helps.",
    "Noted.",
    "Sorry, I was on mute.",
    "My screen froze, what did I miss?",
    "Let's take that offline.",
    "Agreed.",
    "Not sure I follow, but go on.",
    "That printer is going to be the end of me.",
    "Have a good weekend, everybody.",
    "Somebody left a cake in the kitchen.",
    "I need five minutes, then I'm back.",
    "Makes sense to me.",
    "Oh no.",
    "Could you share the link?",
    "I'll write it up later.",
    "It rains again.",
    "Right, next point.",
    "We said that last week too.",
    "Okay, who takes notes?",
)


class Matter(NamedTuple):
    """Something that everybody has an opinion on, under the name used in talk and others used when asking."""

    name: str
    asked: tuple[str, ...]


MATTERS = (
    Matter("the office move", ("moving offices", "the move to the other office")),
    Matter("the four-day week", ("working four days a week", "the shorter week")),
    Matter("the laptop swap", ("swapping laptops", "the replacement of laptops")),
    Matter("pair programming", ("programming in pairs", "pairing")),
    Matter("the open plan floor", ("the open plan", "sitting in an open plan floor")),
    Matter("the bonus scheme", ("bonuses", "the scheme for bonuses")),
    Matter("the coding assistant", ("assistants that write code", "using a coding assistant")),
    Matter("the company retreat", ("the retreat", "going on a company retreat")),
    Matter("the travel policy", ("rules on travelling", "the policy for travel")),
    Matter("the hiring freeze", ("not hiring anybody", "freezing hires")),
)
OPINIONS = (
    "I think {m} will {e}.",
    "Honestly, {m} worries me, it could {e}.",
    "I'm all for {m}, because it would {e}.",
    "If you ask me, {m} is going to {e}.",
    "I changed my mind about {m}. It might {e}.",
)
OPINIONS_OF_IT = (
    "I'm for it, as it would {e}.",
    "My fear is that it will {e}.",
    "It can only {e}, so why wait?",
    "To me it looks as if that would {e}.",
    "Let's be honest, it is going to {e}.",
)
ON_MATTERS = ("So, {m}. What do people think?", "Management wants to hear us on {m}.", "Can we talk about {m} now?")
ON_OPINIONS = ("What did {a} say about {m}?", "What does {a} think of {m}?", "Where did {a} stand on {m}?")
EFFECTS = (
    "cost us two good people",
    "make the mornings quieter",
    "save more than it costs",
    "split the team in two",
    "help those with small children",
    "slow down every review",
    "look good on the careers page",
    "annoy the customers in Asia",
    "free a lot of desk space",
    "end in endless meetings",
    "give juniors a better start",
    "need a works council vote",
    "be forgotten by Christmas",
    "hurt the people who commute far",
    "bring the error rate down",
    "please nobody but finance",
    "force us to plan ahead at last",
    "double the paperwork",
    "lift the mood in support",
    "make on-call bearable",
)


class Complaint(NamedTuple):
    """Something many people bring up, each with a detail of their own."""

    thing: str
    said: tuple[str, ...]
    asked: str


COMPLAINTS = (
    Complaint("badge reader", ("The badge reader {d}.", "By the way, that badge reader {d}."), "the badge reader"),
    Complaint("coffee machine", ("The coffee machine {d}.", "Our coffee machine {d} again."), "the coffee machine"),
    Complaint("build server", ("The build server {d}.", "Is it known that the build server {d}?"), "the build server"),
    Complaint("VPN", ("The VPN {d}.", "From home, the VPN {d}."), "the VPN"),
    Complaint("meeting room", ("The meeting room {d}.", "I heard that the meeting room {d}."), "the meeting room"),
    Complaint("test phone", ("The test phone {d}.", "Same as yesterday, the test phone {d}."), "the phone for tests"),
    Complaint(
        "staging cluster", ("The staging cluster {d}.", "Note that the staging cluster {d}."), "the staging cluster"
    ),
)
DETAILS = (
    ("refuses everybody who joined this month", "turns away newcomers"),
    ("takes ten minutes to wake up", "is slow in the morning"),
    ("smells of burnt plastic", "has a burning smell"),
    ("was booked out until June", "is not available for months"),
    ("loses its settings every night", "forgets how it was configured"),
    ("beeps without any reason", "makes noise for nothing"),
    ("runs out of space on Fridays", "is full at the end of the week"),
    ("shows the wrong time zone", "has a clock that is off"),
    ("was moved to the basement", "stands downstairs now"),
    ("needs a certificate that expired", "has an expired certificate"),
    ("works only with the old cable", "needs an old cable"),
    ("disconnects after an hour", "drops people after sixty minutes"),
    ("has a new owner whom nobody knows", "changed hands"),
    ("was repaired, supposedly", "has allegedly been mended"),
)


class Incident(NamedTuple):
    """A topic that runs through an episode: only the first turn names it."""

    opening: str
    turns: tuple[str, ...]
    asked: tuple[str, ...]


INCIDENTS = (
    Incident(
        "Something is wrong with checkout on {p}, carts come up empty.",
        (
            "I see empty carts too, but only when one is logged out.",
            "Could be the cookie change from Monday, it touched exactly that path.",
            "Rolled it back on one node, and there it is gone.",
            "Then roll it back everywhere, we can look for the reason in peace.",
            "Done. {n} carts on {p} were affected, support has the list.",
        ),
        ("How did the story of the empty carts in {p} go?", "What happened when carts were empty on {p}?"),
    ),
    Incident(
        "Searching on {p} has become painfully slow since the weekend.",
        (
            "Search on {p} climbs every day around noon, so it is load.",
            "No, look at the number of shards, somebody doubled those.",
            "That was me, I followed the guide for the large customers.",
            "Put it back to {n} and warm it up overnight, please.",
            "This morning searching is not slow any more.",
        ),
        ("Why was search slow on {p}, and what was done?", "What came out about the slow search in {p}?"),
    ),
    Incident(
        "We got an invoice complaint for {p}: tax is calculated twice.",
        (
            "Only invoices with two delivery addresses have that tax, I believe.",
            "Right, the loop goes over those and adds it each time.",
            "How many are there since the first of the month?",
            "I count {n} invoices in {p}, most of them in Austria.",
            "Credit notes go out on Thursday, and the loop has a test now.",
        ),
        ("How was the double tax on {p} invoices handled?", "What was found about invoices of {p} with tax twice?"),
    ),
    Incident(
        "The mobile app of {p} crashes right after the update.",
        (
            "The app of {p} is fine here, and I have the same version.",
            "Do you have the large font switched on? I do.",
            "With that on it dies at once, good catch.",
            "So it measures the text before there is a window.",
            "A build of {p} without the crash is with {n} testers.",
        ),
        ("What did we learn about the crashing {p} app?", "How was the crash in the mobile app of {p} tracked down?"),
    ),
    Incident(
        "I would like to talk about how we onboard customers on {p}.",
        (
            "Today they get a long mail and then silence.",
            "Onboarding with a call in the first week would cost us an hour each.",
            "Half of them never finish the import, that is the real hole.",
            "Then let's give them sample data and skip that step.",
            "I will onboard {n} new customers of {p} like this and report back.",
        ),
        ("What ideas came up on onboarding for {p}?", "How do we want to onboard {p} customers?"),
    ),
    Incident(
        "Disk space on the {p} hosts goes down faster than it should.",
        (
            "Thumbnails, probably, we never delete those.",
            "They are tiny. I looked at the disk on one host of {p}: core files, {n} of them.",
            "From what? Nothing has died, as far as I know.",
            "The converter dies on every animated picture and restarts itself.",
            "I limited what it writes and filed a bug upstream.",
        ),
        ("What ate the disk space of the {p} hosts?", "How was the full disk on {p} explained?"),
    ),
    Incident(
        "Customers of {p} report that notifications arrive hours late.",
        (
            "All of them or only the digest?",
            "The single notifications. They are late behind an import that somebody started.",
            "So one customer blocks everybody else.",
            "Give imports a lane of their own, that's {n} lines.",
            "It is merged, and {p} sends notifications within seconds.",
        ),
        ("Why were notifications of {p} late?", "What was the outcome on delayed notifications in {p}?"),
    ),
    Incident(
        "The accessibility review for {p} came back, and it isn't pretty.",
        (
            "Contrast I expected of an accessibility review, but not the keyboard traps.",
            "The date picker swallows every tab, I can reproduce that.",
            "We could throw it away and use the one that browsers have.",
            "Design will not love that, yet it solves {n} findings on {p} at once.",
            "They agreed, as long as the colours stay.",
        ),
        ("What followed from the accessibility review of {p}?", "How did we react to accessibility findings on {p}?"),
    ),
)
