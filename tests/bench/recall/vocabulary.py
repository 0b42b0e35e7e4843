"""Who and what the histories are about: people, projects, and what may be said about each of them."""

from __future__ import annotations

from typing import NamedTuple

PEOPLE = """Priya Omar Lucia Jonas Mei Tobias Anika Rafael Ingrid Kofi Yara Pavel Noor Callum Beatriz Hiro Sanna Dmitri
Amara Felix Leila Mateo Greta Arjun Zofia Emeka Clara Bastian Naomi Viktor""".split()
ROLES = (
    "backend developer",
    "frontend developer",
    "site reliability engineer",
    "product manager",
    "designer",
    "data analyst",
    "test engineer",
    "support lead",
    "security engineer",
    "technical writer",
    "accountant",
    "recruiter",
)
RELATIONS = (
    ("{a} reports to {b} since the reorganisation.", "Who is the manager of {a}?"),
    ("{b} is mentoring {a} this half of the year.", "Who mentors {a}?"),
    ("{a} and {b} went to the same university.", "With whom did {a} study?"),
    ("{a} shares a desk with {b} on the third floor.", "Who sits next to {a}?"),
    ("{a} hands the keys over to {b} whenever there is leave.", "Who is the deputy of {a}?"),
)
PROJECTS = "Heron Lantern Quarry Saffron Tundra Beacon Mosaic Orchard Pebble Compass".split()


class Slot(NamedTuple):
    """Something that a project has one of at a time."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    asked: tuple[str, ...]


SLOTS = (
    Slot(
        ("message queue", "queue", "message broker"),
        ("RabbitMQ", "Kafka", "NATS", "ActiveMQ", "Pulsar", "Redis streams"),
        ("Which broker carries the messages of {p}?", "What does {p} use as its queue?"),
    ),
    Slot(
        ("database", "data store", "storage engine"),
        ("Postgres", "MariaDB", "CockroachDB", "MongoDB", "SQLite", "Oracle"),
        ("Where does {p} keep its data?", "What is the database behind {p}?"),
    ),
    Slot(
        ("hosting region", "region", "data centre"),
        ("Frankfurt", "Dublin", "Oregon", "Singapore", "Mumbai", "Stockholm", "Montreal"),
        ("In which region is {p} hosted?", "Where do the servers of {p} stand?"),
    ),
    Slot(
        ("release date", "launch date", "ship date"),
        ("the 12th", "the 19th", "the 26th", "the 3rd", "the 30th", "the 8th"),
        ("When does {p} launch?", "On which day is the release of {p}?"),
    ),
    Slot(
        ("budget", "yearly budget", "spending limit"),
        ("84,000 euros", "120,000 euros", "61,000 euros", "97,500 euros", "143,000 euros", "50,000 euros"),
        ("How much may {p} spend?", "What is the budget of {p} for the year?"),
    ),
    Slot(
        ("log retention", "retention period", "retention"),
        ("14 days", "30 days", "90 days", "45 days", "7 days", "six months"),
        ("How long does {p} keep its logs?", "What retention do the logs of {p} have?"),
    ),
    Slot(
        ("rate limit", "request limit", "API quota"),
        ("300 a minute", "50 a second", "1,000 an hour", "120 a minute", "20 a second", "5,000 a day"),
        ("How many requests does {p} let through?", "What is the quota of the {p} API?"),
    ),
    Slot(
        ("backup window", "nightly backup", "backup slot"),
        ("half past two", "four in the morning", "midnight", "a quarter to five", "eleven at night", "three o'clock"),
        ("At what time is {p} backed up?", "When do the backups of {p} run?"),
    ),
    Slot(
        ("test framework", "test runner", "testing tool"),
        ("pytest", "Playwright", "Cypress", "JUnit", "Robot", "Selenium"),
        ("With what are the tests of {p} run?", "Which framework tests {p}?"),
    ),
    Slot(
        ("front end", "UI framework", "web framework"),
        ("React", "Svelte", "Vue", "plain HTML", "Elm", "Angular"),
        ("What is the UI of {p} built with?", "Which framework is the web part of {p} in?"),
    ),
    Slot(
        ("monitoring tool", "dashboard tool", "metrics stack"),
        ("Grafana", "Datadog", "Zabbix", "Nagios", "New Relic", "Honeycomb"),
        ("Where are the metrics of {p} shown?", "With which tool is {p} monitored?"),
    ),
    Slot(
        ("payment provider", "card processor", "billing partner"),
        ("Stripe", "Adyen", "Mollie", "Klarna", "PayPal", "Worldline"),
        ("Who processes the card payments of {p}?", "Which provider does the billing for {p}?"),
    ),
    Slot(
        ("weekly sync", "team meeting", "planning slot"),
        ("Tuesdays at ten", "Mondays after lunch", "Thursdays at nine", "Friday mornings", "Wednesdays at four"),
        ("When does the team of {p} meet?", "On which day of the week is the {p} sync?"),
    ),
    Slot(
        ("pilot customer", "first customer", "launch partner"),
        ("the Norwegian railway", "a bakery chain", "the city library", "Oakfield Insurance", "a hospital in Lyon"),
        ("Which customer tries {p} first?", "Who is the pilot partner of {p}?"),
    ),
    Slot(
        ("licence", "licensing", "licence model"),
        ("Apache 2.0", "GPL", "MIT", "a commercial one", "BSL", "EUPL"),
        ("Under which licence is {p} published?", "How is {p} licensed?"),
    ),
    Slot(
        ("rollout method", "deployment strategy", "rollout"),
        ("blue-green", "canary", "all at once", "region by region", "behind a flag", "by hand"),
        ("How are new versions of {p} rolled out?", "Which strategy is used to deploy {p}?"),
    ),
    Slot(
        ("mail provider", "email service", "mail relay"),
        ("Mailgun", "Postmark", "SendGrid", "our own Postfix", "Brevo"),
        ("Through whom does {p} send its email?", "Which service delivers mail for {p}?"),
    ),
    Slot(
        ("login method", "sign-in", "authentication"),
        ("passkeys", "SAML", "magic links", "plain passwords", "OpenID", "smart cards"),
        ("How do users log in to {p}?", "By what means are people authenticated in {p}?"),
    ),
    Slot(
        ("cache", "caching layer", "cache in front"),
        ("Varnish", "memcached", "Redis", "nothing at all", "Fastly", "nginx"),
        ("What caches the pages of {p}?", "Which cache does {p} have?"),
    ),
    Slot(
        ("price", "list price", "price per seat"),
        ("9 euros", "15 euros", "24 euros", "4.50 euros", "39 euros", "12 euros"),
        ("What does a seat of {p} cost?", "How much do customers pay for {p}?"),
    ),
    Slot(
        ("second language", "first translation", "next language"),
        ("Finnish", "Portuguese", "Japanese", "Polish", "Turkish", "Dutch"),
        ("Into what is {p} translated after English?", "Which second language does {p} get?"),
    ),
)


class Habit(NamedTuple):
    """Something that is so about a person. `own` is what they say themselves, who are not named in it."""

    own: tuple[str, ...]
    told: tuple[str, ...]
    asked: tuple[str, ...]
    answer: tuple[str, ...]
    values: tuple[str, ...]
    question: tuple[str, ...]


HABITS = (
    Habit(
        (
            "I can't eat {v}, just so you know before you order.",
            "I am allergic to {v}, which food on that menu has none?",
        ),
        ("{a} is allergic to {v}, please tell the caterer.", "Careful with {v} when {a} is at the table."),
        ("{a}, any allergies we should know about?", "Does {a} have an allergy? The caterer wants a list."),
        ("{v}, and it is rather bad.", "I am allergic to {v}, and to no other food."),
        ("peanuts", "shellfish", "celery", "sesame", "kiwi", "mustard", "walnuts", "soya"),
        ("Which food is {a} allergic to?", "What must not be in the meal of {a}?"),
    ),
    Habit(
        ("We have {v} at home now, which is why I look so tired.", "What a day: my pet, well, {v}, does not eat."),
        ("{a} now lives with {v}, there are photos in the other channel.", "Have you seen that {a} got {v}?"),
        ("{a}, who was that making noise behind you?", "What kind of animal does {a} have again?"),
        ("That was {v}, sorry about it.", "My pet, meaning {v}. It never sleeps."),
        ("a parrot", "two cats", "a greyhound", "a tortoise", "three hens", "a ferret", "an old beagle", "a hedgehog"),
        ("What pet does {a} have?", "Which animal lives with {a}?"),
    ),
    Habit(
        ("On weekends you'll find me {v}.", "My hobby is {v}, I have no time for more of what the others do."),
        ("{a} spends every free day {v}.", "If you need {a} on a Saturday: probably {v}."),
        (
            "What are you doing with your free time these days, {a}?",
            "Does {a} have a hobby we could use for the offsite?",
        ),
        ("Mostly {v}. You should join once.", "My hobby is {v}, whenever the weather allows it."),
        ("climbing", "restoring clocks", "rowing", "keeping bees", "throwing pots", "fencing", "sailing", "foraging"),
        ("What is the hobby of {a}?", "How does {a} spend the free time?"),
    ),
    Habit(
        (
            "Back home in {v} it is already warm, I miss that.",
            "The town where I grew up is {v}, so this is no winter to me.",
        ),
        ("{a} comes from {v}, so ask there for restaurants.", "{a} was born in {v}, I never knew."),
        ("Where did you grow up, {a}?", "Where is {a} from originally?"),
        ("{v}, right by the water.", "I was born in {v}, but we left when I was ten."),
        ("Tromsø", "Valencia", "Accra", "Krakow", "Osaka", "Cardiff", "Izmir", "Quito", "Pune"),
        ("In which town did {a} grow up?", "Where was {a} born?"),
    ),
    Habit(
        (
            "I've taken up {v} again, sorry to my neighbours.",
            "The instrument I play is {v}, and my teacher says I should count more.",
        ),
        ("{a} plays {v} in a small band.", "{a} brought {v} to the summer party."),
        ("{a}, do you play anything?", "Which instrument does {a} play? We need one more for the party."),
        ("{v}, badly.", "I play {v}, and only in the evening."),
        ("the cello", "the trumpet", "the accordion", "the oboe", "drums", "the banjo", "the harp", "the viola"),
        ("What instrument does {a} play?", "Which kind of music does {a} make, on what?"),
    ),
    Habit(
        ("I come in {v}, so I'm never late by much.", "I commute with {v}, so traffic does not bother me."),
        ("{a} gets to the office by {v}.", "With {a} on {v}, we can't plan anything before nine."),
        ("How do you get here in the morning, {a}?", "Does anybody know how {a} travels to work?"),
        ("By {v}, most days.", "I commute by {v}. The car is for weekends."),
        ("the night ferry", "tram 14", "a folding bike", "the early train", "an electric scooter", "carpool"),
        ("How does {a} commute?", "By what means does {a} come to work?"),
    ),
    Habit(
        ("I'm reading {v} and can't put it down.", "The book that I am reading is {v}, I slept three hours."),
        ("{a} keeps recommending {v} to everyone.", "{a} left a copy of {v} in the kitchen."),
        ("What are you reading at the moment, {a}?", "Which book did {a} talk about at lunch?"),
        ("{v}. Slow start, but then.", "The book was {v}, I can lend it to you."),
        ("Middlemarch", "The Leopard", "Dune", "Pale Fire", "Emma", "Solaris", "The Trial", "Stoner"),
        ("Which book is {a} reading?", "What novel did {a} recommend?"),
    ),
    Habit(
        ("We booked {v} for the summer, finally.", "My holiday plans are {v} this time, I go in August."),
        ("{a} will be in {v} over the summer, plan around it.", "The holiday of {a} is booked: {v}."),
        ("{a}, where are you going in the summer?", "Do we know where {a} will be in August?"),
        ("{v}, with the whole family.", "My holiday is {v}. No laptop."),
        ("Iceland", "the Azores", "Slovenia", "Corsica", "the Hebrides", "Georgia", "Crete", "Brittany"),
        ("Where does {a} go on holiday?", "What are the vacation plans of {a}?"),
    ),
    Habit(
        (
            "Thanks, but for me it is {v} or nothing before noon.",
            "What I like to drink is {v}, could somebody bring more?",
        ),
        ("{a} drinks only {v}, so leave the coffee.", "For {a} get {v} from the machine."),
        ("{a}, what shall I bring you from the kitchen?", "What does {a} drink in the morning?"),
        ("{v}, please, no sugar.", "I like to drink {v}, as always."),
        ("mint tea", "a flat white", "hot chocolate", "oat milk", "tonic water", "rooibos", "espresso", "mate"),
        ("What does {a} like to drink?", "Which drink should one bring {a}?"),
    ),
)

PREFERENCES = (
    ("summaries", ("in three bullet points", "as one paragraph", "with a table", "in German", "without emojis")),
    ("code reviews", ("in small commits", "on paper", "before lunch", "in pairs", "with screenshots")),
    ("reminders", ("by text message", "only on Mondays", "an hour ahead", "never at night", "by mail")),
    ("answers", ("short and blunt", "with sources", "step by step", "with an example first", "as a checklist")),
    ("the editor", ("dark theme", "tabs of four", "a large font", "vim keys", "no minimap")),
)
