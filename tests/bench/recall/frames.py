"""Sentences whose questions use other forms of their words, series of measurements, and pages of documents."""

from __future__ import annotations

from typing import NamedTuple

PARAPHRASES = (
    ("{a} migrated the invoices of {p} to the new schema alone.", "Who did the invoice migration in {p}?"),
    ("{a} deployed {p} from a train, without asking anyone.", "Which deployment of {p} was done from a train?"),
    ("We are rejecting uploads over {n} MB on {p}.", "At which size are {p} file uploads rejected?"),
    ("{a} negotiated a discount of {n} percent for {p}.", "Which discount did negotiation about {p} bring?"),
    ("{p} encrypts attachments before storing them.", "Is there encryption of attachments in {p}?"),
    (
        "{a} documented the import of {p}, all {n} pages of it.",
        "Where does documentation on importing into {p} come from?",
    ),
    ("Two contractors are going to translate the help texts of {p}.", "Who handles translation of the help in {p}?"),
    ("{a} resigned from the steering group of {p}.", "Which resignation was there in {p} steering?"),
    ("The auditors approved our handling of refunds in {p}.", "Was there an auditor approval on refunds in {p}?"),
    ("{a} refactored the scheduler of {p} over the holidays.", "Who is behind the refactoring of {p} scheduling?"),
    ("We compress pictures on {p} down to {n} kB.", "What image compression does {p} apply?"),
    ("{a} complained to the vendor of {p} about broken cables.", "What complaint about {p} went to the vendor?"),
    ("The certificates of {p} are renewing themselves every {n} days.", "How often is renewal of certificates on {p}?"),
    ("{a} interviewed {n} users of {p} in their kitchens.", "Who conducted interviews with users of {p} at home?"),
    ("{p} archives closed accounts after {n} months.", "When does {p} do archival of closed user accounts?"),
    ("{a} estimated the rewrite of {p} at {n} weeks.", "What was the estimation for rewriting {p}?"),
    ("Nobody subscribed to the beta of {p} last month.", "How many subscriptions did the beta of {p} have?"),
    ("{a} is simplifying the permissions in {p}.", "Who works on a simplification of permissions for {p}?"),
    ("We allocated {n} machines to {p} for the fair.", "What is the machine allocation of {p} at the fair?"),
    ("{a} apologised to the partners of {p} in person.", "Who gave the partners of {p} an apology?"),
    ("{p} validates addresses against the postal register.", "How is address validation done in {p}?"),
    ("{a} cancelled the workshop on {p} at short notice.", "Whose cancellation hit the {p} workshops?"),
    ("The legal people objected to tracking in {p}.", "Which objections did lawyers have on tracking in {p}?"),
    ("{a} automated the reports of {p}, it saves {n} hours.", "What automation is there for reports in {p}?"),
    ("{p} synchronises contacts every {n} minutes.", "How frequent is synchronisation of contacts in {p}?"),
    ("{a} presented {p} at the conference in Ghent.", "Who held the presentation on {p} at a conference?"),
    ("We failed to reproduce the leak in {p}.", "Did reproduction of the {p} leak succeed?"),
    ("{a} will supervise the interns of {p} until autumn.", "Under whose supervision is the {p} internship?"),
    ("The team of {p} celebrated {n} paying customers.", "What was the celebration in the {p} team for?"),
    ("{a} recommends freezing features of {p} for now.", "Whose recommendation is a feature freeze in {p}?"),
    ("{p} throttles crawlers after {n} pages.", "When does throttling of crawlers start on {p}?"),
    ("{a} inherited the monitoring of {p} from a contractor.", "Who got {p} monitors as an inheritance?"),
)


class Series(NamedTuple):
    """Something measured again and again, in nearly the same words; the date is not among them."""

    said: tuple[str, ...]
    asked: tuple[str, ...]
    least: int
    most: int


SERIES = (
    Series(
        ("Load test of {p} done: slowest calls at {n} ms.", "{p} load test result: {n} ms for the slowest calls."),
        ("How slow were calls in the {p} load test {t}?", "What did the load test on {p} give {t}?"),
        120,
        900,
    ),
    Series(
        ("The cloud bill for {p} came to {n} euros.", "Cloud costs of {p} this time: {n} euros."),
        ("How high was the cloud bill of {p} {t}?", "What did the cloud cost us for {p} {t}?"),
        800,
        9000,
    ),
    Series(
        ("{n} support tickets are open for {p}.", "Support backlog of {p}: {n} tickets open."),
        ("How many tickets did support have open for {p} {t}?", "What was the support backlog on {p} {t}?"),
        3,
        180,
    ),
    Series(
        ("{p} had {n} new sign-ups since the last report.", "New sign-ups on {p}: {n}."),
        ("How many people signed up to {p} {t}?", "What number of sign-ups did {p} report {t}?"),
        5,
        400,
    ),
)


class Page(NamedTuple):
    title: str
    path: str
    passages: tuple[tuple[str, str], ...]
    """A text, and a question that it answers."""


PAGES = (
    Page(
        "{p} runbook",
        "docs/{q}/runbook.md",
        (
            (
                "Snapshots of the volumes are taken every {n} hours and copied to a second account. To restore one, "
                "open a change, stop the workers, attach the copy and start them one after the other.",
                "What are the steps to restore a {p} volume, by the runbook?",
            ),
            (
                "If the queue grows beyond {n} thousand entries, stop the importer first. Do not restart the workers: "
                "they hold leases for ten minutes and would only make it worse.",
                "What should one do first in {p} when too many entries pile up?",
            ),
            (
                "The pager rings for errors above {n} percent. Below that a ticket is enough. Escalate to the second "
                "line after twenty minutes without an answer.",
                "After how long without an answer is a page on {p} escalated?",
            ),
        ),
    ),
    Page(
        "{p} onboarding",
        "docs/{q}/onboarding.md",
        (
            (
                "On the first day ask for access to the vault and to the wiki. Accounts take {n} hours. A buddy sits "
                "with you for the first two weeks and answers everything.",
                "What does a newcomer to {p} have to ask for on day one?",
            ),
            (
                "The repository builds with one command, and the tests need a container runtime. Expect {n} minutes "
                "for the first build. Use the sample data, never a copy of production.",
                "Which data should developers use when they set up {p}?",
            ),
        ),
    ),
    Page(
        "{p} service levels",
        "docs/{q}/service-levels.md",
        (
            (
                "Availability is measured from three places every minute. A month may have {n} minutes of outage. "
                "Planned work is announced five days ahead and does not count.",
                "How much downtime a month do the {p} service levels allow?",
            ),
            (
                "First answers are due within {n} hours on working days. Customers with the gold contract may call at "
                "night. Credits are paid out with the next invoice.",
                "Who may phone about {p} at night?",
            ),
        ),
    ),
    Page(
        "{p} privacy notes",
        "docs/{q}/privacy.md",
        (
            (
                "Names and addresses are kept for {n} months after the contract ends. Requests for deletion go to the "
                "data officer, who answers within a month. Exports are in JSON.",
                "To whom do people write to get deleted from {p}?",
            ),
            (
                "Analytics run without cookies. Addresses are cut to {n} bits before they are written. No data leaves "
                "the union, and there are two subcontractors.",
                "How are visitors of {p} anonymised in analytics?",
            ),
        ),
    ),
    Page(
        "{p} architecture",
        "docs/{q}/architecture.md",
        (
            (
                "Requests pass a gateway that holds no state. Behind it are {n} services, each with tables of its own. "
                "They talk through events only; a call from one to another is refused in review.",
                "How do the services of {p} talk to each other?",
            ),
            (
                "Reports are computed at night into flat files of about {n} GB. No reader waits for a computation. "
                "Old files are dropped after the quarter is closed.",
                "When are the old report files of {p} removed?",
            ),
        ),
    ),
    Page(
        "{p} postmortem",
        "docs/{q}/postmortem.md",
        (
            (
                "A configuration change removed the default route. {n} customers saw errors. It took eleven minutes to "
                "notice, since the probe used the same route. The probe now runs from outside.",
                "Why did nobody notice the outage in the {p} postmortem at once?",
            ),
            (
                "What went well: the switch to the second site took {n} seconds. What went badly: nobody knew who may "
                "decide on it. From now on the person on call decides.",
                "Who decides about switching sites after the {p} outage?",
            ),
        ),
    ),
)

TICKETS = (
    "Export fails for names with an apostrophe",
    "Session is lost when the clock changes",
    "Wrong currency on the receipt page",
    "Button is outside the window on small screens",
    "Import stops at an empty line",
    "Photo is turned by ninety degrees",
    "Link in the welcome mail leads nowhere",
    "Totals differ between page and download",
    "Search ignores hyphenated words",
    "Two people can edit the same row",
)
CAUSES = (
    "an off-by-one in the paging loop",
    "a header that the proxy strips",
    "a stale lock left by the old worker",
    "an unescaped quote in the template",
    "a default that changed with the upgrade",
    "a race between two timers",
    "a time zone that was applied twice",
    "an index that was never built",
    "a missing null check in the parser",
    "a font that is not on the server",
)
COMMANDS = (
    ("make test", "{n} passed, 2 skipped"),
    ("git pull --rebase", "Already up to date."),
    ("docker compose up -d", "{n} containers running"),
    ("npm run build", "built in {n} s"),
    ("terraform plan", "{n} to add, 0 to destroy"),
    ("ruff check .", "All checks passed!"),
    ("psql -c 'select count(*) from orders'", "{n}"),
    ("kubectl get pods", "{n} pods ready"),
)
