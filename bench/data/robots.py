"""The robots of the report, made from public packages: robots.py OUT

UR5, Solo12, Talos and the Allegro hand from the URDF files of example-robot-data, Cassie from its SDF file, the
humanoid from Debian's libmujoco-samples, each as the scene of the paper's comparison: convex hulls of the collision
meshes (of Cassie's visual ones) with at most 1000 vertices, no actuation, damping, armature or limits, friction 0.7, a
floor. X_strict.xml excludes pairs of bodies that a joint connects, X.xml also those that overlap at the start. Meshes
and descriptions keep their own licences, and nothing here goes into the project."""
import math
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
from scipy.spatial import ConvexHull

MOST = 1000  # vertices of a hull


# ---- poses: rotation matrix and point

def rotation(roll, pitch, yaw):
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                     [-sp, cp * sr, cp * cr]])


def pose(numbers):
    return rotation(*numbers[3:]), np.array(numbers[:3])


IDENTITY = (np.eye(3), np.zeros(3))


def multiply(a, b):
    return a[0] @ b[0], a[0] @ b[1] + a[1]


def inverse(a):
    return a[0].T, -a[0].T @ a[1]


def quaternion(R):
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, R.reshape(9))
    return q


def text(values):
    return " ".join(f"{value:.9g}" for value in np.atleast_1d(values) + 0.0)


# ---- meshes

def read_stl(path):
    with open(path, "rb") as file:
        data = file.read()
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
        return np.frombuffer(data, record, count, 84)["corners"].reshape(-1, 3).astype(float)
    corners = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data)
    return np.array([[float(x) for x in corner] for corner in corners])


def directions(count):
    """Spread over the sphere in a spiral."""
    z = 1 - (2 * np.arange(count) + 1) / count
    turn = np.pi * (3 - math.sqrt(5)) * np.arange(count)
    r = np.sqrt(1 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], 1)


def hull(points):
    """Vertices of the convex hull, to 0.1 um; of many those that reach furthest in some direction."""
    points = np.unique(np.round(points, 7), axis=0)
    points = points[ConvexHull(points).vertices]
    if len(points) > MOST:
        points = points[np.unique(np.argmax(points @ directions(MOST).T, axis=0))]
        points = points[ConvexHull(points).vertices]
    return points[np.lexsort(points.T[::-1])]


# ---- robots, whatever they were read from

class Link:
    def __init__(self, name):
        self.name, self.mass, self.centre, self.moments = name, 0.0, IDENTITY, np.zeros((3, 3))
        self.points, self.primitives, self.joint, self.parent, self.place = [], [], None, None, IDENTITY

    def add_mesh(self, folder, uri, at, scale=(1, 1, 1)):
        path = os.path.join(folder, re.sub(r"^(package|model)://example-robot-data/", "", uri))
        points = read_stl(path) * np.array(scale)
        self.points.append(points @ at[0].T + at[1])

    def add_primitive(self, shape, at):
        if shape.tag == "box":
            size = [x / 2 for x in numbers(shape.get("size"))]
        elif shape.tag == "sphere":
            size = [float(shape.get("radius"))]
        else:
            size = [float(shape.get("radius")), float(shape.get("length")) / 2]
        self.primitives.append((shape.tag, size, at))


def numbers(value, count=3):
    return [float(x) for x in value.split()] if value else [0.0] * count


def origin(element):
    found = element.find("origin")
    return IDENTITY if found is None else pose(numbers(found.get("xyz")) + numbers(found.get("rpy")))


def moments_of(get):
    xx, yy, zz, xy, xz, yz = (float(get(key)) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def read_urdf(path, folder, shapes="collision"):
    root, links = ET.parse(path).getroot(), {}
    for element in root.findall("link"):
        link = links[element.get("name")] = Link(element.get("name"))
        inertial = element.find("inertial")
        if inertial is not None:
            link.mass = float(inertial.find("mass").get("value"))
            link.centre, link.moments = origin(inertial), moments_of(inertial.find("inertia").get)
        for collision in element.findall(shapes):
            shape, at = collision.find("geometry")[0], origin(collision)
            if shape.tag == "mesh":
                link.add_mesh(folder, shape.get("filename"), at, numbers(shape.get("scale") or "1 1 1"))
            else:
                link.add_primitive(shape, at)
    for element in root.findall("joint"):
        child, kind = links[element.find("child").get("link")], element.get("type")
        child.parent, child.place = element.find("parent").get("link"), origin(element)
        if kind != "fixed":
            axis = element.find("axis")
            axis = numbers(axis.get("xyz")) if axis is not None else [1, 0, 0]
            child.joint = (element.get("name"), "slide" if kind == "prismatic" else "hinge", axis)
    return list(links.values()), []


def read_sdf(path, folder):
    """Poses are in the model's frame; joints whose child has a parent already close loops."""
    links, places, loops = {}, {}, []
    model = ET.parse(path).getroot().find("model")
    for element in model.findall("link"):
        link = links[element.get("name")] = Link(element.get("name"))
        places[link.name] = pose(numbers(element.findtext("pose"), 6))
        inertial = element.find("inertial")
        link.mass, link.moments = float(inertial.findtext("mass")), moments_of(inertial.find("inertia").findtext)
        link.centre = pose(numbers(inertial.findtext("pose"), 6))
        visual = element.find("visual")
        mesh = visual.find("geometry").find("mesh") if visual is not None else None
        if mesh is not None:
            scale = numbers(mesh.findtext("scale") or "1 1 1")
            link.add_mesh(folder, mesh.findtext("uri"), pose(numbers(visual.findtext("pose"), 6)), scale)
    joints = []
    for element in model.findall("joint"):
        child, parent = element.findtext("child"), element.findtext("parent")
        at = multiply(places[child], pose(numbers(element.findtext("pose"), 6)))
        axis = element.find("axis")
        axis = multiply(inverse(places[child]), (at[0], IDENTITY[1]))[0] @ numbers(axis.findtext("xyz")) \
            if axis is not None else None
        joints.append((element.get("name"), element.get("type"), parent, child, at[1], axis))
    # A ball joint may be written from the tip to the base: it turns around, unless its parent has one already.
    for name, kind, parent, child, anchor, axis in joints:
        if links[child].parent is not None and links[parent].parent is None and kind == "ball":
            parent, child = child, parent
        if links[child].parent is not None:
            loops.append((parent, child, multiply(inverse(places[parent]), (np.eye(3), anchor))[1]))
            continue
        links[child].parent = parent
        links[child].place = multiply(inverse(places[parent]), places[child])
        links[child].joint = (name, "ball" if kind == "ball" else "hinge", [0, 0, 1] if axis is None else axis,
                              multiply(inverse(places[child]), (np.eye(3), anchor))[1])
    return list(links.values()), loops


# ---- scenes

def add_inertial(body, link):
    """Frames of sensors have a mass without moments in some files; they get 1e-9 kg m^2."""
    if link.mass > 0:
        moments = link.moments if np.linalg.eigvalsh(link.moments)[0] > 0 else 1e-9 * np.eye(3)
        M = link.centre[0] @ moments @ link.centre[0].T
        ET.SubElement(body, "inertial", pos=text(link.centre[1]), mass=text(link.mass),
                      fullinertia=text([M[0, 0], M[1, 1], M[2, 2], M[0, 1], M[0, 2], M[1, 2]]))


def holds_anything(link, links):
    return link.mass > 0 or bool(link.points or link.primitives) or any(holds_anything(one, links) for one in links
                                                     if one.parent == link.name)


def add_bodies(above, assets, links, parent, free):
    for link in (one for one in links if one.parent == parent and holds_anything(one, links)):
        name = "world_link" if link.name == "world" else link.name  # MJCF's own word
        body = ET.SubElement(above, "body", name=name, pos=text(link.place[1]),
                             quat=text(quaternion(link.place[0])))
        add_inertial(body, link)
        if parent is None and free:
            ET.SubElement(body, "freejoint", name="root")
        if link.joint is not None:
            name, kind, axis, *anchor = link.joint
            joint = ET.SubElement(body, "joint", name=name, type=kind, axis=text(axis))
            if anchor and np.any(anchor[0]):
                joint.set("pos", text(anchor[0]))
        if link.points:
            ET.SubElement(assets, "mesh", name=link.name, vertex=text(hull(np.concatenate(link.points)).reshape(-1)))
            ET.SubElement(body, "geom", name="g_" + link.name, type="mesh", mesh=link.name)
        for k, (kind, size, at) in enumerate(link.primitives):
            ET.SubElement(body, "geom", name=f"g_{link.name}_p{k}", type=kind, size=text(size), pos=text(at[1]),
                          quat=text(quaternion(at[0])))
        add_bodies(body, assets, links, link.name, free)


def make_scene(name, links, loops, free):
    root = ET.Element("mujoco", model=name)
    ET.SubElement(root, "compiler", angle="radian", balanceinertia="true")
    ET.SubElement(root, "option", timestep="0.001", cone="elliptic", solver="Newton", integrator="Euler",
                  gravity="0 0 -9.81")
    default = ET.SubElement(root, "default")
    ET.SubElement(default, "geom", condim="3", friction="0.7 0.005 0.0001", contype="1", conaffinity="1",
                  density="0")  # masses are those of the files
    assets, world = ET.SubElement(root, "asset"), ET.SubElement(root, "worldbody")
    ET.SubElement(world, "geom", name="floor", type="plane", size="0 0 1")
    add_bodies(world, assets, links, None, free)
    contact = ET.SubElement(root, "contact")
    if not free:  # what a joint connects to a part that is fixed to the world collides in MuJoCo
        names = {link.name: link for link in links}
        for link in links:
            above = link.parent
            while above is not None and names[above].joint is None and not (
                    names[above].points or names[above].primitives):
                above = names[above].parent
            fixed = above is not None and names[above].joint is None
            if fixed and link.joint is not None:
                ET.SubElement(contact, "exclude", body1=above, body2=link.name)
    if loops:
        equality = ET.SubElement(root, "equality")
        for a, b, anchor in loops:
            ET.SubElement(equality, "connect", body1=a, body2=b, anchor=text(anchor))
            ET.SubElement(contact, "exclude", body1=a, body2=b)
    return root


def write(root, path):
    ET.indent(root)
    with open(path, "w", encoding="utf-8") as file:
        file.write(ET.tostring(root, encoding="unicode") + "\n")


def start_of(root, places, height):
    model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    q = model.qpos0.copy()
    if height is not None:
        q[2] = height
    for name, value in places.items():
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            q[model.jnt_qposadr[joint]] = value
    return model, q


def overlaps(model, q):
    """Pairs of bodies in penetration at the start, none of them the world."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    pairs = set()
    for contact in data.contact[:data.ncon]:
        a, b = sorted(int(model.geom_bodyid[geom]) for geom in contact.geom)
        if a > 0 and contact.dist < 0:
            pairs.add((model.body(a).name, model.body(b).name))
    return sorted(pairs)


def save(out, folder, name, links, loops=(), free=True, height=None, places=None):
    """X_strict.xml, and X.xml without pairs that overlap at the start; the number of velocities."""
    os.makedirs(os.path.join(out, folder), exist_ok=True)
    root = make_scene(name, links, loops, free)
    model, q = start_of(root, places or {}, height)
    keys = ET.SubElement(root, "keyframe")
    ET.SubElement(keys, "key", name="init", qpos=text(q))
    write(root, os.path.join(out, folder, name + "_strict.xml"))
    for a, b in overlaps(model, q):
        ET.SubElement(root.find("contact"), "exclude", body1=a, body2=b)
    write(root, os.path.join(out, folder, name + ".xml"))
    print(f"{folder}/{name}.xml: {model.nv} velocities, {model.nmesh} hulls, {model.body_subtreemass[0]:.6g} kg")


def half_sitting(path):
    for state in ET.parse(path).getroot().findall("group_state"):
        if state.get("name") == "half_sitting":
            return {joint.get("name"): float(joint.get("value")) for joint in state.findall("joint")
                    if len(joint.get("value").split()) == 1}
    return {}


def lift(links, height):
    for link in links:
        if link.parent is None:
            link.place = (link.place[0], np.array([0, 0, height]))


def save_humanoid(out):
    """Of MuJoCo 2.2's samples, without what is more than bodies and joints."""
    with tempfile.TemporaryDirectory() as scratch:
        for command in (["apt-get", "download", "-qq", "libmujoco-samples"],
                        ["sh", "-c", "dpkg-deb -x libmujoco-samples_*.deb ."]):
            subprocess.run(command, cwd=scratch, check=True, capture_output=True)
        root = ET.parse(os.path.join(scratch, "usr/share/mujoco/model/humanoid/humanoid.xml")).getroot()
    for tag in ("actuator", "tendon", "sensor", "visual", "asset", "keyframe", "contact", "statistic", "size", "custom"):
        for element in root.findall(tag):
            root.remove(element)
    for element in root.iter():
        for child in [one for one in element if one.tag in ("light", "camera", "site", "motor", "general", "position")]:
            element.remove(child)
        for key in ("damping", "armature", "stiffness", "limited", "range", "frictionloss", "material", "solimplimit",
                    "solreflimit", "solref", "solimp", "condim", "friction", "childclass_"):
            if element.tag in ("joint", "geom", "freejoint"):
                element.attrib.pop(key, None)
    option = root.find("option")
    if option is not None:
        root.remove(option)
    ET.SubElement(root, "option", timestep="0.001", cone="elliptic", solver="Newton", integrator="Euler")
    for geom in root.iter("geom"):
        geom.set("condim", "3") if geom.get("type") == "plane" else None
    body = root.find("default")
    first = body.find("default") if body is not None and body.find("geom") is None else body
    geom = first.find("geom")
    geom.set("condim", "3")
    geom.set("friction", "0.7 0.005 0.0001")
    for plane in root.find("worldbody").findall("geom"):
        plane.set("friction", "0.7 0.005 0.0001")
    model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    q = model.qpos0.copy()
    q[2] = 1.482
    q[3:7] = quaternion(rotation(0.1, 0.2, 0))
    keys = ET.SubElement(root, "keyframe")
    ET.SubElement(keys, "key", name="init", qpos=text(q))
    os.makedirs(os.path.join(out, "humanoid"), exist_ok=True)
    write(root, os.path.join(out, "humanoid", "humanoid.xml"))
    print(f"humanoid/humanoid.xml: {model.nv} velocities, {model.body_subtreemass[0]:.6g} kg")


def main():
    out = os.path.join(sys.argv[1], "robots")
    packages = os.path.dirname(os.path.dirname(mujoco.__file__))
    share = os.path.join(packages, "cmeel.prefix", "share", "example-robot-data")
    robots = os.path.join(share, "robots")
    ur5, _ = read_urdf(os.path.join(robots, "ur_description/urdf/ur5_robot.urdf"), share)
    save(out, "ur5", "ur5", ur5, free=False, places=dict(zip(
        ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"),
        (0.3, -0.8, 0.1, 0.2, -0.3, 0.1))))
    solo, _ = read_urdf(os.path.join(robots, "solo_description/robots/solo12.urdf"), share)
    save(out, "solo12", "solo12", solo, height=0.5)
    talos, _ = read_urdf(os.path.join(robots, "talos_data/robots/talos_reduced.urdf"), share)
    save(out, "talos", "talos", talos, height=1.3,
         places=half_sitting(os.path.join(robots, "talos_data/srdf/talos.srdf")))
    hand, _ = read_urdf(os.path.join(robots, "allegro_hand_description/urdf/allegro_right_hand.urdf"), share,
                        "visual")  # its collision shapes are boxes
    lift(hand, 0.3)
    save(out, "allegro", "allegro", hand, free=False)
    cassie, loops = read_sdf(os.path.join(robots, "cassie_description/robots/cassie_v2.sdf"), share)
    save(out, "cassie", "cassie_eq", cassie, loops, height=1.25)
    save(out, "cassie", "cassie_noeq", cassie, height=1.25)
    try:
        save_humanoid(out)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"humanoid: not made, as Debian's libmujoco-samples cannot be had ({error}); the report measures rigor's "
              "own humanoid, and says so", file=sys.stderr)


if __name__ == "__main__":
    main()
