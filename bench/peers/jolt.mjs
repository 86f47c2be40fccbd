// Jolt: bodies in maximal coordinates with joints by impulses, and a number of velocity iterations (a fifth as many of
// positions, as in its default of 10 and 2). Numbers in single precision. Pairs of bodies of which no shapes meet are in
// its table, and a callback filters shapes where only some do.
import { readFileSync } from "node:fs";
import initialise from "jolt-physics/wasm";
import { between, compose, placeLinks, rotate, turn, unit } from "./process.mjs";

const LIGHT = 1e-3; // mass of a body between two joints of one link, over the link's
const SLOP = 1e-4; // depth that positions keep [m]; its default, for rooms and vehicles, is 0.02
const ORIGIN = [0, 0, 0, 1, 0, 0, 0];

class World {
  constructor(jolt, scene, variant) {
    [this.lib, this.scene] = [jolt, scene];
    this.iterations = Number(/(\d+) iterations/.exec(variant)?.[1] ?? 10);
    this.place = placeLinks(scene);
    this.findPairs();
    this.forms = [...scene.links.keys()].map((link) => this.makeForm(link));
    this.make();
  }

  vector([x, y, z]) {
    return new this.lib.Vec3(x, y, z);
  }

  quaternion([w, x, y, z]) {
    return new this.lib.Quat(x, y, z, w);
  }

  /** A shape belongs to its link, or alone to the world. */
  owner(index) {
    const { link } = this.scene.shapes[index];
    return link >= 0 ? link : this.scene.links.length + index;
  }

  /** Shapes that meet any other, pairs of owners that never do, and whether some owners meet with a part of theirs. */
  findPairs() {
    const { shapes, apart } = this.scene;
    this.never = new Set(apart.flatMap(([i, j]) => [`${i} ${j}`, `${j} ${i}`]));
    this.used = shapes.map(() => false);
    const pairs = new Map(); // by owners: [pairs of shapes, those that meet]
    for (let i = 0; i < shapes.length; ++i) {
      for (let j = 0; j < i; ++j) {
        const [a, b] = [shapes[i], shapes[j]];
        if (a.kind === "none" || b.kind === "none" || a.link === b.link) continue;
        const meet = !this.never.has(`${i} ${j}`);
        const key = [this.owner(i), this.owner(j)].sort().join(" ");
        const [count, meeting] = pairs.get(key) ?? [0, 0];
        pairs.set(key, [count + 1, meeting + meet]);
        this.used[i] ||= meet;
        this.used[j] ||= meet;
      }
    }
    this.apart = [...pairs].filter(([, [, meeting]]) => meeting === 0).map(([key]) => key.split(" ").map(Number));
    this.mixed = [...pairs.values()].some(([count, meeting]) => meeting > 0 && meeting < count);
    this.leaves = new Map(); // shapes by their addresses
  }

  makeShape(shape) {
    const { lib } = this;
    const [x, y, z] = shape.size;
    switch (shape.kind) {
      case "plane": return new lib.PlaneShapeSettings(new lib.Plane(this.vector([0, 0, 1]), 0));
      case "sphere": return new lib.SphereShapeSettings(x);
      case "capsule": return new lib.CapsuleShapeSettings(y, x);
      case "cylinder": return new lib.CylinderShapeSettings(y, x, 0);
      case "box": return new lib.BoxShapeSettings(this.vector([x, y, z]), 0);
      case "hull": {
        const hull = new lib.ConvexHullShapeSettings();
        hull.mMaxConvexRadius = 0;
        for (let i = 0; i < shape.vertices.length; i += 3) {
          hull.mPoints.push_back(this.vector(shape.vertices.slice(i, i + 3)));
        }
        return hull;
      }
      default: throw new Error("it has no such shape");
    }
  }

  /** A shape where its description puts it. Theirs stand along y. */
  placeShape(shape) {
    const upright = shape.kind === "capsule" || shape.kind === "cylinder";
    return upright ? compose(shape.pose, [0, 0, 0, ...between([0, 1, 0], [0, 0, 1])]) : shape.pose;
  }

  made(settings) {
    const result = settings.Create();
    if (!result.IsValid()) {
      throw new Error("a shape could not be made");
    }
    const shape = result.Get();
    shape.AddRef();
    return shape;
  }

  makeLeaf(index) {
    const shape = this.made(this.makeShape(this.scene.shapes[index]));
    this.leaves.set(this.lib.getPointer(shape), index);
    return shape;
  }

  /** The shapes of a link with the centre of mass where the link has it, and their friction. */
  makeForm(link) {
    const { lib, scene } = this;
    const own = [...scene.shapes.keys()].filter((i) => scene.shapes[i].link === link && this.used[i]);
    if (own.length === 0) {
      return { shape: this.made(new lib.EmptyShapeSettings()), mu: 0 };
    }
    const { mu } = scene.shapes[own[0]];
    if (own.some((i) => scene.shapes[i].mu !== mu)) {
      throw new Error("its friction is of bodies, not of shapes");
    }
    const all = new lib.StaticCompoundShapeSettings();
    for (const i of own) {
      const pose = this.placeShape(scene.shapes[i]);
      all.AddShapeShape(this.vector(pose), this.quaternion(turn(pose)), this.makeLeaf(i), 0);
    }
    const raw = this.made(all);
    const centre = raw.GetCenterOfMass();
    const offset = this.vector([-centre.GetX(), -centre.GetY(), -centre.GetZ()]);
    const shape = new lib.OffsetCenterOfMassShape(raw, offset);
    shape.AddRef();
    return { shape, mu };
  }

  make() {
    const { lib, scene } = this;
    const settings = new lib.JoltSettings();
    const layers = new lib.ObjectLayerPairFilterTable(1);
    layers.EnableCollision(0, 0);
    const broad = new lib.BroadPhaseLayerInterfaceTable(1, 1);
    broad.MapObjectToBroadPhaseLayer(0, new lib.BroadPhaseLayer(0));
    settings.mObjectLayerPairFilter = layers;
    settings.mBroadPhaseLayerInterface = broad;
    settings.mObjectVsBroadPhaseLayerFilter = new lib.ObjectVsBroadPhaseLayerFilterTable(broad, 1, layers, 1);
    this.jolt = new lib.JoltInterface(settings);
    lib.destroy(settings);
    this.system = this.jolt.GetPhysicsSystem();
    this.system.SetGravity(this.vector(scene.gravity));
    const physics = this.system.GetPhysicsSettings();
    physics.mNumVelocitySteps = this.iterations;
    physics.mNumPositionSteps = Math.ceil(this.iterations / 5);
    physics.mPenetrationSlop = SLOP;
    physics.mAllowSleeping = false;
    this.system.SetPhysicsSettings(physics);
    this.filter = new lib.GroupFilterTable(scene.links.length + scene.shapes.length);
    for (const [a, b] of this.apart) this.filter.DisableCollision(a, b);
    if (this.mixed) {
      const meet = new lib.SimShapeFilterJS();
      meet.ShouldCollide = (body1, a, id1, body2, b) => !this.never.has(`${this.leaves.get(a)} ${this.leaves.get(b)}`);
      this.system.SetSimShapeFilter(meet);
    }
    scene.shapes.forEach((shape, i) => shape.link < 0 && this.used[i] && this.makeFixed(shape, i));
    this.bodies = scene.links.map((link, i) => this.makeBody(link, this.place[i], i));
    scene.links.forEach((link, i) => this.makeJoints(link, i));
    for (const loop of scene.loops) {
      const joint = new lib.PointConstraintSettings();
      this.connect(joint, [loop.at_a, loop.at_b], this.bodies[loop.a], this.bodies[loop.b]);
    }
    this.system.OptimizeBroadPhase();
  }

  add(settings, owner, mu) {
    const { lib } = this;
    settings.mFriction = mu;
    settings.mRestitution = 0;
    settings.mCollisionGroup.SetGroupFilter(this.filter);
    settings.mCollisionGroup.SetGroupID(0);
    settings.mCollisionGroup.SetSubGroupID(owner);
    const bodies = this.system.GetBodyInterface();
    const body = bodies.CreateBody(settings);
    lib.destroy(settings);
    bodies.AddBody(body.GetID(), lib.EActivation_Activate);
    return body;
  }

  at(pose) {
    const [x, y, z] = pose;
    return [new this.lib.RVec3(x, y, z), this.quaternion(turn(pose))];
  }

  makeFixed(shape, index) {
    const { lib } = this;
    const settings = new lib.BodyCreationSettings(this.makeLeaf(index), ...this.at(this.placeShape(shape)),
      lib.EMotionType_Static, 0);
    this.add(settings, this.owner(index), shape.mu);
  }

  /** A link, or with index -1 a light body between two of its joints. */
  makeBody(link, at, index) {
    const { lib } = this;
    const share = index >= 0 ? 1 : LIGHT;
    const form = index >= 0 ? this.forms[index] : { shape: new lib.EmptyShape(), mu: 0 };
    const settings = new lib.BodyCreationSettings(form.shape, ...this.at(at.pose), lib.EMotionType_Dynamic, 0);
    settings.mLinearVelocity = this.vector(at.linear);
    settings.mAngularVelocity = this.vector(at.angular);
    settings.mLinearDamping = settings.mAngularDamping = 0;
    settings.mMaxLinearVelocity = 1e6;
    settings.mMaxAngularVelocity = 1e4;
    settings.mAllowSleeping = false;
    settings.mApplyGyroscopicForce = true;
    settings.mOverrideMassProperties = lib.EOverrideMassProperties_MassAndInertiaProvided;
    settings.mMassPropertiesOverride.mMass = share * link.mass;
    settings.mMassPropertiesOverride.mInertia = lib.Mat44.prototype.sScale(share * link.moments[0]);
    const body = this.add(settings, Math.max(index, 0), form.mu);
    const inverse = this.vector(link.moments.map((moment) => 1 / (share * moment)));
    body.GetMotionProperties().SetInverseInertia(inverse, this.quaternion([1, 0, 0, 0])); // principal axes are known
    return body;
  }

  connect(joint, points, a, b) {
    joint.mSpace = this.lib.EConstraintSpace_LocalToBodyCOM;
    joint.mPoint1 = this.at([...points[0], 1, 0, 0, 0])[0];
    joint.mPoint2 = this.at([...points[1], 1, 0, 0, 0])[0];
    this.system.AddConstraint(joint.Create(a, b));
  }

  makeJoints(link, index) {
    const { lib } = this;
    let before = link.parent < 0 ? this.jolt.sGetFixedToWorldBody() : this.bodies[link.parent];
    let from = link.pose;
    link.joints.forEach((joint, k) => {
      if (joint.kind === "free") return;
      const last = k === link.joints.length - 1;
      const body = last ? this.bodies[index] : this.makeBody(link, this.place[index].stages[k], -1);
      const points = [compose(from, [...joint.anchor, 1, 0, 0, 0]).slice(0, 3), joint.anchor];
      if (joint.kind === "ball") {
        this.connect(new lib.PointConstraintSettings(), points, before, body);
      } else {
        const hinge = joint.kind === "revolute";
        const made = hinge ? new lib.HingeConstraintSettings() : new lib.SliderConstraintSettings();
        const axes = [rotate(turn(from), joint.axis), joint.axis];
        const side = rotate(between([1, 0, 0], joint.axis), [0, 1, 0]);
        const sides = [rotate(turn(from), side), side];
        [1, 2].forEach((end, i) => {
          made[hinge ? `mHingeAxis${end}` : `mSliderAxis${end}`] = this.vector(axes[i]);
          made[`mNormalAxis${end}`] = this.vector(sides[i]);
        });
        this.connect(made, points, before, body);
      }
      [before, from] = [body, ORIGIN];
    });
  }

  reset() {
    this.lib.destroy(this.jolt);
    this.make();
  }

  step() {
    this.jolt.Step(this.scene.step, 1);
  }

  contacts() {
    return [0, 0]; // not known here
  }

  masses() {
    return this.bodies.map((body) => 1 / body.GetMotionProperties().GetInverseMass());
  }

  links() {
    return this.bodies.map((body) => {
      const p = body.GetCenterOfMassPosition(), numbers = [p.GetX(), p.GetY(), p.GetZ()];
      const q = body.GetRotation();
      numbers.push(...unit([q.GetW(), q.GetX(), q.GetY(), q.GetZ()]));
      const v = body.GetLinearVelocity();
      numbers.push(v.GetX(), v.GetY(), v.GetZ());
      const w = body.GetAngularVelocity();
      numbers.push(w.GetX(), w.GetY(), w.GetZ());
      return numbers;
    });
  }
}

export async function makeWorld(scene, variant) {
  const wasmBinary = readFileSync(new URL(import.meta.resolve("jolt-physics/jolt-physics.wasm.wasm")));
  return new World(await initialise({ wasmBinary }), scene, variant);
}
