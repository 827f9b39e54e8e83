"""The tests. What several of them share is in `tests.support`: `from tests.support import drafts`."""
