"""Draw the files that train.py wrote: learning_curves.py OUT.svg NAME=FILE.csv,FILE.csv ... (one line per seed)"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLORS = ("#3a62a8", "#d9772b", "#2a8f6d", "#8a5ba8", "#8b97a1")


def main(out, *series):
    figure, axes = plt.subplots(1, len(series), figsize=(3.2 * len(series), 2.6), squeeze=False)
    for axis, text in zip(axes[0], series):
        name, paths = text.split("=", 1)
        for path, color in zip(paths.split(","), COLORS):
            with open(path, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            axis.plot([int(r["steps"]) / 1e3 for r in rows], [float(r["return"]) for r in rows], color=color)
        axis.set_title(name)
        axis.set_xlabel("thousand steps")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("return, mean of 100 episodes")
    figure.tight_layout()
    figure.savefig(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
