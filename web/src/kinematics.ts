// Forward kinematics: poses of all bodies from q, as src/dynamics/kinematics.c has them.
import type { Joint, Model } from './data';

// Poses of bodies 0 (the world) to n: x y z w x y z each.
export type Poses = Float64Array;

// What of a frame says where the bodies are.
export interface Placing {
  q: ArrayLike<number>;
  kinematic: ArrayLike<number>;
}

export function makePoses(model: Model): Poses {
  const poses = new Float64Array(7 * (model.bodies.length + 1));
  poses[3] = 1;
  return poses;
}

export function rotate(w: number, x: number, y: number, z: number, v: ArrayLike<number>, o = 0): [number, number, number] {
  const tx = 2 * (y * v[o + 2] - z * v[o + 1]);
  const ty = 2 * (z * v[o] - x * v[o + 2]);
  const tz = 2 * (x * v[o + 1] - y * v[o]);
  return [
    v[o] + w * tx + y * tz - z * ty,
    v[o + 1] + w * ty + z * tx - x * tz,
    v[o + 2] + w * tz + x * ty - y * tx,
  ];
}

// A point of a body in the world.
export function toWorld(poses: Poses, body: number, point: ArrayLike<number>, o = 0): [number, number, number] {
  const b = 7 * body;
  const r = rotate(poses[b + 3], poses[b + 4], poses[b + 5], poses[b + 6], point, o);
  return [poses[b] + r[0], poses[b + 1] + r[1], poses[b + 2] + r[2]];
}

export function toBody(poses: Poses, body: number, point: ArrayLike<number>): [number, number, number] {
  const b = 7 * body;
  const d = [point[0] - poses[b], point[1] - poses[b + 1], point[2] - poses[b + 2]];
  return rotate(poses[b + 3], -poses[b + 4], -poses[b + 5], -poses[b + 6], d);
}

// out = a * b, seven numbers each.
export function compose(a: ArrayLike<number>, ao: number, b: ArrayLike<number>, bo: number, out: Float64Array, oo: number): void {
  const [aw, ax, ay, az] = [a[ao + 3], a[ao + 4], a[ao + 5], a[ao + 6]];
  const [bw, bx, by, bz] = [b[bo + 3], b[bo + 4], b[bo + 5], b[bo + 6]];
  const r = rotate(aw, ax, ay, az, b, bo);
  out[oo] = a[ao] + r[0];
  out[oo + 1] = a[ao + 1] + r[1];
  out[oo + 2] = a[ao + 2] + r[2];
  out[oo + 3] = aw * bw - ax * bx - ay * by - az * bz;
  out[oo + 4] = aw * bx + ax * bw + ay * bz - az * by;
  out[oo + 5] = aw * by - ax * bz + ay * bw + az * bx;
  out[oo + 6] = aw * bz + ax * by - ay * bx + az * bw;
}

function shift(poses: Poses, b: number, v: ArrayLike<number>, scale: number): void {
  const r = rotate(poses[b + 3], poses[b + 4], poses[b + 5], poses[b + 6], v);
  for (let k = 0; k < 3; ++k) poses[b + k] += scale * r[k];
}

// Turn about the anchor, which stays where it is.
function turn(poses: Poses, b: number, anchor: number[], w: number, x: number, y: number, z: number): void {
  shift(poses, b, anchor, 1);
  const [aw, ax, ay, az] = [poses[b + 3], poses[b + 4], poses[b + 5], poses[b + 6]];
  poses[b + 3] = aw * w - ax * x - ay * y - az * z;
  poses[b + 4] = aw * x + ax * w + ay * z - az * y;
  poses[b + 5] = aw * y - ax * z + ay * w + az * x;
  poses[b + 6] = aw * z + ax * y - ay * x + az * w;
  shift(poses, b, anchor, -1);
}

function turnBy(poses: Poses, b: number, joint: Joint, angle: number): void {
  const s = Math.sin(0.5 * angle);
  turn(poses, b, joint.anchor, Math.cos(0.5 * angle), s * joint.axis[0], s * joint.axis[1], s * joint.axis[2]);
}

function apply(poses: Poses, b: number, joint: Joint, q: ArrayLike<number>): void {
  const i = joint.q;
  switch (joint.kind) {
    case 'revolute':
      turnBy(poses, b, joint, q[i] - joint.ref);
      break;
    case 'prismatic':
      shift(poses, b, joint.axis, q[i] - joint.ref);
      break;
    case 'spherical':
      turn(poses, b, joint.anchor, q[i], q[i + 1], q[i + 2], q[i + 3]);
      break;
    case 'planar':
      shift(poses, b, joint.t1!, q[i]);
      shift(poses, b, joint.t2!, q[i + 1]);
      turnBy(poses, b, joint, q[i + 2]);
      break;
    case 'free':
      for (let k = 0; k < 7; ++k) poses[b + k] = q[i + k];
      break;
    case 'fixed':
      break;
  }
}

export class Kinematics {
  private readonly joints: Joint[][];

  constructor(private readonly model: Model) {
    this.joints = Array.from({ length: model.bodies.length + 1 }, () => []);
    for (const joint of model.joints) this.joints[joint.body].push(joint);
  }

  jointsOf(body: number): Joint[] {
    return this.joints[body];
  }

  // Kinematic bodies, which have no joints, are where they were told to be; without poses of them,
  // where the model has them.
  forward({ q, kinematic }: Placing, poses: Poses): void {
    const bodies = this.model.bodies;
    let told = 0;
    for (let i = 0; i < bodies.length; ++i) {
      const b = 7 * (i + 1);
      if (bodies[i].kinematic && told + 7 <= kinematic.length) {
        for (let k = 0; k < 7; ++k) poses[b + k] = kinematic[told + k];
        told += 7;
        continue;
      }
      compose(poses, 7 * bodies[i].parent, bodies[i].pose, 0, poses, b);
      const joints = this.joints[i + 1];
      for (let k = 0; k < joints.length; ++k) apply(poses, b, joints[k], q);
    }
  }
}

// Between two sets of poses: straight for positions, along the shorter way for rotations.
export function blend(a: Poses, b: Poses, share: number, out: Poses): void {
  for (let i = 0; i < a.length; i += 7) {
    for (let k = 0; k < 3; ++k) out[i + k] = a[i + k] + share * (b[i + k] - a[i + k]);
    let dot = 0;
    for (let k = 3; k < 7; ++k) dot += a[i + k] * b[i + k];
    const sign = dot < 0 ? -1 : 1;
    let length = 0;
    for (let k = 3; k < 7; ++k) {
      out[i + k] = a[i + k] + share * (sign * b[i + k] - a[i + k]);
      length += out[i + k] * out[i + k];
    }
    const scale = length > 0 ? 1 / Math.sqrt(length) : 1;
    for (let k = 3; k < 7; ++k) out[i + k] *= scale;
  }
}

// Velocity of every body's origin and its angular velocity, from poses dt apart; 6 per body.
export function velocity(a: Poses, b: Poses, body: number, dt: number): number[] {
  const i = 7 * body;
  if (!(dt > 0)) return [0, 0, 0, 0, 0, 0];
  const [aw, ax, ay, az] = [a[i + 3], -a[i + 4], -a[i + 5], -a[i + 6]];
  const [bw, bx, by, bz] = [b[i + 3], b[i + 4], b[i + 5], b[i + 6]];
  let w = bw * aw - bx * ax - by * ay - bz * az;
  const v = [bw * ax + bx * aw + by * az - bz * ay, bw * ay - bx * az + by * aw + bz * ax, bw * az + bx * ay - by * ax + bz * aw];
  if (w < 0) {
    w = -w;
    for (let k = 0; k < 3; ++k) v[k] = -v[k];
  }
  const s = Math.hypot(v[0], v[1], v[2]);
  const rate = s > 1e-12 ? (2 * Math.atan2(s, w)) / s / dt : 2 / dt;
  return [0, 1, 2].map((k) => (b[i + k] - a[i + k]) / dt).concat(v.map((x) => rate * x));
}

export function rollPitchYaw(w: number, x: number, y: number, z: number): [number, number, number] {
  return [
    Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x)))),
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  ];
}
