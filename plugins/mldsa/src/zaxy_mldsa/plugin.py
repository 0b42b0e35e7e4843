"""What this package offers to Zaxy: the three parameter sets of ML-DSA."""

from __future__ import annotations

from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_signing_algorithms() -> list[Provider]:
    return [
        Provider("ml-dsa-44", "zaxy_mldsa.algorithms:MlDsa44", "ML-DSA-44 signatures (FIPS 204, category 2)."),
        Provider("ml-dsa-65", "zaxy_mldsa.algorithms:MlDsa65", "ML-DSA-65 signatures (FIPS 204, category 3)."),
        Provider("ml-dsa-87", "zaxy_mldsa.algorithms:MlDsa87", "ML-DSA-87 signatures (FIPS 204, category 5)."),
    ]
