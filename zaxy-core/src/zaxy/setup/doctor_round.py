"""All that the doctor looks at, in order: what the rest stands on comes first."""

from __future__ import annotations

from zaxy.setup import doctor_checks, doctor_clients, doctor_files, doctor_recording, doctor_sessions

CHECKS = (
    *doctor_checks.CHECKS,
    *doctor_sessions.CHECKS,
    *doctor_files.CHECKS,
    *doctor_recording.CHECKS,
    *doctor_clients.CHECKS,
)
