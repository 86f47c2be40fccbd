"""Examples and the code of the documentation run, and say what they should."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import LIGHT

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"


def run(name, *arguments, cwd=None):
    done = subprocess.run([sys.executable, str(EXAMPLES / name), *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_tested():
    assert {p.name for p in EXAMPLES.glob("*.py")} == {
        "hello.py", "forces.py", "solver.py", "inverse.py", "search.py", "convergence.py", "push.py", "throw.py", "climb.py", "wipe.py", "policy.py",
        "train.py", "learning_curves.py", "compare_gymnasium.py", "tasks.py"}


def test_hello(tmp_path):
    assert "the floor carries 80.95 N; the robot weighs 80.95 N" in run("hello.py", cwd=tmp_path)


def test_tasks(tmp_path):
    rows = run("tasks.py", cwd=tmp_path).strip()
    assert rows.count("\n") == 6 and rows in (ROOT / "docs" / "tasks.md").read_text()


def test_forces(tmp_path):
    out = run("forces.py", cwd=tmp_path)
    assert "together 117.720 N; the weight is 117.720 N" in out
    found = re.findall(r"floor - top/leg\d: +(\S+) N at \((\S+), (\S+), \S+\) m, (\w+)", out)
    assert len(found) == 16  # four corners of four legs: which of them carry is open, but not
    forces, x, y = (np.array([float(row[i]) for row in found]) for i in range(3))
    assert forces.min() >= 0 and "slip" not in out
    assert abs(forces @ x - 0.1 * forces.sum()) < 0.01  # that they balance the weight
    assert abs(forces @ y) < 0.01


def test_solver(tmp_path):
    out = run("solver.py", cwd=tmp_path)
    assert out.count("solved") == 2
    assert float(re.search(r"judge says (\S+)", out).group(1)) < 1e-8
    exact, relaxed = (float(x) for x in re.findall(r"up to (\S+) m/s", out))
    assert exact < 1e-6 < 1e-2 < relaxed


def test_inverse(tmp_path):
    out = run("inverse.py", cwd=tmp_path)
    assert float(re.search(r"outside (\S+) N", out).group(1)) < 1e-3


def test_search(tmp_path):
    out = run("search.py", 2, 4 if LIGHT else 16, cwd=tmp_path)
    first, last, flight = (float(x) for x in re.search(r"from (\S+) m to (\S+) m, (\S+) s in the air", out).groups())
    assert last > first + 0.1 and flight > 0.1


def test_convergence(tmp_path):
    pytest.importorskip("matplotlib")
    out = run("convergence.py", tmp_path / "plot.png", cwd=tmp_path)
    assert out.count("solved") == 3 and (tmp_path / "plot.png").stat().st_size > 5000


def test_training(tmp_path):
    """A minute of CartPole: the return rises, and the curve is drawn."""
    pytest.importorskip("stable_baselines3")
    pytest.importorskip("matplotlib")
    run("train.py", "CartPole", "--steps", 4096 if LIGHT else 24576, "--out", "a.csv", cwd=tmp_path)
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1, ndmin=2)
    assert LIGHT or rows[-1, 1] > 1.2 * rows[0, 1]
    run("learning_curves.py", "b.svg", "CartPole=a.csv", cwd=tmp_path)
    assert (tmp_path / "b.svg").stat().st_size > 5000


def test_comparison_with_gymnasium(tmp_path):
    pytest.importorskip("gymnasium")
    pytest.importorskip("mujoco")
    pytest.importorskip("imageio")  # gymnasium[mujoco] brings it
    out = run("compare_gymnasium.py", "--envs", 2, "--seconds", 0.05, "--rounds", 1, cwd=tmp_path)
    assert [line.split("|")[1].strip() for line in out.splitlines()[3:]] == [
        "Hopper", "Walker", "HalfCheetah", "Ant"]


def test_push(tmp_path):
    out = run("push.py", tmp_path / "push.svg", cwd=tmp_path)
    pushes, off, turned = (float(x) for x in re.search(r"after (\d+) pushes: (\S+) mm and (\S+) degrees", out).groups())
    assert pushes <= 25 and off < 0.1 and turned < 0.1
    assert (tmp_path / "push.svg").read_text(encoding="utf-8").count("<polygon") == 23


def test_throw(tmp_path):
    out = run("throw.py", tmp_path / "throw.svg", cwd=tmp_path)
    reached, best = re.search(r"(\d) of 8 miss by less than 1e-3, the best by (\S+)", out).groups()
    assert int(reached) >= 7 and float(best) < 1e-9
    assert (tmp_path / "throw.svg").read_text(encoding="utf-8").count("<polyline") == 19


def test_climb(tmp_path):
    """The planned trot climbs at 0.4 m/s, stays on its feet when it is pushed, and goes on; the pattern alone is slower."""
    pattern = r"(\S+) m up .* at most (\d+) degrees; (\S+) m/s"
    seconds = 3.2 if LIGHT else 4
    out = run("climb.py", tmp_path / "climb.svg", "--seconds", seconds, "--push", 120, cwd=tmp_path)
    up, tilt, speed = (float(x) for x in re.search(pattern, out).groups())
    assert up > (0.25 if LIGHT else 0.3) * seconds and tilt < 30 and (LIGHT or abs(speed - 0.4) < 0.03)
    drawn = (tmp_path / "climb.svg").read_text(encoding="utf-8").count("<polyline")
    assert drawn == 6 + 5 * len(range(0, round(100 * seconds), 80))
    out = run("climb.py", "--pattern", "--seconds", 4, "--push", 0, cwd=tmp_path)
    assert float(re.search(pattern, out).group(3)) < 0.75 * speed


def test_policy(tmp_path):
    """Ten rounds by gradients leave less than they began with, and less than as many steps of evolution."""
    pytest.importorskip("torch")
    out = run("policy.py", tmp_path / "policy.svg", "--rounds", 2 if LIGHT else 15, cwd=tmp_path)
    first, learned, evolved = (float(x) for x in re.findall(r"(\S+) mm", out))
    assert LIGHT or (learned < 0.8 * first and learned < evolved)
    assert (tmp_path / "policy.svg").read_text(encoding="utf-8").count("<polyline") == 16 + 2


def test_wipe(tmp_path):
    out = run("wipe.py", tmp_path / "wipe.svg", cwd=tmp_path)
    found = re.findall(r": (\S+) N, off by (\S+) N .* off the way by (\S+) mm", out)
    alone, planned, wrong = ([float(x) for x in row] for row in found)
    assert planned[1] < 0.1 and planned[2] < 0.2 and planned[1] < 0.01 * alone[1]
    assert wrong[1] < 5 and wrong[2] < 0.5
    assert (tmp_path / "wipe.svg").read_text(encoding="utf-8").count("<polyline") == 5


@pytest.mark.parametrize("page", ["docs/python.md", "docs/howto/from-mujoco-python.md", "docs/howto/environments.md",
                                  "docs/howto/cameras.md", "docs/start.md", "docs/hello.md", "docs/howto/throw-a-box.md",
                                  "docs/howto/write-a-controller.md",
                                  "docs/from/pybullet-python.md", "README.md",
                                  *(f"docs/book/{path.name}" for path in sorted((ROOT / "docs/book").glob("*.md")))])
def test_documentation(page, tmp_path, monkeypatch, capsys):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks)
    exec(compile(code, page, "exec"), {"__name__": "documentation"})
    expected = re.findall(r"^```python\n(?:(?!```).*\n)*```\n+```text\n((?:(?!```).*\n)*)```", text, re.MULTILINE)
    if expected:
        assert capsys.readouterr().out == "".join(expected)
