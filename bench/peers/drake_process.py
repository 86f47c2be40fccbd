"""Drake for drake.c, as process.h says: drake_process.py SCENE.json VARIANT."""
import json
import logging
import math
import os
import struct
import sys
import time

import numpy as np
from pydrake.geometry import (Box, Capsule, CollisionFilterDeclaration, Convex, Cylinder, Ellipsoid, GeometrySet,
                              HalfSpace, ProximityProperties, Sphere, AddContactMaterial)
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.common.eigen_geometry import Quaternion
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import (AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction,
                                     DiscreteContactApproximation)
from pydrake.multibody.tree import (BallRpyJoint, FixedOffsetFrame, PrismaticJoint, RevoluteJoint, SpatialInertia,
                                    UnitInertia)
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder


def transform(pose):
    q = np.array(pose[3:])
    return RigidTransform(Quaternion(q / np.linalg.norm(q)), pose[:3])


def make_shape(shape):
    x, y, z = shape["size"]
    kind = shape["kind"]
    if kind == "plane":
        return HalfSpace()
    if kind == "sphere":
        return Sphere(x)
    if kind == "capsule":
        return Capsule(x, 2 * y)
    if kind == "cylinder":
        return Cylinder(x, 2 * y)
    if kind == "box":
        return Box(2 * x, 2 * y, 2 * z)
    if kind == "ellipsoid":
        return Ellipsoid(x, y, z)
    return Convex(points=np.array(shape["vertices"]).reshape(-1, 3).T, label="hull")


class World:
    def __init__(self, scene, variant):
        self.scene, self.step_size = scene, scene["step"]
        builder = DiagramBuilder()
        self.plant, self.graph = AddMultibodyPlantSceneGraph(builder, self.step_size)
        self.plant.set_contact_model(ContactModel.kPoint)
        self.plant.set_discrete_contact_approximation(
            DiscreteContactApproximation.kTamsi if variant == "TAMSI" else DiscreteContactApproximation.kSap)
        self.plant.mutable_gravity_field().set_gravity_vector(scene["gravity"])
        self.plant.set_adjacent_bodies_collision_filters(False)
        self.stiff = "near-rigid" in variant
        self.bodies, self.joints = [], []
        for index, link in enumerate(scene["links"]):
            self.add_link(index, link)
        self.ids = [self.add_shape(index, shape) for index, shape in enumerate(scene["shapes"])]
        for loop in scene["loops"]:
            self.plant.AddBallConstraint(self.bodies[loop["a"]], loop["at_a"], self.bodies[loop["b"]], loop["at_b"])
        self.plant.Finalize()
        self.keep_apart()
        self.diagram = builder.Build()
        self.simulator = Simulator(self.diagram)
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        self.contacts = self.plant.get_contact_results_output_port()
        self.reset()

    def add_link(self, index, link):
        """A body per joint, in the frame of the link's centre; those before the last weigh next to nothing."""
        parent = self.plant.world_body() if link["parent"] < 0 else self.bodies[link["parent"]]
        relative, joints = transform(link["pose"]), []
        moments = np.array(link["moments"]) / link["mass"]
        for k, joint in enumerate(link["joints"]):
            share = 1 if k == len(link["joints"]) - 1 else 1e-9
            inertia = SpatialInertia(share * link["mass"], np.zeros(3), UnitInertia(*moments), skip_validity_check=True)
            body = self.plant.AddRigidBody(f"link{index}.{k}", inertia)
            if joint["kind"] != "free":
                at = RigidTransform(joint["anchor"])
                before = relative.multiply(at) if k == 0 else at
                frame = self.plant.AddFrame(FixedOffsetFrame(f"before{index}.{k}", parent.body_frame(), before))
                own = self.plant.AddFrame(FixedOffsetFrame(f"after{index}.{k}", body.body_frame(), at))
                name = f"joint{index}.{k}"
                if joint["kind"] == "revolute":
                    made = RevoluteJoint(name, frame, own, joint["axis"])
                elif joint["kind"] == "prismatic":
                    made = PrismaticJoint(name, frame, own, joint["axis"])
                elif joint["kind"] == "ball":
                    made = BallRpyJoint(name, frame, own)
                else:
                    raise ValueError("it has no such joint")
                joints.append((joint, self.plant.AddJoint(made)))
            else:
                joints.append((joint, body))
            parent = body
        self.bodies.append(parent)
        self.joints += joints

    def add_shape(self, index, shape):
        if shape["kind"] == "none":
            return None
        body = self.plant.world_body() if shape["link"] < 0 else self.bodies[shape["link"]]
        properties = ProximityProperties()
        if self.stiff:
            AddContactMaterial(dissipation=0.0, point_stiffness=1e9, friction=CoulombFriction(shape["mu"], shape["mu"]),
                               properties=properties)
            properties.AddProperty("material", "relaxation_time", 2 * self.step_size)
        else:
            AddContactMaterial(friction=CoulombFriction(shape["mu"], shape["mu"]), properties=properties)
        return self.plant.RegisterCollisionGeometry(body, transform(shape["pose"]), make_shape(shape),
                                                    f"shape{index}", properties)

    def keep_apart(self):
        apart = {}
        for i, j in self.scene["apart"]:
            if self.ids[i] is not None and self.ids[j] is not None:
                apart.setdefault(i, []).append(self.ids[j])
        manager = self.graph.collision_filter_manager()
        for i, others in apart.items():
            manager.Apply(CollisionFilterDeclaration().ExcludeBetween(GeometrySet(self.ids[i]), GeometrySet(others)))

    def reset(self):
        self.simulator.get_mutable_context().SetTime(0)
        for joint, made in self.joints:
            if joint["kind"] == "free":
                self.plant.SetFreeBodyPose(self.context, made, transform(joint["pose"]))
                self.plant.SetFreeBodySpatialVelocity(self.context, made,
                                                      SpatialVelocity(joint["angular"], joint["linear"]))
            elif joint["kind"] == "revolute":
                made.set_angle(self.context, joint["q"])
                made.set_angular_rate(self.context, joint["v"])
            elif joint["kind"] == "prismatic":
                made.set_translation(self.context, joint["q"])
                made.set_translation_rate(self.context, joint["v"])
            else:
                turn = RotationMatrix(Quaternion(np.array(joint["turn"]) / np.linalg.norm(joint["turn"])))
                made.set_angles(self.context, RollPitchYaw(turn).vector())
                made.set_angular_velocity(self.context, turn.multiply(np.array(joint["angular"])))
        self.simulator.Initialize()
        self.count, self.seconds, self.failed = 0, 0.0, 0

    def steps(self, count):
        """Updates are made at 0, h, 2 h, ...; between two of them it waits."""
        begin = time.process_time()
        try:
            self.simulator.AdvanceTo((self.count + count - 0.5) * self.step_size)
        except RuntimeError:
            self.failed = 1
        self.seconds += time.process_time() - begin
        self.count += count

    def answer(self):
        found = self.contacts.Eval(self.context)
        depths = [found.point_pair_contact_info(i).point_pair().depth for i in range(found.num_point_pair_contacts())]
        numbers = [self.failed, self.seconds, len(depths), max(depths, default=0)]
        for body in self.bodies:
            pose = self.plant.EvalBodyPoseInWorld(self.context, body)
            speed = self.plant.EvalBodySpatialVelocityInWorld(self.context, body)
            numbers += [*pose.translation(), *pose.rotation().ToQuaternion().wxyz(), *speed.translational(),
                        *speed.rotational()]
        if not all(map(math.isfinite, numbers)):
            numbers[0] = 1
        return struct.pack(f"{len(numbers)}d", *numbers)


def main():
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints is no answer
    logging.getLogger("drake").setLevel(logging.ERROR)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            world = World(json.load(file), sys.argv[2])
    except (RuntimeError, ValueError) as error:
        sink.write(f"fault {str(error).splitlines()[0]}\n".encode())
        return
    masses = [body.default_mass() for body in world.bodies]
    sink.write("".join(["ok\n"] + [f"{mass:.17g}\n" for mass in masses]).encode())
    sink.flush()
    while command := source.read(1):
        if command == b"r":
            world.reset()
        elif command == b"s":
            world.steps(*struct.unpack("i", source.read(4)))
        else:
            sink.write(world.answer())
            sink.flush()


if __name__ == "__main__":
    main()
