"""What several tests share, and benchmarks use as well."""
