"""Stands for Slurm's `sbatch`: runs a script at once, each job of an array after the other, and prints a number."""

import os
import re
import subprocess
import sys
from pathlib import Path

log = Path(os.environ["SBATCH_LOG"])
place = next(place for place, word in enumerate(sys.argv) if word.endswith(".sh"))
options, script, arguments = sys.argv[1:place], Path(sys.argv[place]), sys.argv[place + 1 :]
failed = Path(f"{log}.failed")
if any(option.startswith("--dependency=afterok") for option in options) and failed.exists():
    sys.exit(0)
# Slurm reads options in the script too.
directives = re.findall(r"^#SBATCH (\S+)$", script.read_text(), re.MULTILINE)
with log.open("a") as file:
    file.write(" ".join([*directives, *options, script.name]) + "\n")
array = re.search(r"^#SBATCH --array=1-(\d+)$", script.read_text(), re.MULTILINE)
for number in range(1, int(array.group(1)) + 1) if array else [None]:
    env = os.environ | ({"SLURM_ARRAY_TASK_ID": str(number)} if number else {})
    # What jobs print goes to a file of their own.
    with open(f"{log}.out", "a") as out:
        done = subprocess.run(["bash", str(script), *arguments], env=env, stdout=out, stderr=out)
    if done.returncode:
        # The job is submitted all the same; what depends on it is not run.
        failed.touch()
if "--parsable" in options:
    print(1)
