// PhysX on the CPU: loose bodies are rigid bodies, trees are articulations in reduced coordinates. "TGS" or "PGS", with
// the 4 position iterations of its default or as many as the setting says. Numbers in single precision.
import { readFileSync } from "node:fs";
import PhysXLoader from "physx-js-webidl";
import { between, compose, placeLinks, turn, unit } from "./process.mjs";

const LIGHT = 1e-5; // mass of a body between two joints of one link, over the link's

class World {
  constructor(px, scene, variant) {
    [this.px, this.scene, this.top] = [px, scene, px.PxTopLevelFunctions.prototype];
    this.iterations = Number(/(\d+) iterations/.exec(variant)?.[1] ?? 4);
    this.place = placeLinks(scene);
    this.apart = new Set(scene.apart.map(([i, j]) => `${Math.min(i, j)} ${Math.max(i, j)}`));
    this.tolerances = new px.PxTolerancesScale();
    const foundation = this.top.CreateFoundation(this.top.PHYSICS_VERSION,
      new px.PxDefaultAllocator(), new px.PxDefaultErrorCallback());
    this.physics = this.top.CreatePhysics(this.top.PHYSICS_VERSION, foundation, this.tolerances);
    this.top.InitExtensions(this.physics);
    this.dispatcher = this.top.DefaultCpuDispatcherCreate(0);
    this.solver = variant.startsWith("PGS") ? px.PxSolverTypeEnum.ePGS : px.PxSolverTypeEnum.eTGS;
    this.flags = new px.PxShapeFlags(px.PxShapeFlagEnum.eSIMULATION_SHAPE);
    this.geometries = scene.shapes.map((shape) => (shape.kind === "none" ? null : this.makeGeometry(shape)));
    this.make();
  }

  vector([x, y, z]) {
    return new this.px.PxVec3(x, y, z);
  }

  pose(numbers) {
    const [w, x, y, z] = turn(numbers);
    return new this.px.PxTransform(this.vector(numbers), new this.px.PxQuat(x, y, z, w));
  }

  makeGeometry(shape) {
    const { px } = this;
    const [x, y, z] = shape.size;
    switch (shape.kind) {
      case "plane": return new px.PxPlaneGeometry();
      case "sphere": return new px.PxSphereGeometry(x);
      case "capsule": return new px.PxCapsuleGeometry(x, y);
      case "box": return new px.PxBoxGeometry(x, y, z);
      case "hull": return new px.PxConvexMeshGeometry(this.makeHull(shape.vertices));
      default: throw new Error("it has no such shape");
    }
  }

  makeHull(vertices) {
    const { px } = this;
    const points = new px.PxArray_PxVec3(vertices.length / 3);
    for (let i = 0; 3 * i < vertices.length; ++i) {
      points.set(i, this.vector(vertices.slice(3 * i, 3 * i + 3)));
    }
    const desc = new px.PxConvexMeshDesc();
    desc.points.count = points.size();
    desc.points.stride = 12;
    desc.points.data = points.begin();
    desc.flags = new px.PxConvexFlags(px.PxConvexFlagEnum.eCOMPUTE_CONVEX);
    const mesh = this.top.CreateConvexMesh(new px.PxCookingParams(this.tolerances), desc);
    if (mesh === null || mesh.ptr === 0) {
      throw new Error("a hull could not be made");
    }
    return mesh;
  }

  make() {
    const { px, scene } = this;
    const desc = new px.PxSceneDesc(this.tolerances);
    desc.gravity = this.vector(scene.gravity);
    desc.cpuDispatcher = this.dispatcher;
    desc.solverType = this.solver;
    desc.bounceThresholdVelocity = 1e9;
    const meet = new px.PassThroughFilterShaderImpl();
    meet.filterShader = (a0, i, w1, w2, w3, a1, j) => {
      const pair = i < j ? `${i} ${j}` : `${j} ${i}`;
      meet.outputPairFlags = px.PxPairFlagEnum.eCONTACT_DEFAULT;
      return this.apart.has(pair) ? px.PxFilterFlagEnum.eKILL : px.PxFilterFlagEnum.eDEFAULT;
    };
    this.top.setupPassThroughFilterShader(desc, meet);
    this.world = this.physics.createScene(desc);
    this.articulations = new Map(); // by the first link of the tree
    this.bodies = [];
    scene.links.forEach((link, i) => this.bodies.push(this.makeLink(link, i)));
    scene.shapes.forEach((shape, i) => this.makeShape(shape, i));
    for (const { articulation, joints } of this.articulations.values()) {
      for (const { joint, axes, values, speeds } of joints) {
        axes.forEach((axis, k) => {
          joint.setJointPosition(axis, values[k]);
          joint.setJointVelocity(axis, speeds[k]);
        });
      }
      this.world.addArticulation(articulation);
    }
    for (const loop of scene.loops) {
      const ends = [[loop.at_a, this.bodies[loop.a]], [loop.at_b, this.bodies[loop.b]]]
        .flatMap(([at, body]) => [body, this.pose([...at, 1, 0, 0, 0])]);
      this.top.SphericalJointCreate(this.physics, ...ends);
    }
  }

  isLoose(index) {
    const { joints } = this.scene.links[index];
    return joints.length === 1 && joints[0].kind === "free" && this.scene.links.every((link) => link.parent !== index);
  }

  setMass(body, mass, moments) {
    body.setMass(mass);
    body.setMassSpaceInertiaTensor(this.vector(moments));
    body.setLinearDamping(0);
    body.setAngularDamping(0);
    body.setMaxAngularVelocity(1e4);
    body.setMaxLinearVelocity(1e6);
    body.setRigidBodyFlag(this.px.PxRigidBodyFlagEnum.eENABLE_GYROSCOPIC_FORCES, true);
  }

  makeLink(link, index) {
    const { px } = this;
    const at = this.place[index];
    if (this.isLoose(index)) {
      const body = this.physics.createRigidDynamic(this.pose(at.pose));
      this.setMass(body, link.mass, link.moments);
      body.setLinearVelocity(this.vector(at.linear));
      body.setAngularVelocity(this.vector(at.angular));
      body.setSolverIterationCounts(this.iterations, 1);
      body.setSleepThreshold(0);
      this.world.addActor(body);
      return body;
    }
    let root = index;
    while (this.scene.links[root].parent >= 0) root = this.scene.links[root].parent;
    if (!this.articulations.has(root)) {
      const articulation = this.physics.createArticulationReducedCoordinate();
      articulation.setSolverIterationCounts(this.iterations, 1);
      articulation.setSleepThreshold(0);
      articulation.setArticulationFlag(px.PxArticulationFlagEnum.eDISABLE_SELF_COLLISION, false);
      this.articulations.set(root, { articulation, joints: [], base: null });
    }
    const tree = this.articulations.get(root);
    if (link.joints.length > 0 && link.joints[0].kind === "free") {
      const body = tree.articulation.createLink(null, this.pose(at.pose));
      this.setMass(body, link.mass, link.moments);
      tree.articulation.setRootLinearVelocity(this.vector(at.linear));
      tree.articulation.setRootAngularVelocity(this.vector(at.angular));
      return body;
    }
    let parent = link.parent >= 0 ? this.bodies[link.parent] : tree.base;
    if (parent === null) { // a body that does not move
      tree.articulation.setArticulationFlag(px.PxArticulationFlagEnum.eFIX_BASE, true);
      parent = tree.articulation.createLink(null, this.pose([0, 0, 0, 1, 0, 0, 0]));
      this.setMass(parent, 1, [1, 1, 1]);
      tree.base = parent;
    }
    link.joints.forEach((joint, k) => {
      const last = k === link.joints.length - 1;
      const body = tree.articulation.createLink(parent, this.pose(at.pose));
      const share = last ? 1 : LIGHT;
      this.setMass(body, share * link.mass, link.moments.map((moment) => share * moment));
      tree.joints.push(this.makeJoint(body.getInboundJoint(), joint, k === 0 ? link.pose : [0, 0, 0, 1, 0, 0, 0]));
      parent = body;
    });
    return parent;
  }

  makeJoint(made, joint, relative) {
    const { px } = this;
    const frame = [...joint.anchor, ...(joint.kind === "ball" ? [1, 0, 0, 0] : between([1, 0, 0], joint.axis))];
    made.setParentPose(this.pose(compose(relative, frame)));
    made.setChildPose(this.pose(frame));
    made.setFrictionCoefficient(0);
    made.setMaxJointVelocity(1e4);
    const { eTWIST, eSWING1, eSWING2, eX } = px.PxArticulationAxisEnum;
    const free = (axes) => axes.forEach((axis) => made.setMotion(axis, px.PxArticulationMotionEnum.eFREE));
    if (joint.kind === "ball") {
      if (Math.abs(joint.turn[0]) < 1 - 1e-9) {
        throw new Error("its ball joints start at their reference here");
      }
      made.setJointType(px.PxArticulationJointTypeEnum.eSPHERICAL);
      free([eTWIST, eSWING1, eSWING2]);
      return { joint: made, axes: [eTWIST, eSWING1, eSWING2], values: [0, 0, 0], speeds: joint.angular };
    }
    const revolute = joint.kind === "revolute";
    made.setJointType(revolute ? px.PxArticulationJointTypeEnum.eREVOLUTE : px.PxArticulationJointTypeEnum.ePRISMATIC);
    const axes = [revolute ? eTWIST : eX];
    free(axes);
    return { joint: made, axes, values: [joint.q], speeds: [joint.v] };
  }

  makeShape(shape, index) {
    if (shape.kind === "none") return;
    const { px } = this;
    const along = shape.kind === "plane" || shape.kind === "capsule"; // theirs are along x
    const pose = along ? compose(shape.pose, [0, 0, 0, ...between([1, 0, 0], [0, 0, 1])]) : shape.pose;
    const material = this.physics.createMaterial(shape.mu, shape.mu, 0);
    const made = this.physics.createShape(this.geometries[index], material, true, this.flags);
    made.setSimulationFilterData(new px.PxFilterData(index, 0, 0, 0));
    made.setLocalPose(this.pose(pose));
    if (shape.link < 0) {
      const body = this.physics.createRigidStatic(this.pose([0, 0, 0, 1, 0, 0, 0]));
      body.attachShape(made);
      this.world.addActor(body);
    } else {
      this.bodies[shape.link].attachShape(made);
    }
  }

  reset() {
    this.world.release();
    for (const { articulation } of this.articulations.values()) articulation.release();
    this.make();
  }

  step() {
    this.world.simulate(this.scene.step);
    this.world.fetchResults(true);
  }

  contacts() {
    return [0, 0]; // not known here
  }

  masses() {
    return this.bodies.map((body) => body.getMass());
  }

  links() {
    return this.bodies.map((body) => {
      const pose = body.getGlobalPose();
      const { p, q } = pose;
      const numbers = [p.x, p.y, p.z, ...unit([q.w, q.x, q.y, q.z])];
      for (const v of [body.getLinearVelocity(), body.getAngularVelocity()]) numbers.push(v.x, v.y, v.z);
      return numbers;
    });
  }
}

/** The package is for browsers: it is told that this is one, and given its bytes. */
async function load() {
  const wasm = new URL("physx-js-webidl.wasm", import.meta.resolve("physx-js-webidl"));
  const kept = globalThis.process;
  const wasmBinary = readFileSync(wasm);
  globalThis.window = globalThis;
  globalThis.process = undefined;
  try {
    return await PhysXLoader({ wasmBinary });
  } finally {
    globalThis.process = kept;
  }
}

export async function makeWorld(scene, variant) {
  return new World(await load(), scene, variant);
}
