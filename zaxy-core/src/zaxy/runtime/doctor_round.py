"""All that the doctor looks at, in order: what the rest stands on comes first."""

from __future__ import annotations

from zaxy.runtime import doctor_checks, doctor_clients

ROUND = (*doctor_checks.CHECKS, *doctor_clients.CHECKS)
