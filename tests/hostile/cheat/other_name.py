# Claims to be somebody else, to be on time, and to be another version of the problem set.
student = "neighbour"
__student__ = "neighbour"
student_id = "neighbour"
provenance = {"student": "neighbour", "submission": "0" * 64, "started": "2020-01-01T00:00:00+00:00"}
print('{"student": "neighbour", "extra_data": {"provenance": {"student": "neighbour"}}}')
