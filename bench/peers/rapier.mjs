// Rapier: bodies in maximal coordinates with joints by impulses, and a number of iterations (its multibodies give the
// tree of test_engines.c another motion). Numbers in single precision. An axis of a joint is given once for both bodies:
// frames of bodies are those of the world with all joints at their reference.
import RAPIER from "@dimforge/rapier3d-compat";
import { between, compose, placeLinks, rotate, times, turn, unit } from "./process.mjs";

const vector = ([x, y, z]) => ({ x, y, z });
const quaternion = ([w, x, y, z]) => ({ w, x, y, z });
const back = ([w, x, y, z]) => [w, -x, -y, -z];

function makeShape(shape) {
  const [x, y, z] = shape.size;
  switch (shape.kind) {
    case "plane": return new RAPIER.ColliderDesc(new RAPIER.HalfSpace({ x: 0, y: 0, z: 1 }));
    case "sphere": return RAPIER.ColliderDesc.ball(x);
    case "capsule": return RAPIER.ColliderDesc.capsule(y, x);
    case "cylinder": return RAPIER.ColliderDesc.cylinder(y, x);
    case "box": return RAPIER.ColliderDesc.cuboid(x, y, z);
    case "hull": return RAPIER.ColliderDesc.convexHull(Float32Array.from(shape.vertices));
    default: throw new Error("it has no such shape");
  }
}

const LIGHT = 1e-5; // mass of a body between two joints of one link, over the link's

class World {
  constructor(scene, variant) {
    this.scene = scene;
    this.iterations = Number(/(\d+) iterations/.exec(variant)?.[1] ?? 4);
    this.apart = new Set(scene.apart.map(([i, j]) => `${Math.min(i, j)} ${Math.max(i, j)}`));
    this.place = placeLinks(scene);
    this.turns = []; // of the links' frames at the reference, which are those of the bodies
    for (const link of scene.links) {
      this.turns.push(link.joints[0]?.kind === "free" ? [1, 0, 0, 0]
        : times(link.parent < 0 ? [1, 0, 0, 0] : this.turns[link.parent], turn(link.pose)));
    }
    this.make();
  }

  make() {
    const { scene } = this;
    this.world = new RAPIER.World(vector(scene.gravity));
    this.world.timestep = scene.step;
    this.world.numSolverIterations = this.iterations;
    this.fixed = this.world.createRigidBody(RAPIER.RigidBodyDesc.fixed());
    this.bodies = scene.links.map((link, i) => this.makeBody(link, this.place[i], this.turns[i]));
    this.colliders = new Map();
    this.shapes = scene.shapes.map((shape, i) => (shape.kind === "none" ? null : this.makeCollider(shape, i)));
    this.bodies.forEach((body) => body.recomputeMassPropertiesFromColliders());
    scene.links.forEach((link, i) => this.makeJoints(link, i));
    for (const loop of scene.loops) {
      const [a, b] = [rotate(this.turns[loop.a], loop.at_a), rotate(this.turns[loop.b], loop.at_b)];
      const data = RAPIER.JointData.spherical(vector(a), vector(b));
      this.world.createImpulseJoint(data, this.bodies[loop.a], this.bodies[loop.b], true);
    }
    const meet = (a, b) => {
      const [i, j] = [this.colliders.get(a), this.colliders.get(b)];
      return this.apart.has(`${Math.min(i, j)} ${Math.max(i, j)}`) ? null : RAPIER.SolverFlags.COMPUTE_IMPULSE;
    };
    this.hooks = { filterContactPair: meet, filterIntersectionPair: () => false };
  }

  makeBody(link, at, own, share = 1) {
    const desc = RAPIER.RigidBodyDesc.dynamic().setTranslation(...at.pose.slice(0, 3))
      .setRotation(quaternion(times(turn(at.pose), back(own)))).setLinvel(...at.linear).setAngvel(vector(at.angular))
      .setCanSleep(false)
      .setAdditionalMassProperties(share * link.mass, { x: 0, y: 0, z: 0 }, vector(link.moments.map((moment) => share * moment)),
        quaternion(own));
    return this.world.createRigidBody(desc);
  }

  makeCollider(shape, index) {
    const upright = shape.kind === "capsule" || shape.kind === "cylinder"; // theirs stand along y
    const inBody = shape.link < 0 ? shape.pose : compose([0, 0, 0, ...this.turns[shape.link]], shape.pose);
    const pose = upright ? compose(inBody, [0, 0, 0, ...between([0, 1, 0], [0, 0, 1])]) : inBody;
    const desc = makeShape(shape).setTranslation(...pose.slice(0, 3)).setRotation(quaternion(turn(pose))).setDensity(0)
      .setFriction(shape.mu).setRestitution(0).setActiveHooks(RAPIER.ActiveHooks.FILTER_CONTACT_PAIRS);
    const collider = this.world.createCollider(desc, shape.link < 0 ? this.fixed : this.bodies[shape.link]);
    this.colliders.set(collider.handle, index);
    return collider;
  }

  makeJoints(link, index) {
    const own = this.turns[index];
    let before = link.parent < 0 ? this.fixed : this.bodies[link.parent];
    let [from, pose] = [link.parent < 0 ? [1, 0, 0, 0] : this.turns[link.parent], link.pose];
    link.joints.forEach((joint, k) => {
      if (joint.kind === "free") {
        return;
      }
      const last = k === link.joints.length - 1;
      const body = last ? this.bodies[index] : this.makeBody(link, this.place[index].stages[k], own, LIGHT);
      body.recomputeMassPropertiesFromColliders();
      const there = vector(rotate(from, compose(pose, [...joint.anchor, 1, 0, 0, 0]).slice(0, 3)));
      const here = vector(rotate(own, joint.anchor));
      const axis = joint.kind === "ball" ? null : vector(rotate(own, joint.axis));
      const data = joint.kind === "ball" ? RAPIER.JointData.spherical(there, here)
        : joint.kind === "revolute" ? RAPIER.JointData.revolute(there, here, axis)
          : RAPIER.JointData.prismatic(there, here, axis);
      this.world.createImpulseJoint(data, before, body, true);
      [before, from, pose] = [body, own, [0, 0, 0, 1, 0, 0, 0]];
    });
  }

  reset() {
    this.world.free();
    this.make();
  }

  step() {
    this.world.step(undefined, this.hooks);
  }

  contacts() {
    let [count, deepest] = [0, 0];
    const seen = new Set();
    for (const one of this.shapes.filter((shape) => shape !== null)) {
      this.world.contactPairsWith(one, (other) => {
        const key = `${Math.min(one.handle, other.handle)} ${Math.max(one.handle, other.handle)}`;
        if (seen.has(key)) return;
        seen.add(key);
        this.world.contactPair(one, other, (manifold) => {
          for (let k = 0; k < manifold.numSolverContacts(); ++k) {
            const depth = -manifold.solverContactDist(k);
            count += 1;
            deepest = Math.max(deepest, depth);
          }
        });
      });
    }
    return [count, deepest];
  }

  masses() {
    return this.bodies.map((body) => body.mass());
  }

  links() {
    return this.bodies.map((body, i) => {
      const [p, q, v, w] = [body.translation(), body.rotation(), body.linvel(), body.angvel()];
      const own = unit(times([q.w, q.x, q.y, q.z], this.turns[i]));
      return [p.x, p.y, p.z, ...own, v.x, v.y, v.z, w.x, w.y, w.z];
    });
  }
}

export async function makeWorld(scene, variant) {
  await RAPIER.init();
  return new World(scene, variant);
}
