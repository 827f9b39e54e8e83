"""Grading workers as Slurm jobs: `python slurm.py`, on a machine that reaches the nodes, as long as there is something to grade.

Needs `pip install dask-jobqueue`, and the course's environment at the same place on all nodes. `--show` prints the job's script.
"""

import signal
import sys

from dask_jobqueue import SLURMCluster
from distributed import Security

cluster = SLURMCluster(
    cores=8,
    processes=8,  # one grading at a time in each
    memory="24GB",
    walltime="02:00:00",
    protocol="tls://",
    security=Security(),  # the certificates of Dask's configuration
    # A node's own disk: the course's files are unpacked here for as long as a job runs.
    local_directory="$TMPDIR",
    scheduler_options={"port": 8786, "dashboard": False},
)
if "--show" in sys.argv:
    print(cluster.job_script())
    sys.exit()
cluster.adapt(minimum_jobs=1, maximum_jobs=20)
print(f"course grade ps1 submissions.zip --scheduler {cluster.scheduler_address}", flush=True)
signal.sigwait([signal.SIGINT, signal.SIGTERM])
cluster.close()
