"""Models: files, scenes, definitions, names, and what is refused."""

import copy
import pickle
import sys
import threading
import types

import numpy as np
import pytest

import rigor

URDF = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="2"/>
<origin xyz="0 0 0.5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="elbow" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="9" velocity="1"/></joint></robot>"""


def ball(radius=0.1, mass=2.0, height=1.0):
    d = rigor.ModelDef("ball")
    body = d.add_body("ball", pose=(0, 0, height), mass=mass,
                      moment=[0.4 * mass * radius**2] * 3)
    d.add_joint(body, "free", "root")
    d.add_shape("sphere", radius, "ball", mu=0.5)
    d.add_shape("plane", name="floor")
    return d


def test_world_is_not_the_last_name(quadruped):
    """Contacts and parents say -1 for the world."""
    for names in (quadruped.body_names, ball().names("body")):
        assert names[-1] == "world" and "world" not in names
        with pytest.raises(IndexError, match="-2 is not the number of a body"):
            names[-2]
    joints = quadruped.joint_names
    with pytest.raises(IndexError, match="-1 is not the number of a joint"):
        joints[-1]
    assert joints[:2] == tuple(joints)[:2] and joints[np.int32(1)] == tuple(joints)[1]
    assert joints[-2:] == tuple(joints)[-2:] and copy.copy(joints) == joints == pickle.loads(pickle.dumps(joints))


def test_names_and_numbers(quadruped):
    assert quadruped.nq == 19 and quadruped.nv == 18 and quadruped.nu == 12
    for kind in ("body", "joint", "actuator", "key", "frame", "shape"):
        for number, name in enumerate(quadruped.names(kind)):
            assert not name or quadruped.id(kind, name) == number
            assert quadruped.id(kind, number) == number
    joint = quadruped.joint("abad_fl")
    assert joint.kind == "revolute" and joint.q == slice(7, 8) and joint.v == slice(6, 7)
    np.testing.assert_array_equal(joint.axis, [1, 0, 0])
    assert quadruped.body_names[joint.body] == quadruped.body(joint.body).name


def test_what_is_missing_is_named(quadruped):
    with pytest.raises(rigor.NotFoundError, match="no joint 'abad_f'; there is 'abad_f"):
        quadruped.joint("abad_f")
    with pytest.raises(KeyError, match="no joint number 99: it has 13"):
        quadruped.joint(99)
    with pytest.raises(KeyError, match="no body 'a\\\\?"):
        quadruped.body("a\0b")
    with pytest.raises(KeyError, match="number -1"):
        quadruped.body(-1)
    with pytest.raises(ValueError, match="none of body, joint"):
        quadruped.names("wheel")
    with pytest.raises(TypeError):
        quadruped.body(1.5)
    with pytest.raises(KeyError, match="no scene 'wal'; there is wall"):
        rigor.scene("wal")
    assert "wall" in rigor.scenes() and "humanoid" in rigor.builtin_models()


def test_files_that_are_none():
    with pytest.raises(rigor.FileError, match="nowhere.xml"):
        rigor.load("nowhere.xml")
    with pytest.raises(rigor.FileError, match="did you mean 'quadruped'"):
        rigor.load("quadrupd")
    with pytest.raises(OSError):
        rigor.load("nowhere.xml")
    with pytest.raises(rigor.FormatError):
        rigor.parse("<robot")
    with pytest.raises(ValueError, match="zero byte"):
        rigor.load("a\0b")
    with pytest.raises(TypeError, match="load has no setting 'bose'; it has base, .*package_dirs"):
        rigor.parse(URDF, bose="floating")
    with pytest.raises(ValueError, match="'flying' is none of from_file, fixed, floating"):
        rigor.parse(URDF, base="flying")


def test_urdf_base(tmp_path):
    assert rigor.parse(URDF).nv == 1
    with pytest.warns(rigor.RigorWarning, match="^line 1: link 'base' moves, but neither it nor"):
        assert rigor.parse(URDF.encode(), base="floating").nv == 7
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    model = rigor.load(path)
    elbow = model.joint("elbow")
    assert elbow.has_limits and (elbow.lower, elbow.upper, elbow.effort_limit) == (-1, 2, 9)
    with pytest.warns(rigor.RigorWarning, match="no velocity limits; left out for joints: elbow"):
        model.save(tmp_path / "arm.xml")
    again = rigor.load(tmp_path / "arm.xml")
    assert again.nq == model.nq and again.mass == model.mass


def test_xacro(tmp_path, monkeypatch):
    """The package expands the file; errors of it are those of the format. Without it, a hint."""
    path = tmp_path / "arm.xacro"
    path.write_text("<robot name='r' xmlns:xacro='x'><xacro:arm n='2'/></robot>")
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(rigor.FormatError, match="expand it to a URDF file first"):
        rigor.load(path)
    text = "<robot name='r'><link name='a'/><link name='b'/></robot>"
    made = types.SimpleNamespace(toxml=lambda: text.replace("<link name='b'/>", ""))
    package = types.SimpleNamespace(process_file=lambda name: made)
    monkeypatch.setitem(sys.modules, "xacro", package)
    assert rigor.load(path).names("body") == ("a",)

    def fail(name):
        raise KeyError("n")
    package.process_file = fail
    with pytest.raises(rigor.FormatError, match="xacro: 'n'"):
        rigor.load(path)


def test_self_overlap(tmp_path):
    """The option of the loader, by the names of its values."""
    box = ("<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
           "</inertial><collision><geometry><sphere radius='1'/></geometry></collision></link>")
    text = "<robot name='r'>" + "".join(f"<link name='{n}'>{box}" for n in "abc") + "".join(
        f"<joint name='{p}{c}' type='continuous'><parent link='{p}'/><child link='{c}'/></joint>"
        for p, c in ("ab", "bc")) + "</robot>"
    assert "do" in rigor.parse(text).notes[0] and "not collide" in rigor.parse(text).notes[0]
    assert "and collides" in rigor.parse(text, self_overlap="keep").notes[0]


def test_warnings_are_python_warnings(tmp_path):
    text = URDF.replace('<parent link="base"/>', "")
    text = text.replace('type="revolute"', 'type="revolute" colour="x"')
    with pytest.raises(rigor.Error) as raised:
        with pytest.warns(rigor.RigorWarning, match="arm.urdf:3: .*unknown attribute 'colour'"):
            rigor.parse(text, path="arm.urdf")
    assert "arm.urdf:3" in str(raised.value) and "parent" in str(raised.value)
    model = ball().compile()
    with pytest.warns(rigor.RigorWarning, match="damping has no effect without a stiffness"):
        rigor.World(model, damping=1.0)


def test_building():
    d = ball()
    with pytest.raises(rigor.NotFoundError, match="no body 'bell'; there is 'ball'"):
        d.add_joint("bell")
    with pytest.raises(TypeError, match="joint has no setting 'axes'; it has anchor, armature, axis"):
        d.add_joint("ball", axes=(0, 0, 1))
    with pytest.raises(TypeError, match="has no setting 'mas'; it has center, .*mass, moment"):
        d.add_body("heavy", mas=1)
    with pytest.raises(ValueError, match="axis must have shape \\(3,\\), not \\(2,\\)"):
        d.add_joint("ball", axis=(0, 1))
    with pytest.raises(ValueError, match="axis\\[1\\] is nan"):
        d.add_joint("ball", axis=(0, float("nan"), 1))
    with pytest.raises(ValueError, match="real numbers"):
        d.add_joint("ball", axis=("a", "b", "c"))
    model = ball(mass=3).compile()
    assert model.mass == 3 and model.name == "ball"
    np.testing.assert_allclose(model.body("ball").inertia.mass, 3)
    assert model.shape(0).material.mu == 0.5


def test_all_parts_can_be_built():
    d = rigor.ModelDef("parts")
    a = d.add_body("a", mass=1, moment=(1, 1, 1))
    b = d.add_body("b", "a", pose=((0, 0, 1), (1, 0, 0, 0)), mass=1, moment=(1, 1, 1, 0, 0, 0))
    d.add_joint(a, name="j0", axis=(0, 1, 0), limits=(-1, 1), damping=0.1)
    d.add_joint("b", "prismatic", "j1")
    d.add_shape("hull", body=b, vertices=np.random.default_rng(1).normal(size=(20, 3)))
    heights = np.zeros((3, 4))
    d.add_shape("height_field", (2, 2, 1), heights=heights)
    d.add_tendon(["j0", "j1"], [1, 2], "t", limits=(-5, 5))
    d.add_actuator("j0", "u0", gain=2, control_range=(-1, 1))
    d.add_actuator(name="u1", tendon="t", gear=3)
    d.add_equality("joint", "e", joint_a="j0", joint_b="j1", polynomial=(0, 1))
    d.add_frame("tool", "b", (0, 0, 0.1))
    d.add_sensor("joint_position", "s", joint="j1")
    d.add_key("k", q=[0.1, 0.2], ctrl=[1, 2])
    d.exclude("a", "b")
    d.set_options(gravity=(0, 0, -1.6), dt=2e-3)
    model = d.compile()
    assert (model.nq, model.nv, model.nu) == (2, 2, 2)
    assert model.actuator("u1").gear[0] == 3 and model.part("tendon", "t").upper == 5
    np.testing.assert_array_equal(model.key("k").q, [0.1, 0.2])
    world = rigor.World(model, key="k")
    assert world.dt == 2e-3
    np.testing.assert_array_equal(world.sensor("s"), [0.2])
    np.testing.assert_array_equal(world.ctrl, [1, 2])


def test_errors_of_the_compiler_name_the_part():
    d = rigor.ModelDef()
    d.add_body("stone", mass=-1)
    with pytest.raises(rigor.ArgumentError, match="stone"):
        d.compile()


def test_configurations(quadruped):
    q = quadruped.random(7)
    v = np.random.default_rng(2).normal(size=quadruped.nv)
    there = quadruped.integrate(q, v, 0.1)
    np.testing.assert_allclose(quadruped.difference(q, there), 0.1 * v, atol=1e-12)
    with pytest.raises(ValueError, match="q must have shape \\(19,\\)"):
        quadruped.integrate(q[:3], v, 0.1)


def test_no_pickle(quadruped):
    for thing in (quadruped, rigor.ModelDef(), rigor.World(quadruped), rigor.Solver(),
                  rigor.Dynamics(quadruped)):
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                call(thing)
    again = rigor.parse(quadruped.mjcf())  # what the message says to do
    assert again.nq == quadruped.nq


def test_a_definition_takes_several_threads():
    d = rigor.ModelDef()

    def work(k):
        for i in range(50):
            d.add_body(f"b{k}_{i}", mass=1, moment=(1, 1, 1))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert d.compile().info.body_count == 200


def test_compose_and_edit():
    arm = rigor.load_def("arm_wall")
    floor_less = dict(prefix="hand/", parent="wrist_3", kind="fixed", without_world=True,
                      pose=(0, 0.12, 0))
    arm.attach(rigor.load_def("hand"), **floor_less)
    dog = rigor.load_def("quadruped")
    for i in range(2):
        arm.attach(dog, prefix=f"dog{i}/", pose=(0, 2.0 + i, 0), without_world=True)
    names = arm.names("body")
    assert "dog1/trunk" in names and any(n.startswith("hand/") for n in names)
    with pytest.raises(rigor.Error, match="dog0/trunk"):
        arm.attach(dog, prefix="dog0/", without_world=True)
    with pytest.raises(ValueError, match="to itself"):
        dog.attach(dog)

    dog.change("joint", "hip_fl", damping=3.0, limits=(-1, 1))
    hip = dog.part("joint", "hip_fl")
    assert (hip.damping, hip.lower, hip.upper) == (3, -1, 1)
    before = dog.compile().nv
    gone = dog.remove("body", "thigh_fl")
    assert gone and dog.compile().nv < before
    with pytest.raises(rigor.NotFoundError, match="no joint number 99"):
        dog.change("joint", 99, damping=1)
    with pytest.raises(rigor.NotFoundError, match="no body 'thigh_fl'"):
        dog.remove("body", "thigh_fl")

    bare = rigor.parse_def(URDF)
    bare.add_servos(100, 10)
    assert bare.compile().actuator("elbow").kp == 100


@pytest.mark.parametrize("call", [
    lambda d: d.add_tendon(["root"], [1], joint_count=10**6),
    lambda d: d.add_shape("mesh", mesh={"vertex_count": 10**6, "vertices": [0.0]}),
    lambda d: d.change("key", "k", q_count=10**6),
    lambda d: d.add_joint("ball", cookie=1),
    lambda d: rigor.load("quadruped", package_dir_count=10**6),
    lambda d: rigor.World(d.compile()).change("shape", 0, mesh={}),
    lambda d: rigor.World(d.compile(), tasks={}),
])
def test_arrays_and_their_counts_are_no_settings(call):
    d = ball()
    d.add_key("k", q=[0, 0, 1, 1, 0, 0, 0])
    with pytest.raises(TypeError, match="has no setting"):
        call(d)


def test_way_of_a_tendon():
    d = rigor.ModelDef()
    arm = d.add_body("arm", mass=1.0, moment=(0.1, 0.1, 0.1))
    d.add_joint(arm, "revolute", axis=(0, 1, 0), name="elbow")
    d.add_frame("a", None, (-1, 0, 0.5, 1, 0, 0, 0))
    d.add_frame("b", arm, (1, 0, 0.5, 1, 0, 0, 0))
    d.add_shape("cylinder", (0.3, 0.1), name="drum", pose=(0, 0, 0.5, np.sqrt(0.5), np.sqrt(0.5), 0, 0))
    d.add_frame("side", None, (0, 0, 2, 1, 0, 0, 0))
    d.add_tendon(points=["a", {"shape": "drum", "side": "side"}, "b", {"divisor": 2}, "a", "b"],
                 name="rope", stiffness=10)
    d.add_sensor("tendon_position", tendon="rope")
    w = rigor.World(d.compile())
    around = 2 * np.sqrt(1 - 0.09) + 0.3 * (np.pi - 2 * np.arccos(0.3))
    assert w.sensors[0] == pytest.approx(around + 1, abs=1e-12)
    with pytest.raises(rigor.ArgumentError):
        d.add_tendon(points=[{"shap": "drum"}])


def test_wrong_numbers_of_parts():
    for wrong in (-7, 99, 2**31 - 2):
        for add in ("add_joint", "add_actuator"):
            with pytest.raises((rigor.Error, OverflowError)):
                d = ball()
                getattr(d, add)(wrong)
                d.compile()
    with pytest.raises(OverflowError):
        ball().add_joint(2**40)


def test_sdf():
    text = """<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>2</mass></inertial></link>
<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"""
    model = rigor.parse(text)
    assert model.nv == 1 and model.mass == 2
