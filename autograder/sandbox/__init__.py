"""The host's side of the trust boundary: start a sandbox, hold one guest a submission, call what it defines."""
