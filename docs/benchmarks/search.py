#!/usr/bin/env python3
"""Do `search = "racing"` and `search = "halving"` choose the setting of the full search, and what do they save?

usage: search.py [--veilgraph PROGRAM] [--data-dir DIR] [--published DIR] [--dataset NAME] [--quick] > table.md

Needs Polars (PyPI). Each cell (a graph, a network and a budget) searches the published grid of 48 settings in full, as a
race, and by halving, in one store, one task at a time. A line of the table has

  settings       which setting each search chose, by its position in the grid,
  loss           the mean over trials of their lowest validation losses, in nats, all from the full search,
  epochs         how many epochs the race and halving trained, as shares of those of the full search,
  seconds        what the search tasks took; of halving, without its first trial, which is that of the race,
  over epochs    the loss of the setting that successive halving over epochs would have chosen: a third of the settings, and at
                 least four, go on after a ninth and after a third of the epochs, by the mean over trials of the lowest loss so far.
                 It is worked out from the curves of the full search, of which its own curves would be the first parts.

"none" stands for the setting of a search whose trials trained no setting in common to the end. The program ends with an error
where the curves of a race or of halving are not the first parts of those of the full search, bit for bit, or where they chose
another setting than their rules say. To choose another setting than the full search is no error: the table says so, and so
does its last line. All cells take five and a half minutes on two cores of an AMD EPYC of family 26; `--quick` leaves out soft graphs
and GAT. The program begins halving with a race, lets a quarter of the settings go on after it, and a half after each later trial.
The last line also says how often halving would have chosen the setting of the full search if its first trial ran in full, and as
many settings went on as in the program, or a half, a third or a quarter of them after every trial. This is worked out from the
curves of the full search.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import polars
except ImportError:
    sys.exit("search.py needs Polars: python3 -m pip install polars")

EPOCHS = 300
SETTINGS = 48
# Variant, network, budgets, trials of the search. A grid over a soft graph takes longest.
CELLS = [
    ("hybrid", "gcn", [1, 4, 8], 5),
    ("hybrid", "graphsage", [1, 4, 8], 5),
    ("hard", "gat", [1, 4, 8], 3),
    ("soft", "gcn", [4], 2),
]
# How many of 48 settings go on after each trial: in the program, whose first trial is a race, and by other rules.
PROGRAM_RULE = [12, 6, 3, 2]
OTHER_RULES = {
    "a first trial in full, then as the program": PROGRAM_RULE,
    "a first trial in full, then a half each time": [24, 12, 6, 3],
    "a first trial in full, then a third each time": [16, 6, 2, 1],
    "a first trial in full, then a quarter each time": [12, 3, 1, 1],
}
CONFIG = """name = "search"
trials = 1
search_trials = {trials}
references = []

[ingest]
dataset = "{dataset}"
split = "published"

[privatize.links]
epsilon = {epsilon}
degree_fraction = "public-rule"

[estimate]
method = "published"

[construct]
variant = "{variant}"

[train]
model = "{model}"
epochs = {epochs}
learning_rate = [0.1, 0.01, 0.001]
weight_decay = [1e-3, 1e-4, 1e-5, 0.0]
dropout = [0.1, 0.01, 0.001, 0.0]

[evaluate]
metrics = ["accuracy"]
"""


# What the program says where the trials of a search trained no setting in common to the end.
NONE_IN_COMMON = "no setting of the grid was trained to the end in every trial"


def searched(options, config, store, search):
    """Runs a search: the chosen setting, the validation losses of each trial by setting, and the seconds of its tasks.

    The setting is None where the trials trained none in common to the end.
    """
    command = [options.veilgraph, "--store", store, "run", config, "--json", "--jobs", "1", "--keep-going"]
    command += ["--set", f"train.search={search}"]
    command += ["--data-dir", options.data_dir] if options.data_dir else []
    command += ["--published", options.published] if options.published else []
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"{options.veilgraph}: {error.strerror}; build it with `make build`, or name the program by --veilgraph")
    tasks = json.loads(done.stdout)["stages"] if done.stdout else []
    choice = next((task for task in tasks if task["function"] == "choose-setting"), None)
    has_none_in_common = choice is not None and NONE_IN_COMMON in (choice["error"] or "")
    if done.returncode != 0 and not has_none_in_common:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    trials = sorted((task for task in tasks if task["function"] == "search-grid"), key=lambda task: task["trial"])
    curves = []
    for task in trials:
        table = polars.read_parquet(task["outputs"]["curve"]["path"]).sort("model", "epoch")
        losses = table.group_by("model", maintain_order=True).agg("validation_loss")
        curves.append(dict(zip(losses["model"], losses["validation_loss"].to_list())))
    chosen = None
    if not has_none_in_common:
        chosen = polars.read_parquet(choice["outputs"]["chosen_setting"]["path"])["model"][0]
    return chosen, curves, sum(task["seconds"] or 0 for task in trials)


def mean_loss(curves, setting, epochs=EPOCHS):
    """Mean over trials of the lowest validation loss within so many epochs; infinite where a model failed."""
    lowest = [min(trial.get(setting, [])[:epochs], default=float("inf")) for trial in curves]
    return sum(lowest) / len(lowest)


def successive_halving(curves):
    settings = list(range(SETTINGS))
    for epochs in [-(-EPOCHS // 9), -(-EPOCHS // 3)]:
        kept = max(4, -(-len(settings) // 3))
        settings = sorted(settings, key=lambda setting: mean_loss(curves, setting, epochs))[:kept]
    return min(settings, key=lambda setting: mean_loss(curves, setting))


def heats():
    """The settings of each heat of a race: four from all over the grid, and then twice as many each time."""
    in_bits = {setting: f"{setting:064b}"[::-1] for setting in range(SETTINGS)}
    order, size = sorted(range(SETTINGS), key=in_bits.get), 4
    while order:
        yield order[:size]
        order, size = order[size:], 2 * size


def is_dropped(losses, lowest):
    """Whether a race with this lowest loss drops a model with these losses before its last epoch."""
    for epochs in (EPOCHS * lap // 12 for lap in range(1, 12)):
        before = losses[:epochs - -(-epochs // 3)]
        if epochs - len(before) >= 4 and epochs < len(losses):
            loss = min(losses[:epochs])
            pace = (min(before) - loss) / (epochs - len(before))
            if loss - pace * (EPOCHS - epochs) > lowest + max(0.05 * lowest, 0.01):
                return True
    return False


def to_the_end(trial):
    """The curves of a trial without the settings that the race of the program drops."""
    trained = {}
    for heat in heats():
        lowest = min((min(losses) for losses in trained.values()), default=float("inf"))
        finished = [setting for setting in heat if setting in trial and not is_dropped(trial[setting], lowest)]
        trained |= {setting: trial[setting] for setting in finished}
    return trained


def halving_with(curves, kept, first_races=False):
    """The setting that halving would choose if so many settings went on after the first trial, the second one and so on.

    It is None where no setting was trained to the end in every trial.
    """
    trials = [to_the_end(curves[0]) if first_races else curves[0], *curves[1:]]
    settings = list(range(SETTINGS))
    for done in range(1, len(trials) + 1):
        ranked = sorted(settings, key=lambda setting: (mean_loss(trials[:done], setting), setting))
        settings = [setting for setting in ranked if mean_loss(trials[:done], setting) < float("inf")]
        # A trial of two settings is the last one.
        if done == len(trials) or (done > 1 and kept[done - 2] <= 2):
            break
        settings = settings[:kept[done - 1]]
    return settings[0] if settings else None


def chosen_from(trials):
    """The setting with the lowest mean loss over trials, or None where no setting was trained to the end in every trial."""
    best = min(range(SETTINGS), key=lambda setting: mean_loss(trials, setting))
    return best if mean_loss(trials, best) < float("inf") else None


def epochs_of(curves):
    return sum(len(losses) for trial in curves for losses in trial.values())


def shown(setting, curves):
    """A setting and its loss, as the table shows them."""
    return ("none", "none") if setting is None else (str(setting), f"{mean_loss(curves, setting):.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--veilgraph", default="target/release/veilgraph", metavar="PROGRAM",
                        help="the program that is measured (default: %(default)s)")
    parser.add_argument("--data-dir", metavar="DIR", help="the folder of the datasets, as `veilgraph run` takes it")
    parser.add_argument("--published", metavar="DIR", help="the folder of published figures and splits, likewise")
    parser.add_argument("--dataset", default="cora", metavar="NAME",
                        help="the graph, which needs a published split (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="leave out soft graphs and GAT")
    options = parser.parse_args()
    print("| graph | network | ε | trials | settings: full, race, halving | loss: full, race, halving, nats "
          "| epochs: race, halving | seconds: full, race, halving | loss by halving over epochs, nats |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    cells = [cell for cell in CELLS if not options.quick or cell[:2] in [("hybrid", "gcn"), ("hybrid", "graphsage")]]
    same = dict.fromkeys(["race", "halving", "halving over epochs", *OTHER_RULES], 0)
    n_cells = 0
    for variant, model, budgets, trials in cells:
        for epsilon in budgets:
            with tempfile.TemporaryDirectory() as folder:
                config, store = pathlib.Path(folder, "search.toml"), pathlib.Path(folder, "store")
                config.write_text(CONFIG.format(trials=trials, dataset=options.dataset, epsilon=float(epsilon),
                                                variant=variant, model=model, epochs=EPOCHS))
                best, full, full_seconds = searched(options, config, store, "full")
                raced, race, race_seconds = searched(options, config, store, "racing")
                halved, halving, halving_seconds = searched(options, config, store, "halving")
            for whole, part in [*zip(full, race, strict=True), *zip(full, halving, strict=True)]:
                for setting, losses in part.items():
                    # A setting that diverges after the race dropped it has no curve in the full search.
                    if setting in whole and losses != whole[setting][:len(losses)]:
                        sys.exit(f"{variant} {model} ε = {epsilon}: setting {setting} has other losses in a shorter search")
            of_race = chosen_from([to_the_end(trial) for trial in full])
            of_halving = halving_with(full, PROGRAM_RULE, first_races=True)
            for name, chosen, by_rule in [("the race", raced, of_race), ("halving", halved, of_halving)]:
                if chosen != by_rule:
                    shown_settings = [shown(setting, full)[0] for setting in (chosen, by_rule)]
                    sys.exit("{} {} ε = {}: {} chose {}, and by its rule it is {}".format(
                        variant, model, epsilon, name, *shown_settings))
            over_epochs = successive_halving(full)
            by_rules = [halving_with(full, kept) for kept in OTHER_RULES.values()]
            for name, chosen in zip(same, [raced, halved, over_epochs, *by_rules], strict=True):
                same[name] += chosen == best
            n_cells += 1
            settings, losses = zip(shown(best, full), shown(raced, full), shown(halved, full))
            shares = [f"{100 * epochs_of(curves) / epochs_of(full):.0f} %" for curves in (race, halving)]
            print(f"| {variant} | {model} | {epsilon} | {trials} | {', '.join(settings)} | {', '.join(losses)} "
                  f"| {', '.join(shares)} | {full_seconds:.1f}, {race_seconds:.1f}, {halving_seconds:.1f} "
                  f"| {mean_loss(full, over_epochs):.4f} |", flush=True)
    counts = ", ".join(f"in {count} by {name}" for name, count in same.items())
    print(f"\nOf {n_cells} cells, the setting of the full search was chosen {counts}.")


if __name__ == "__main__":
    main()
