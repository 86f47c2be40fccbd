#!/usr/bin/env python3
"""The gallery: docs/gallery.py RIGOR [NAME...] simulates, renders and writes docs/images/gallery and docs/gallery.md.

Needs Chromium (rigor render) and Pillow, which comes with matplotlib. Names make these pictures alone.
"""
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import wrap

from PIL import Image

HERE = Path(__file__).resolve().parent
OUT = HERE / "images" / "gallery"
THROW = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body name="box" pos="-0.8 0 0.6" euler="20 30 0">
<freejoint/><geom type="box" size=".1 .07 .05" mass=".5" rgba=".8 .5 .25 1"/></body></worldbody>
<keyframe><key name="throw" qpos="-0.8 0 0.6 0.93 0.18 0.3 0" qvel="2.2 0.2 1.5 3 6 0"/></keyframe></mujoco>"""
MODELS = "models"

# Name, page, caption, arguments of rigor simulate, arguments of rigor render. A text that ends in .gif is a film.
PICTURES = [
    ("wall", "howto/debug-a-simulation.md", "A ball of 1 t hits cubes of 1 kg to 10 t: forces between the bodies",
     ["wall", "--time", "2.3"], ["--show", "network,grid,shadows"]),
    ("domino", "howto/simulate.md", "Dominoes", ["domino", "--time", "1.6"], ["gif"]),
    ("throw", "howto/throw-a-box.md", "A thrown box, its way and its contact forces",
     ["throw.xml", "--key", "throw", "--time", "0.72"],
     ["--show", "forces,trails,grid,shadows", "--camera", "0.2,-1.7,0.7,0.1,0,0.35"]),
    ("support", "howto/ask-a-world.md", "A standing quadruped: contact points, friction cones, support polygon, centers "
     "of mass", ["quadruped", "--time", "0.5"], ["--show", "forces,points,cones,com,support,grid,shadows"]),
    ("arm_wall", "howto/inverse-dynamics.md", "An arm that touches a wall",
     [f"{MODELS}/arm_wall.xml", "--key", "home", "--time", "0.05"], ["--show", "forces,axes,grid,shadows"]),
    ("arm", "howto/write-a-controller.md", "Joints of the arm", [f"{MODELS}/arm.xml", "--key", "home", "--time", "0.02"],
     ["--show", "axes,frames,grid,shadows"]),
    ("chain", "howto/change-a-running-world.md", "A chain swings down, its way behind it",
     ["chain", "--time", "0.9"], ["--show", "trails,grid,shadows"]),
    ("incline", "howto/tune-contact.md", "A cube on a slope, at 0.98 of its friction", ["incline", "--time", "0.2"],
     ["--show", "forces,cones,points,grid,shadows"]),
    ("top", "howto/build-a-model.md", "A spinning top", ["top", "--time", "0.4"], ["--show", "forces,frames,grid,shadows"]),
    ("hand", "howto/cameras.md", "Cubes fall into a hand", ["hand", "--time", "1"], ["gif"]),
    ("compose", "howto/compose.md", "Three files in one world",
     [f"{MODELS}/quadruped.xml", "--prefix", "dog/", f"{MODELS}/hand.xml", "--prefix", "hand/", "--without-world",
      "--at", "0.8,0,0.2", f"{MODELS}/humanoid.xml", "--prefix", "man/", "--without-world", "--at", "-0.8,0,0",
      "--time", "0.02"], ["--show", "grid,shadows"]),
    ("massratio", "howto/use-the-contact-solver-alone.md", "10 t stand on 1 kg", ["massratio", "--time", "0.5"],
     ["--show", "forces,points,grid,shadows"]),
    ("tower", "howto/add-a-scene.md", "A tower of thirty boxes", ["tower", "--time", "0.5"],
     ["--show", "network,grid,shadows"]),
    ("pile", "howto/run-on-a-cluster.md", "Boxes, balls and rods fall into a pit",
     ["pile", "--bodies", "60", "--time", "1"], ["--show", "grid,shadows"]),
]


def make(rigor, name, simulate, render, folder):
    recording = folder / f"{name}.h5"
    run = [str(folder / a) if a == "throw.xml" else a for a in simulate]
    subprocess.run([rigor, "simulate", *run, "--record", recording, "--record-every", "5"], check=True, cwd=HERE.parent,
                   capture_output=True)
    if render == ["gif"]:
        frames = folder / f"{name}-frames"
        subprocess.run([rigor, "render", recording, f"{frames}/", "--fps", "12", "--size", "400x250",
                        "--show", "forces,shadows"], check=True)
        pictures = [Image.open(p).convert("RGB").quantize(48, dither=Image.Dither.NONE) for p in sorted(frames.glob("*.png"))]
        pictures[0].save(OUT / f"{name}.gif", save_all=True, append_images=pictures[1:], duration=83, loop=0, optimize=True)
    else:
        picture = folder / f"{name}.png"
        subprocess.run([rigor, "render", recording, picture, "--size", "720x450", *render], check=True)
        Image.open(picture).convert("RGB").save(OUT / f"{name}.jpg", quality=80, optimize=True)


def page():
    lines = ["# Gallery", ""] + wrap("Made by `make gallery`, which simulates and renders all of these. The page that belongs "
                                     "to a picture is linked below it.", 100) + [""]
    for name, where, caption, simulate, render in PICTURES:
        file = f"{name}.gif" if render == ["gif"] else f"{name}.jpg"
        command = wrap(f"rigor simulate {' '.join(simulate)}", 90, break_on_hyphens=False, subsequent_indent="    ")
        lines += [f"![{caption.split(':')[0]}](images/gallery/{file})", "",
                  *wrap(f"{caption}: [{where.split('/')[-1][:-3]}]({where})", 100, break_on_hyphens=False), "",
                  "```text", " \\\n".join(command), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def main():
    rigor, names = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "throw.xml").write_text(THROW, encoding="utf-8")
        for name, _, _, simulate, render in PICTURES:
            if not names or name in names:
                make(rigor, name, simulate, render, folder)
                print(name)
    (HERE / "gallery.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
