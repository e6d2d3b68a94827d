"""Stands for Slurm's `sbatch`: runs a script at once, each job of an array after the other, and prints a number."""

import os
import re
import subprocess
import sys
from pathlib import Path

if any(word.startswith("--dependency=afterok") for word in sys.argv) and Path(f"{os.environ['SBATCH_LOG']}.failed").exists():
    sys.exit(0)
script = Path(sys.argv[-1])
text = script.read_text()
with open(os.environ["SBATCH_LOG"], "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\n")
array = re.search(r"^#SBATCH --array=1-(\d+)$", text, re.MULTILINE)
for number in range(1, int(array.group(1)) + 1) if array else [None]:
    env = os.environ | ({"SLURM_ARRAY_TASK_ID": str(number)} if number else {})
    # What jobs print goes to a file of their own.
    with open(f"{os.environ['SBATCH_LOG']}.out", "a") as out:
        done = subprocess.run(["bash", str(script)], env=env, stdout=out, stderr=out)
    if done.returncode:
        # The job is submitted all the same; what depends on it is not run.
        Path(f"{os.environ['SBATCH_LOG']}.failed").touch()
if "--parsable" in sys.argv:
    print(1)
