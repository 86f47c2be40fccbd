"""Loads a URDF file and prints the contact forces: forces.py [FILE]"""

import sys
import tempfile
from pathlib import Path

import rigor

TABLE = """<robot name="table"><link name="top">
<inertial><mass value="12"/><origin xyz="0.1 0 0"/>
<inertia ixx="0.8" iyy="1.2" izz="1.9" ixy="0" ixz="0" iyz="0"/></inertial>
{legs}</link></robot>"""
LEG = """<collision name="leg{i}"><origin xyz="{x} {y} -0.35"/>
<geometry><box size="0.05 0.05 0.7"/></geometry></collision>"""


def table() -> Path:
    """A table whose weight is not in the middle."""
    corners = [(x, y) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    legs = "".join(LEG.format(i=i, x=x, y=y) for i, (x, y) in enumerate(corners))
    path = Path(tempfile.mkdtemp()) / "table.urdf"
    path.write_text(TABLE.format(legs=legs))
    return path


definition = rigor.load_def(sys.argv[1] if len(sys.argv) > 1 else table(), base="floating")
definition.add_shape("plane", name="floor", mu=0.6)
model = definition.compile()
world = rigor.World(model)
world.q[2] = 0.701  # a millimetre above the floor
world.step(1000)

shapes = model.names("shape")
total = 0.0
for contact in world.contacts:
    force = contact["force"]  # on B; the floor belongs to the world, which is always A
    x, y, z = contact["point"]
    print(f"{shapes[contact['shape_a']]} - {shapes[contact['shape_b']]}: {force[2]:6.3f} N "
          f"at ({x:+.3f}, {y:+.3f}, {z:+.3f}) m, {['open', 'stick', 'slip'][contact['state']]}")
    total += force[2]
print(f"together {total:.3f} N; the weight is {9.81 * model.mass:.3f} N")
